"""Who knows carriers' rates: the table of rate providers, as RATE_PROVIDERS names them and shipping methods ask them.

A new one is a class with the members of `RateProvider`, a row in RATE_PROVIDERS, and its name among the choices of that setting.
"""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from services.orders.clients.easypost import EasyPostRates
from services.orders.rules.pricing.carriers import CarrierParcel, CarrierRate
from services.orders.settings import EASYPOST, Settings


class RateProvider(Protocol):
    """A rate service of one carrier or of many."""

    @property
    def name(self) -> str: ...

    def rates(self, parcel: CarrierParcel) -> tuple[CarrierRate, ...]:
        """What each service costs that takes this parcel; nothing where none does. Buys nothing. Raises Unavailable."""


RATE_PROVIDERS: Final[Mapping[str, Callable[[Settings], RateProvider]]] = {
    EASYPOST: lambda settings: EasyPostRates(settings.easypost_url, settings.easypost_api_key),
}
