"""Documents to the order that customers see, and the documents a step writes."""

from typing import Any

from services.orders.documents import DELIVERY, DISPATCH, LINE_ITEM, PAYMENT
from services.orders.rules.progress import Progress, progress_of, refunded_of, status_of
from shared.couch import Doc
from shared.errors import Conflict
from shared.money import money

_TIMELINE = {
    "order": "placed",
    PAYMENT.name: "paid",
    DISPATCH.name: "dispatched",
    DELIVERY.name: "delivered",
    "cancellation": "cancelled",
    "refund": "refunded",
    "return": "returned",
}
_LINE_FIELDS = ("line", "productid", "taxonomy", "name", "quantity", "unitPrice", "delivery", "total")


class NotPaid(Conflict):
    code, title = "order_not_paid", "The order is not paid"


class NotDispatched(Conflict):
    code, title = "order_not_dispatched", "The order was not dispatched"


class OrderDocuments:
    """One order's partition, by kind: `.order`, `.payment`, `.refunds`; None or [] for what did not happen."""

    def __init__(self, documents: list[Doc]) -> None:
        self.documents = documents
        self._by_key = {doc["_id"].partition(":")[2]: doc for doc in documents}

    @property
    def order(self) -> Doc:
        return self._by_key["order"]

    @property
    def customer(self) -> Doc | None:
        return self._by_key.get("customer")

    @property
    def payment(self) -> Doc | None:
        return self._by_key.get("payment")

    def require_payment(self) -> Doc:
        """The payment of an order that is paid. Raises NotPaid."""
        if self.payment is None:
            raise NotPaid("This order is not paid.")
        return self.payment

    def require_dispatch(self) -> Doc:
        """The dispatch of an order that is on its way. Raises NotDispatched."""
        if self.dispatch is None:
            raise NotDispatched("This order was not dispatched.")
        return self.dispatch

    @property
    def decision(self) -> Doc | None:
        return self._by_key.get("decision")

    @property
    def dispatch(self) -> Doc | None:
        return self._by_key.get("dispatch")

    @property
    def delivery(self) -> Doc | None:
        return self._by_key.get("delivery")

    @property
    def cancellation(self) -> Doc | None:
        return self._by_key.get("cancellation")

    @property
    def is_being_cancelled(self) -> bool:
        return self.decision is not None and self.decision["decision"] == "cancel"

    @property
    def exists(self) -> bool:
        return "order" in self._by_key

    @property
    def progress(self) -> Progress:
        return progress_of(self.documents)

    @property
    def status(self) -> str:
        return status_of(self.progress)

    @property
    def items(self) -> list[Doc]:
        return sorted(self.of_type(LINE_ITEM.name), key=lambda item: item["line"])

    @property
    def refunds(self) -> list[Doc]:
        return sorted(self.of_type("refund"), key=lambda refund: refund["number"])

    @property
    def returns(self) -> list[Doc]:
        return sorted(self.of_type("return"), key=lambda back: back["number"])

    def of_type(self, kind: str) -> list[Doc]:
        return [doc for doc in self.documents if doc["type"] == kind]

    def settled(self, refund: Doc) -> bool:
        return f"{refund['reference']}settled" in self._by_key

    def restocked(self, back: Doc) -> bool:
        return f"{back['reference']}restocked" in self._by_key

    def noticed(self, kind: str) -> bool:
        return f"notice-{kind}" in self._by_key

    def with_document(self, doc: Doc) -> "OrderDocuments":
        """The same order with one document more: what was just written is answered without reading it back."""
        others = [known for known in self.documents if known["_id"] != doc["_id"]]
        return OrderDocuments([*others, doc])


def whole_order(found: OrderDocuments) -> dict[str, Any]:
    """The order of api.md."""
    order, customer, progress = found.order, found.customer or {}, found.progress
    return {
        "orderid": order["orderid"],
        "userid": order["userid"],
        "date": order["date"],
        "status": status_of(progress),
        "refunded": refunded_of(progress),
        "items": [line_of(line) for line in order["basket"]],
        "goods": order["goods"],
        "deliveryCharge": order["delivery"],
        "tax": order["tax"],
        "total": order["total"],
        "name": customer.get("name"),
        "email": customer.get("email"),
        "deliveryAddress": customer.get("deliveryAddress"),
        "payment": _part(found.payment, "date", "provider", "provider_ref", "total"),
        "dispatch": _part(found.dispatch, "date", "courier", "courierid"),
        "delivery": _part(found.delivery, "date", "courier", "courierid"),
        "cancellation": _part(found.cancellation, "date", "reason", "detail", "by"),
        "refunds": [_refund(found, refund) for refund in found.refunds],
        "returns": [_part(back, "date", "number", "reason", "lines") for back in found.returns],
        "timeline": timeline(found),
    }


def line_of(item: Doc) -> dict[str, Any]:
    return {name: item[name] for name in _LINE_FIELDS}


def timeline(found: OrderDocuments) -> list[dict[str, str]]:
    """What happened when, oldest first."""
    steps = [
        {"status": _TIMELINE[doc["type"]], "date": doc["date"]}
        for doc in found.documents
        if doc["type"] in _TIMELINE
    ]
    rank = list(_TIMELINE.values())
    return sorted(steps, key=lambda step: (step["date"], rank.index(step["status"])))


def summary_of(
    orderid: str, userid: str | None, placed: str, currency: str, progress: Progress
) -> dict[str, Any]:
    """One line of a list of orders, from the sums of a view row alone."""
    return {
        "orderid": orderid,
        "userid": userid,
        "date": placed,
        "status": status_of(progress),
        "refunded": refunded_of(progress),
        "total": money(progress.ordered or progress.paid, currency),
        "units": progress.units,
    }


def _part(doc: Doc | None, *names: str) -> dict[str, Any] | None:
    return None if doc is None else {name: doc[name] for name in names}


def _refund(found: OrderDocuments, refund: Doc) -> dict[str, Any]:
    return {**(_part(refund, "number", "date", "total", "reason") or {}), "settled": found.settled(refund)}
