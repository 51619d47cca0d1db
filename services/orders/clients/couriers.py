"""Who carries the parcels: a sandbox courier that always does, and the signed webhooks of real ones."""

from dataclasses import dataclass

import orjson

from services.orders.clients import signatures
from services.orders.clients.signatures import Headers
from shared.errors import BadRequest

SANDBOX = "sandbox"
EVENTS = ("dispatched", "delivered")


@dataclass(frozen=True)
class CourierEvent:
    """What a courier's verified webhook tells."""

    orderid: str
    kind: str
    courierid: str
    date: str | None


class SandboxCourier:
    """Takes every parcel; booking the same order twice is the same parcel."""

    name = SANDBOX

    def book(self, orderid: str) -> str:
        """The courier's id of the parcel."""
        return f"parcel-{orderid}"


def read_event(secret: str, tolerance: int, headers: Headers, body: bytes) -> CourierEvent:
    """{event: dispatched | delivered, orderid, courierid, date?}. Raises BadSignature or BadRequest."""
    signatures.check(secret, headers.get(signatures.HEADER), body, tolerance)
    try:
        said = orjson.loads(body)
        date = said.get("date")
        event = CourierEvent(
            str(said["orderid"]), str(said["event"]), str(said["courierid"]), str(date) if date else None
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise BadRequest("A courier's event is {event, orderid, courierid, date}.") from None
    if event.kind not in EVENTS:
        raise BadRequest(f"The event is {event.kind!r}; it must be {' or '.join(EVENTS)}.")
    return event
