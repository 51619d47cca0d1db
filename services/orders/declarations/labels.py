"""Labels for parcels that the shop buys from carriers: what is to be bought, what was, and what became of it; a document each."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from services.orders.declarations.common import Sku
from services.orders.declarations.events import OrderEvent
from services.orders.declarations.parts import CarrierService
from shared.fields import Boolean, Choice, Declaration, GroupList, Integer, Text
from shared.money import Money

CANCELLED, REFUSED = "cancelled", "refused"
LABEL_ENDS: Final = (CANCELLED, REFUSED)


class LabelForm(TypedDict):
    """What goes with a label across a customs border. `url`: the provider's, of the PDF."""

    kind: Annotated[str, Text(1, 60, writable=False, description="such as commercial_invoice, cn22")]
    url: str
    sent: Annotated[bool, Boolean(writable=False, description="to customs already, without paper")]


FORM_FIELDS: Final = Declaration(LabelForm)


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
    forms: NotRequired[
        Annotated[
            list[LabelForm],
            GroupList(
                FORM_FIELDS.fields,
                default=[],
                writable=False,
                show_default=False,
                description="what goes with the parcel for customs, numbered from 1: `.../forms/1.pdf`",
            ),
        ]
    ]


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


LABEL_FIELDS: Final = Declaration(Label).select(
    "carrier", "service", "tracking_code", "tracking_url", "forms"
)


def label_fields(label: Label) -> dict[str, Any]:
    """As it is answered: the forms without the provider's addresses of them."""
    shown = LABEL_FIELDS.shown(label)
    forms = {"forms": [FORM_FIELDS.shown(form) for form in shown["forms"]]} if "forms" in shown else {}
    return shown | forms


PARCEL_SHIPMENT_FIELDS: Final = Declaration(ParcelShipment).select("number", "lines", "weight_grams")
