"""EasyPost's rates of many carriers for a parcel, without making a shipment of it (`POST /beta/rates`).

Weights are sent in ounces, as EasyPost takes them; of the buyer it gets the country, region and postcode alone.
"""

import base64
import logging
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal, InvalidOperation
from typing import Any, Final

import orjson

from services.orders.rules.pricing.carriers import CarrierParcel, CarrierRate, Destination
from services.orders.settings import EASYPOST
from shared.couch.deadline import time_for
from shared.couch.http import HttpClient, Response, TransportError
from shared.errors import Unavailable
from shared.money import CURRENCIES, MINOR_UNITS

log = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 1.5
GRAMS_PER_OUNCE: Final = Decimal("28.349523125")
_NOT_TAKEN: Final = frozenset({400, 422})

Json = dict[str, Any]


class EasyPostRates:
    """A `RateProvider`."""

    name = EASYPOST

    def __init__(self, url: str, api_key: str) -> None:
        self._url = url.rstrip("/")
        self._authorization = f"Basic {base64.b64encode(f'{api_key}:'.encode()).decode()}"
        self._http = HttpClient(max_idle=8, probe_url=f"{self._url}/")

    def rates(self, parcel: CarrierParcel) -> tuple[CarrierRate, ...]:
        answer = self._asked(
            {
                "shipment": {
                    "from_address": _address(parcel.origin),
                    "to_address": _address(parcel.destination),
                    "parcel": {"weight": _ounces(parcel.grams)},
                }
            }
        )
        said = _read(answer)
        if answer.status in _NOT_TAKEN:
            log.warning("EasyPost does not take a parcel to %s: %s", parcel.destination.country, _error(said))
            return ()
        if answer.status >= 400:
            log.error("EasyPost answered %s: %s", answer.status, _error(said))
            raise Unavailable(f"EasyPost answered {answer.status}.")
        try:
            return tuple(_rate(each) for each in said["rates"] if each["currency"] in CURRENCIES)
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            raise Unavailable("EasyPost gave no answer that can be read.") from error

    def _asked(self, body: Json) -> Response:
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        try:
            return self._http.request(
                "POST",
                f"{self._url}/beta/rates",
                headers,
                orjson.dumps(body),
                timeout=time_for(TIMEOUT_SECONDS),
            )
        except TransportError as error:
            raise Unavailable("EasyPost gave no answer.") from error


def _address(place: Destination) -> Json:
    parts = {"country": place.country, "state": place.region, "zip": place.postcode}
    return {name: value for name, value in parts.items() if value}


def _ounces(grams: int) -> float:
    """To the tenth above, so that no parcel is priced as a lighter one."""
    return float((Decimal(grams) / GRAMS_PER_OUNCE).quantize(Decimal("0.1"), ROUND_UP))


def _read(answer: Response) -> Json:
    try:
        said = orjson.loads(answer.body)
    except orjson.JSONDecodeError as error:
        raise Unavailable(f"EasyPost answered {answer.status} without JSON.") from error
    return said if isinstance(said, dict) else {}


def _error(said: Json) -> str:
    error = said.get("error")
    return f"{error.get('code')}: {error.get('message')}" if isinstance(error, dict) else str(error)


def _rate(said: Json) -> CarrierRate:
    currency, days = said["currency"], said.get("delivery_days") or said.get("est_delivery_days")
    minor = (
        Decimal(str(said["rate"])).scaleb(MINOR_UNITS.get(currency, 2)).quantize(Decimal(1), ROUND_HALF_UP)
    )
    if minor < 0:
        raise ValueError("a negative rate")
    return CarrierRate(
        str(said["carrier"])[:100],
        str(said["service"])[:100],
        int(minor),
        currency,
        int(days) if days else None,
    )
