"""Calls to EasyPost: basic authorization with the key, JSON both ways, weights in ounces."""

import base64
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Any, Final

import orjson

from shared.couch.deadline import time_for
from shared.couch.http import HttpClient, Response, TransportError
from shared.errors import Unavailable
from shared.money import MINOR_UNITS

GRAMS_PER_OUNCE: Final = Decimal("28.349523125")

Json = dict[str, Any]


class EasyPostApi:
    """`url` without a path, such as https://api.easypost.com."""

    def __init__(self, url: str, api_key: str) -> None:
        self._url = url.rstrip("/")
        self._authorization = f"Basic {base64.b64encode(f'{api_key}:'.encode()).decode()}"
        self._http = HttpClient(max_idle=8, probe_url=f"{self._url}/")

    def call(self, method: str, path: str, body: Json | None = None, *, timeout: float) -> tuple[int, Json]:
        """The status and what was said. Raises Unavailable without an answer that can be read."""
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        sent = orjson.dumps(body) if body is not None else None
        try:
            answer = self._http.request(
                method, f"{self._url}{path}", headers, sent, timeout=time_for(timeout)
            )
        except TransportError as error:
            raise Unavailable("EasyPost gave no answer.") from error
        return answer.status, _read(answer)


def ounces(grams: int) -> float:
    """To the tenth above, so that no parcel is priced as a lighter one."""
    return float((Decimal(grams) / GRAMS_PER_OUNCE).quantize(Decimal("0.1"), ROUND_UP))


def ounces_of_line(grams: int) -> float:
    """To the thousandth below, as EasyPost keeps it, so that the goods of a parcel are never declared heavier than the parcel."""
    return float((Decimal(grams) / GRAMS_PER_OUNCE).quantize(Decimal("0.001"), ROUND_DOWN))


def minor_units(rate: object, currency: str) -> int:
    """A price as EasyPost writes it, "4.00". Raises InvalidOperation or ValueError for what is none."""
    minor = Decimal(str(rate)).scaleb(MINOR_UNITS.get(currency, 2)).quantize(Decimal(1), ROUND_HALF_UP)
    if minor < 0:
        raise ValueError("a negative rate")
    return int(minor)


def error_text(said: Json) -> str:
    error = said.get("error")
    return f"{error.get('code')}: {error.get('message')}" if isinstance(error, dict) else str(error)


def error_code(said: Json) -> str:
    """Such as SHIPMENT.POSTAGE.EXISTS; "" without one."""
    error = said.get("error")
    return str(error.get("code", "")) if isinstance(error, dict) else ""


def _read(answer: Response) -> Json:
    try:
        said = orjson.loads(answer.body)
    except orjson.JSONDecodeError as error:
        raise Unavailable(f"EasyPost answered {answer.status} without JSON.") from error
    return said if isinstance(said, dict) else {}
