"""A payment provider for laptops and tests: tokens say what happens, a ledger remembers what did.

`tok_ok` pays, `tok_declined` declines, `tok_timeout` pays but its answer is lost, `tok_error` fails once and then pays.
"""

from typing import Protocol

import orjson

from services.orders.clients import signatures
from services.orders.clients.payments import (
    Charge,
    HostedProvider,
    PaymentClosed,
    PaymentDeclined,
    PaymentEvent,
    ProviderUnavailable,
)
from services.orders.clients.signatures import Headers
from services.orders.declarations.sandbox import LedgerCharge, LedgerRefund
from shared.errors import BadRequest
from shared.money import Money

TOKENS = ("tok_ok", "tok_declined", "tok_timeout", "tok_error")


class SandboxLedger(Protocol):
    """What the provider remembers: see services.orders.store.ledger."""

    def charge(self, orderid: str) -> LedgerCharge | None: ...
    def record(self, orderid: str, status: str, total: Money | None) -> LedgerCharge: ...
    def record_refund(self, orderid: str, key: str, total: Money) -> LedgerRefund: ...
    def add_fault(self, orderid: str, kind: str) -> bool: ...


class SandboxProvider:
    """The provider `sandbox`."""

    name = "sandbox"

    def __init__(
        self, ledger: SandboxLedger, webhook_secret: str, tolerance: int, hosted: HostedProvider | None = None
    ) -> None:
        self._ledger, self._secret, self._tolerance = ledger, webhook_secret, tolerance
        self.hosted = hosted

    def step(self, currency: str) -> int:
        return 1

    def charge(self, orderid: str, total: Money, token: str, customer: str = "") -> Charge:
        """See Provider. An unknown token is declined, as a real provider would."""
        if token not in TOKENS or token == "tok_declined":
            raise PaymentDeclined("The bank declined the payment; try another way to pay.")
        if token == "tok_error" and self._ledger.add_fault(orderid, "error"):
            raise ProviderUnavailable("The sandbox provider failed, as `tok_error` asks.")
        recorded = self._ledger.record(orderid, "paid", total)
        if recorded["status"] != "paid":
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        if token == "tok_timeout" and self._ledger.add_fault(orderid, "timeout"):
            raise ProviderUnavailable("The sandbox provider's answer was lost, as `tok_timeout` asks.")
        return charge_of(recorded)

    def find(self, orderid: str, total: Money) -> Charge | None:
        recorded = self._ledger.charge(orderid)
        return charge_of(recorded) if recorded and recorded["status"] == "paid" else None

    def close(self, orderid: str, total: Money) -> Charge | None:
        recorded = self._ledger.record(orderid, "void", None)
        return charge_of(recorded) if recorded["status"] == "paid" else None

    def refund(self, orderid: str, ref: str, key: str, total: Money) -> str:
        return str(self._ledger.record_refund(orderid, key, total)["ref"])

    def event(self, headers: Headers, body: bytes) -> PaymentEvent | None:
        signatures.check((self._secret,), headers.get(signatures.HEADER), body, self._tolerance)
        try:
            event = orjson.loads(body)
            return PaymentEvent(str(event["orderid"]), str(event["type"]))
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise BadRequest("A sandbox event is {type, orderid}.") from None


def charge_of(recorded: LedgerCharge) -> Charge:
    if recorded["total"] is None:
        raise TypeError("a void charge has no total")
    return Charge(recorded["ref"], recorded["total"], recorded["date"])
