"""The bookings of the sandbox provider."""

from shared.couch import StoredDocument
from shared.money import Money


class LedgerCharge(StoredDocument):
    """What the sandbox provider took for an order (`paid`), or that it takes nothing any more (`void`)."""

    orderid: str
    status: str
    total: Money | None
    ref: str
    date: str


class LedgerRefund(StoredDocument):
    """What the sandbox provider paid back, under its caller's key."""

    orderid: str
    key: str
    total: Money
    ref: str
    date: str


class LedgerFault(StoredDocument):
    """That a token of the sandbox failed for an order as it says, which it does once."""

    orderid: str
    kind: str
    date: str
