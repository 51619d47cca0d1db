"""Labels for parcels that the shop buys from carriers: what is to be bought, what was, and what became of it; a document each."""

from typing import Annotated, Final, NotRequired, TypedDict

from services.orders.declarations.common import Sku
from services.orders.declarations.events import OrderEvent
from services.orders.declarations.parts import CarrierService
from shared.fields import Choice, Declaration, GroupList, Integer, Text
from shared.money import Money

CANCELLED, REFUSED = "cancelled", "refused"
LABEL_ENDS: Final = (CANCELLED, REFUSED)


class Label(OrderEvent):
    """A label that was bought, and what it has cost. `url`: the provider's, of its PDF."""

    reference: str
    provider: str
    shipment: str
    carrier: Annotated[str, Text(0, 100, description="such as RoyalMail")]
    service: Annotated[str, Text(0, 100, description="the carrier's")]
    tracking_code: Annotated[str, Text(0, 200, description="the parcel's, at the carrier")]
    tracking_url: Annotated[str, Text(0, 1000, description="where the parcel is; empty: nobody says it")]
    url: str
    cost: Money


class LabelRefund(OrderEvent):
    """The money of a label that nobody will use was asked back: `status` is one of `rules.labels.REFUND_STATUSES`."""

    reference: str
    status: str


class LabelledLine(TypedDict):
    """So many of a product or variant in a parcel that has a label."""

    productid: Annotated[str, Text(1, 1000)]
    sku: NotRequired[Sku]
    name: Annotated[str, Text(1, 1000)]
    quantity: Annotated[int, Integer(1, 10**6)]


class ParcelShipment(OrderEvent):
    """A label is to be bought for goods that are still to go out: the provider's id of the one `shipment` that may be bought for them.

    `service`: the carrier's that the customer has chosen; without one the cheapest is bought. `request`: whose repetition is the same label.
    """

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    provider: str
    shipment: str
    lines: Annotated[list[LabelledLine], GroupList(Declaration(LabelledLine).fields, writable=False)]
    weight_grams: Annotated[int, Integer(1, 10**9, writable=False, description="what the parcel weighs")]
    service: NotRequired[CarrierService]
    request: list[str] | None
    by: str


class SpareShipment(OrderEvent):
    """A `shipment` of a parcel or a return that gave way to the one that another replica wrote: if its label was bought, it is given back."""

    reference: str
    provider: str
    shipment: str


class ParcelLabelEnd(OrderEvent):
    """No parcel goes out with this label: staff have cancelled it, or the provider does not sell it and says why."""

    reference: str
    outcome: Annotated[str, Choice(LABEL_ENDS)]
    problem: str
    by: str


LABEL_FIELDS: Final = Declaration(Label).select("carrier", "service", "tracking_code", "tracking_url")
PARCEL_SHIPMENT_FIELDS: Final = Declaration(ParcelShipment).select("number", "lines", "weight_grams")
