"""The sandbox provider's ledger, in a database of its own: one charge per order at most, because its id is fixed."""

from collections.abc import Sequence
from typing import TypeVar, cast

from services.orders.declarations.sandbox import LedgerCharge, LedgerRefund
from services.orders.documents import CHARGE, FAULT, LEDGER_REFUND, order_key
from shared.clock import timestamp
from shared.couch import Database, NoSuchDocument, UpdateConflict
from shared.money import Money

D = TypeVar("D", LedgerCharge, LedgerRefund)


class Ledger:
    """Charges, voids and refunds that the sandbox provider remembers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def charge(self, orderid: str) -> LedgerCharge | None:
        try:
            return cast(LedgerCharge, self._database.get(order_key(orderid, "charge")))
        except NoSuchDocument:
            return None

    def record(self, orderid: str, status: str, total: Money | None) -> LedgerCharge:
        """Records `paid` or `void` for an order, or returns what was recorded first."""
        docid = order_key(orderid, "charge")
        doc = CHARGE.build(
            docid, orderid=orderid, status=status, total=total, ref=f"sandbox-{orderid}", date=timestamp()
        )
        return self._add_once(doc)

    def record_refund(self, orderid: str, key: str, total: Money) -> LedgerRefund:
        """Records a refund under the caller's key, once."""
        doc = LEDGER_REFUND.build(
            order_key(orderid, f"refund-{key}"),
            orderid=orderid,
            key=key,
            total=total,
            ref=f"sandbox-{orderid}-{key}",
            date=timestamp(),
        )
        return self._add_once(doc)

    def add_fault(self, orderid: str, kind: str) -> bool:
        """True the first time only: `tok_error` fails once and then pays."""
        doc = FAULT.build(order_key(orderid, kind), orderid=orderid, kind=kind, date=timestamp())
        try:
            self._database.put(doc)
        except UpdateConflict:
            return False
        return True

    def forget_void(self, orderids: Sequence[str]) -> None:
        """That nothing was charged for these orders. 1 read, 1 write where there are any."""
        found = self._database.get_many([order_key(orderid, "charge") for orderid in orderids])
        void = [doc for doc in found.values() if doc["status"] == "void"]
        if void:
            self._database.put_many(
                [{"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in void]
            )

    def _add_once(self, doc: D) -> D:
        """The document, or the one that was stored first under its id."""
        try:
            self._database.put(doc)
        except UpdateConflict:
            return cast(D, self._database.get(doc["_id"]))
        return doc
