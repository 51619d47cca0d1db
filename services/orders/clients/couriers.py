"""Who carries the parcels: the table of couriers, and the signed webhooks in which they report.

A new one is a class with the members of `Courier`, a row in COURIERS, and its name among the choices of the setting COURIER.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from services.orders.clients import signatures
from services.orders.clients.signatures import Headers
from services.orders.settings import MANUAL, SANDBOX
from shared.errors import BadRequest

EVENTS = ("dispatched", "delivered")


@dataclass(frozen=True)
class CourierEvent:
    """The content of a courier's verified webhook."""

    orderid: str
    kind: str
    courierid: str
    date: str | None


class Courier(Protocol):
    """A courier. `books_parcels`: the worker hands paid orders over by `book`; otherwise staff or a webhook dispatch them.
    `reports_arrival`: a person or a webhook says that a parcel arrived; otherwise the worker does after a while.
    """

    @property
    def name(self) -> str: ...
    @property
    def books_parcels(self) -> bool: ...
    @property
    def reports_arrival(self) -> bool: ...

    def book(self, orderid: str, number: int = 1) -> str:
        """The courier's id of an order's parcel; booking one of a `number` twice is one parcel."""


class SandboxCourier:
    """Takes every parcel and delivers it, in words only."""

    name, books_parcels, reports_arrival = SANDBOX, True, False

    def book(self, orderid: str, number: int = 1) -> str:
        """See Courier."""
        return f"parcel-{orderid}" if number == 1 else f"parcel-{orderid}-{number}"


class ManualCourier:
    """Waits for staff, or for the carrier's webhooks."""

    name, books_parcels, reports_arrival = MANUAL, False, True

    def book(self, orderid: str, number: int = 1) -> str:
        raise TypeError("staff or a webhook dispatch the orders of this courier")


COURIERS: Final[Mapping[str, Courier]] = {
    courier.name: courier for courier in (SandboxCourier(), ManualCourier())
}

AUTOMATIC_COURIERS: Final = frozenset(
    name for name, courier in COURIERS.items() if courier.books_parcels and not courier.reports_arrival
)
"""Couriers whose parcels the worker follows to the end by itself."""


def read_event(secret: str, tolerance: int, headers: Headers, body: bytes) -> CourierEvent:
    """{event: dispatched | delivered, orderid, courierid, date?}. Raises BadSignature or BadRequest."""
    signatures.check((secret,), headers.get(signatures.HEADER), body, tolerance)
    try:
        content = orjson.loads(body)
        date = content.get("date")
        event = CourierEvent(
            str(content["orderid"]),
            str(content["event"]),
            str(content["courierid"]),
            str(date) if date else None,
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise BadRequest("A courier's event is {event, orderid, courierid, date}.") from None
    if event.kind not in EVENTS:
        raise BadRequest(f"The event is {event.kind!r}; it must be {' or '.join(EVENTS)}.")
    return event
