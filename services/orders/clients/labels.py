"""Who sells labels for parcels: the table of label providers, as LABEL_PROVIDER names one.

A new one is a class with the members of `LabelProvider`, a row in LABEL_PROVIDERS, and its name among the choices of that setting.
"""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from services.orders.clients.easypost_labels import EasyPostLabels
from services.orders.declarations.parts import CarrierService
from services.orders.rules.labels import BoughtLabel, LabelParcel
from services.orders.settings import EASYPOST, Settings


class LabelProvider(Protocol):
    """A shipment is bought once, however often and by whomever it is asked for."""

    @property
    def name(self) -> str: ...

    def prepare(self, parcel: LabelParcel) -> str:
        """The id of a shipment of this parcel, which costs nothing yet. Raises LabelRefused, also where nobody takes it as it is to go; Unavailable."""

    def buy(self, shipment: str, currency: str, service: CarrierService | None = None) -> BoughtLabel:
        """The label of the shipment, by this service, else by the cheapest in the currency; the one that was bought before, if any.
        Raises LabelRefused, Unavailable (then it may have been bought)."""

    def give_back(self, shipment: str) -> str:
        """Asks for the money of a label that was not used: one of `rules.labels.REFUND_STATUSES`. May be repeated.
        Raises Unavailable."""

    def document(self, url: str) -> bytes:
        """The PDF behind the address that came with a label. Raises Unavailable."""


LABEL_PROVIDERS: Final[Mapping[str, Callable[[Settings], LabelProvider | None]]] = {
    "": lambda settings: None,
    EASYPOST: lambda settings: EasyPostLabels(settings.easypost_url, settings.easypost_api_key),
}
"""None: the shop buys no labels."""
