"""The documents of an order, and what they say of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar, cast

from services.orders.declarations.events import (
    Cancellation,
    Decision,
    GiftCardIssue,
    LineCancellation,
    OrderDelivery,
    OrderDispatch,
    OrderNote,
    OrderPayment,
    PaymentCapture,
    PaymentCaptured,
    PaymentProcessing,
    PaymentSession,
    Refund,
    StockWait,
)
from services.orders.declarations.exchanges import PAID as EXCHANGE_PAID
from services.orders.declarations.invoices import CreditNote, Invoice, NumberRequest
from services.orders.declarations.order import Customer, Order, OrderCosts, OrderLineItem
from services.orders.declarations.parts import EMAIL_SHIPPING, Line, SoldLine, line_key
from services.orders.declarations.returns import Return, ReturnRequest
from services.orders.declarations.summaries import OrderSummary
from services.orders.documents import (
    CREDIT_NOTE,
    LINE_CANCELLATION,
    LINE_ITEM,
    NOTE,
    REFUND,
    RETURN,
    RETURN_DECISION,
    RETURN_EXCHANGE,
    RETURN_REQUEST,
    STOCK_WAIT,
)
from services.orders.rules import backorders
from services.orders.rules.order_errors import NotDispatched, NotPaid, OrderBehind
from services.orders.rules.order_returns import EXCHANGED_KEY, LABEL_TYPES, OrderReturn, returns_of
from services.orders.rules.parcels import Parcel, Quantities, numbered, parcels_of, undecided
from services.orders.rules.progress import Progress, progress_of, status_of
from services.orders.rules.returns import quantities_by_key
from shared.couch import DeclaredType, Document

D = TypeVar("D")


class OrderDocuments:
    """One order's partition, by kind: `.order`, `.payment`, `.refunds`; None or [] for what did not happen. Its documents stay the same:
    `with_document` makes another one."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self._by_key: dict[str, Any] = {doc["_id"].partition(":")[2]: doc for doc in documents}

    @cached_property
    def _by_type(self) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = {}
        for doc in self.documents:
            found.setdefault(doc["type"], []).append(doc)
        return found

    @property
    def order(self) -> Order:
        """Raises OrderBehind where it is not among the documents: whose id it is knows that there is one."""
        if not self.exists:
            raise OrderBehind
        order: Order = self._by_key["order"]
        return order

    @property
    def customer(self) -> Customer | None:
        return self._by_key.get("customer")

    @property
    def costs(self) -> OrderCosts | None:
        """For staff alone."""
        return self._by_key.get("costs")

    @property
    def summary(self) -> OrderSummary | None:
        """What the desk lists of it; None until the worker has made it."""
        return self._by_key.get("summary")

    @property
    def payment(self) -> OrderPayment | None:
        return self._by_key.get("payment")

    @property
    def session(self) -> PaymentSession | None:
        return self._by_key.get("session")

    @property
    def processing(self) -> PaymentProcessing | None:
        return self._by_key.get("processing")

    @property
    def captures(self) -> dict[int, PaymentCapture]:
        """What was decided about reserved money, by number: see `rules.captures`."""
        return numbered(self._by_key, "capture")

    @property
    def captured(self) -> dict[int, PaymentCaptured]:
        """What became of those decisions, by their numbers."""
        return numbered(self._by_key, "captured")

    @property
    def charge_ref(self) -> str:
        """What the provider knows the money by that was taken."""
        taken = (each for each in self.captured.values() if each["total"]["amount"])
        return str(next(taken, self.require_payment())["provider_ref"])

    @property
    def was_reserved(self) -> bool:
        """Whether the bank only reserved the money when the order was paid."""
        return not self.require_payment().get("captured", True)

    @property
    def is_captured(self) -> bool:
        """Whether the money was taken, and none of it is only reserved any more."""
        return not self.was_reserved or any(
            self.captures[number].get("final", True) for number in self.captured
        )

    @property
    def is_open(self) -> bool:
        """Neither paid nor ended."""
        return self.payment is None and self.cancellation is None

    @property
    def is_paid_after_the_end(self) -> bool:
        """Whether the money came when the attempt was closed already, and was not paid back yet."""
        ended = self.cancellation is not None and not self.cancellation["was_paid"]
        return ended and self.payment is not None and not self.refunds

    @property
    def charged(self) -> int:
        """What the payment provider took: nothing where gift cards and store credit paid all."""
        payment = self.require_payment()
        return payment.get("charged", payment["total"])["amount"]

    def require_payment(self) -> OrderPayment:
        """The payment of an order that is paid. Raises NotPaid."""
        if self.payment is None:
            raise NotPaid("This order is not paid.")
        return self.payment

    def require_dispatch(self) -> OrderDispatch:
        """The dispatch of an order that is on its way. Raises NotDispatched."""
        if self.dispatch is None:
            raise NotDispatched("This order was not dispatched.")
        return self.dispatch

    def require_cancel_decision(self) -> Decision:
        """The decision to cancel the order."""
        if self.cancel_decision is None:
            raise TypeError("nobody has decided to cancel this order")
        return self.cancel_decision

    @cached_property
    def decisions(self) -> dict[int, Decision | LineCancellation]:
        """By number: see `rules.parcels`."""
        return numbered(self._by_key, "decision")

    @property
    def next_decision(self) -> int:
        return self.last_number("decision") + 1

    def last_number(self, chain: str) -> int:
        """Of `decision`, `decision2`, ... or `refund1`, `refund2`, ...; 0 before the first."""
        return max(numbered(self._by_key, chain), default=0)

    def unseen_numbers(self, chain: str) -> list[int]:
        """Of the same, those that are not there up to the one after the last."""
        known = numbered(self._by_key, chain)
        return [number for number in range(1, max(known, default=0) + 2) if number not in known]

    @property
    def dispatch_decisions(self) -> list[Decision]:
        """The n-th one is of the n-th parcel."""
        of_parcels = [each for each in self.decisions.values() if each.get("decision") == "dispatch"]
        return cast(list[Decision], of_parcels)

    @property
    def unwritten_parcels(self) -> dict[int, Decision]:
        """By number, the parcels that were decided on and that no document tells of yet."""
        written = numbered(self._by_key, "dispatch")
        decided = enumerate(self.dispatch_decisions, 1)
        return {number: decision for number, decision in decided if number not in written}

    @property
    def cancel_decision(self) -> Decision | None:
        found = (each for each in self.decisions.values() if each.get("decision") == "cancel")
        return cast(Decision | None, next(found, None))

    @property
    def line_cancellations(self) -> list[LineCancellation]:
        return sorted(self._of(LINE_CANCELLATION), key=lambda each: each["number"])

    @property
    def unfinished_line_cancellations(self) -> list[LineCancellation]:
        return [each for each in self.line_cancellations if not self.is_restocked(each["reference"])]

    @property
    def kept_lines(self) -> list[Line]:
        """The lines of the order less what was cancelled of them."""
        gone = quantities_by_key(line for each in self.line_cancellations for line in each["lines"])
        left = [
            cast(Line, {**line, "quantity": line["quantity"] - gone.get(line_key(line), 0)})
            for line in self.order["basket"]
        ]
        return [line for line in left if line["quantity"]]

    @cached_property
    def parcels(self) -> list[Parcel]:
        return parcels_of(self.order["basket"], self._by_key)

    @property
    def left_to_send(self) -> Quantities:
        """How many of each line were neither sent nor cancelled, nor decided to be."""
        return undecided(self.order["basket"], list(self.decisions.values()), self.parcels)

    @property
    def waits(self) -> list[StockWait]:
        """How many pieces wait for goods, as the stock's chain said, the last one at the end."""
        return sorted(self._of(STOCK_WAIT), key=lambda each: each["number"])

    @property
    def may_wait(self) -> bool:
        """Whether goods of it are sold beyond their stock."""
        return backorders.may_wait(self.order["basket"])

    @property
    def has_waited(self) -> bool:
        """Whether pieces of it were sold before they were here: what is left of it goes out by itself as they come."""
        return any(each["change"] for each in self.waits)

    @property
    def waiting(self) -> Quantities:
        """How many of each line are sold and not here yet; nothing of an order that has ended."""
        if self.cancellation is not None or self.is_being_cancelled or not self.may_wait:
            return {}
        return backorders.waiting_now(self.order["basket"], self.waits, self.left_to_send)

    @property
    def ready_to_send(self) -> Quantities:
        """`left_to_send` less what waits for goods."""
        return backorders.ready_now(self.order["basket"], self.waits, self.left_to_send)

    @property
    def arrived_lines(self) -> list[SoldLine]:
        return [line for parcel in self.parcels if parcel.delivery for line in parcel.lines]

    @property
    def dispatch(self) -> OrderDispatch | None:
        """The first parcel's."""
        return self._by_key.get("dispatch")

    @property
    def delivery(self) -> OrderDelivery | None:
        """The first parcel's."""
        return self._by_key.get("delivery")

    @property
    def last_delivery(self) -> str:
        """When the parcel arrived that came last; empty before the first one."""
        return max((parcel.delivery["date"] for parcel in self.parcels if parcel.delivery), default="")

    @property
    def cancellation(self) -> Cancellation | None:
        return self._by_key.get("cancellation")

    @property
    def is_being_cancelled(self) -> bool:
        return self.cancel_decision is not None

    @property
    def goes_by_email(self) -> bool:
        """Whether nothing but gift cards was bought."""
        shipping = self.order.get("shipping")
        return shipping is not None and shipping["id"] == EMAIL_SHIPPING

    @property
    def gift_cards(self) -> GiftCardIssue | None:
        return self._by_key.get("giftcards")

    @property
    def owes_gift_cards(self) -> bool:
        """Whether it has bought gift cards that were not issued and sent yet."""
        bought = any(line.get("gift_card") for line in self.order["basket"])
        return bought and "giftcardssent" not in self._by_key

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
    def items(self) -> list[OrderLineItem]:
        return sorted(self._of(LINE_ITEM), key=lambda item: item["line"])

    @property
    def refunds(self) -> list[Refund]:
        return sorted(self._of(REFUND), key=lambda refund: refund["number"])

    @property
    def returns(self) -> list[Return]:
        """Goods that came back."""
        return sorted(self._of(RETURN), key=lambda back: back["number"])

    @property
    def notes(self) -> list[OrderNote]:
        """Of staff, the latest first."""
        return sorted(self._of(NOTE), key=lambda note: (note["date"], note["_id"]), reverse=True)

    @property
    def invoice(self) -> Invoice | None:
        return self._by_key.get("invoice")

    @property
    def credit_notes(self) -> dict[int, CreditNote]:
        """By the numbers of the refunds that they are of."""
        numbers = {refund["reference"]: refund["number"] for refund in self.refunds}
        return {numbers[note["reference"]]: note for note in self._of(CREDIT_NOTE)}

    def number_request(self, reference: str) -> NumberRequest | None:
        return self._by_key.get(f"{reference}numberrequest")

    @property
    def return_requests(self) -> list[ReturnRequest]:
        return self._of(RETURN_REQUEST)

    @cached_property
    def order_returns(self) -> list[OrderReturn]:
        """What was asked to be sent back, and what came of it."""
        labels, exchanges = self.of_type(*LABEL_TYPES), self._of(RETURN_EXCHANGE)
        decisions, receipts = self._of(RETURN_DECISION), self._of(RETURN)
        return returns_of(self.return_requests, decisions, receipts, exchanges, labels)

    @property
    def refunded_lines(self) -> list[SoldLine]:
        """The goods that refunds were for: of returns, of cancelled lines, and what was paid back without coming back."""
        returned = {back.reference: back.refunded_lines for back in self.order_returns}
        return [
            line
            for refund in self.refunds
            for line in refund.get("lines") or returned.get(refund["cause"], ())
        ]

    @property
    def unrefunded_returns(self) -> list[OrderReturn]:
        """Returns that a refund is to follow."""
        causes = {refund["cause"] for refund in self.refunds}
        return [back for back in self.order_returns if back.refunded_lines and back.reference not in causes]

    @property
    def return_notices(self) -> list[str]:
        """The kinds of the e-mails about returns that were not sent yet."""
        kinds = (kind for back in self.order_returns for kind in back.notices)
        return [kind for kind in kinds if not self.noticed(kind)]

    def of_type(self, *names: str) -> list[Document]:
        kinds = [name for name in names if name in self._by_type]
        if len(kinds) < 2:
            return [doc for name in kinds for doc in self._by_type[name]]
        return [doc for doc in self.documents if doc["type"] in kinds]

    def _of(self, kind: DeclaredType[D]) -> list[D]:
        return cast(list[D], self.of_type(kind.name))

    def has(self, docid: str) -> bool:
        """Whether this document is there."""
        return docid.partition(":")[2] in self._by_key

    def awaits_exchange(self, refund: Refund) -> bool:
        """Whether it is not known yet if the order is paid that a part of the refund is to pay for."""
        return "exchange" in refund and f"{refund['cause']}{EXCHANGED_KEY}" not in self._by_key

    def is_exchanged(self, refund: Refund) -> bool:
        """Whether a part of the refund has paid for other goods."""
        ended = self._by_key.get(f"{refund['cause']}{EXCHANGED_KEY}")
        return ended is not None and ended["outcome"] == EXCHANGE_PAID

    def settled(self, refund: Refund) -> bool:
        return f"{refund['reference']}settled" in self._by_key

    def restocked(self, back: Return) -> bool:
        return self.is_restocked(back["reference"])

    def is_restocked(self, reference: str) -> bool:
        return f"{reference}restocked" in self._by_key

    def noticed(self, kind: str) -> bool:
        return f"notice-{kind}" in self._by_key

    def with_document(self, doc: Document) -> "OrderDocuments":
        """The same order with one document more: what was just written is answered without reading it back."""
        others = [known for known in self.documents if known["_id"] != doc["_id"]]
        return OrderDocuments([*others, doc])
