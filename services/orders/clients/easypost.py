"""EasyPost's rates of many carriers for a parcel, without making a shipment of it (`POST /beta/rates`).

Weights are sent in ounces, as EasyPost takes them; of the buyer it gets the country, region and postcode alone.
"""

import logging
from decimal import InvalidOperation
from typing import Final

from services.orders.clients.easypost_api import EasyPostApi, Json, error_code, minor_units, ounces
from services.orders.rules.pricing.carriers import CarrierParcel, CarrierRate, Destination
from services.orders.settings import EASYPOST
from shared.errors import Unavailable
from shared.money import CURRENCIES

log = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 1.5
_NOT_TAKEN: Final = frozenset({400, 422})


class EasyPostRates:
    """A `RateProvider`."""

    name = EASYPOST

    def __init__(self, url: str, api_key: str) -> None:
        self._api = EasyPostApi(url, api_key)

    def rates(self, parcel: CarrierParcel) -> tuple[CarrierRate, ...]:
        shipment = {
            "from_address": _address(parcel.origin),
            "to_address": _address(parcel.destination),
            "parcel": {"weight": ounces(parcel.grams)},
        }
        status, said = self._api.call("POST", "/beta/rates", {"shipment": shipment}, timeout=TIMEOUT_SECONDS)
        if status in _NOT_TAKEN:
            log.warning(
                "EasyPost does not take a parcel to %s: %s", parcel.destination.country, error_code(said)
            )
            return ()
        if status >= 400:
            log.error("EasyPost answered %s: %s", status, error_code(said))
            raise Unavailable(f"EasyPost answered {status}.")
        try:
            return tuple(_rate(each) for each in said["rates"] if each["currency"] in CURRENCIES)
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            raise Unavailable("EasyPost gave no answer that can be read.") from error


def _address(place: Destination) -> Json:
    parts = {"country": place.country, "state": place.region, "zip": place.postcode}
    return {name: value for name, value in parts.items() if value}


def _rate(said: Json) -> CarrierRate:
    currency, days = said["currency"], said.get("delivery_days") or said.get("est_delivery_days")
    return CarrierRate(
        str(said["carrier"])[:100],
        str(said["service"])[:100],
        minor_units(said["rate"], currency),
        currency,
        int(days) if days else None,
    )
