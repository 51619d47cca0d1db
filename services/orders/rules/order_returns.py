"""A return as its documents tell it: requested, approved or refused, received."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from services.orders.declarations.events import Refund
from services.orders.declarations.exchanges import SOLD_OUT, ExchangeOffer, WantedLine
from services.orders.declarations.labels import Label, LabelRefund, label_fields
from services.orders.declarations.parts import SoldLine
from services.orders.declarations.returns import (
    APPROVE,
    REFUSE,
    RETURNED_LINE_FIELDS,
    LabelProblem,
    Return,
    ReturnDecision,
    ReturnExchange,
    ReturnRequest,
    ReturnShipment,
)
from services.orders.documents import LABEL_PROBLEM, LABEL_REFUND, RETURN_LABEL, RETURN_SHIPMENT
from services.orders.rules.labels import IN_FLIGHT
from shared.clock import parse
from shared.couch import Document
from shared.money import money

REQUESTED, APPROVED, REFUSED, RECEIVED = "requested", "approved", "refused", "received"
RETURN_STATUSES: Final = (REQUESTED, APPROVED, REFUSED, RECEIVED)
DECISION_KEY, END_KEY = "decision", "ended"
SHIPMENT_KEY, LABEL_KEY, PROBLEM_KEY, LABEL_REFUND_KEY = "shipment", "label", "labelproblem", "labelrefund"
LABEL_TYPES: Final = tuple(kind.name for kind in (RETURN_SHIPMENT, RETURN_LABEL, LABEL_PROBLEM, LABEL_REFUND))
OFFERED_KEY, EXCHANGED_KEY = "offered", "exchanged"


@dataclass(frozen=True)
class OrderReturn:
    """`request` is None for goods that came back before returns were requested; `end`: that an approved one was refused after all."""

    request: ReturnRequest | None = None
    decision: ReturnDecision | None = None
    receipt: Return | None = None
    end: ReturnDecision | None = None
    offered: ReturnExchange | None = None
    exchanged: ReturnExchange | None = None
    shipment: ReturnShipment | None = None
    label: Label | None = None
    label_problem: LabelProblem | None = None
    label_refund: LabelRefund | None = None

    @property
    def first(self) -> ReturnRequest | Return:
        document = self.request or self.receipt
        if document is None:
            raise TypeError("a return without a document")
        return document

    @property
    def reference(self) -> str:
        return self.first["reference"]

    @property
    def number(self) -> int:
        return self.first["number"]

    @property
    def lines(self) -> Sequence[SoldLine]:
        """What came back; before that, what was asked for."""
        return self.receipt["lines"] if self.receipt else self.requested

    @property
    def requested(self) -> Sequence[SoldLine]:
        return self.request["lines"] if self.request else self.first["lines"]

    @property
    def refusal(self) -> ReturnDecision | None:
        return next((each for each in (self.end, self.decision) if each and each["decision"] == REFUSE), None)

    @property
    def approved(self) -> str:
        """When it was approved; empty when it was not."""
        if self.request is not None and self.request.get("approved"):
            return self.request["date"]
        return self.decision["date"] if self.decision and self.decision["decision"] == APPROVE else ""

    @property
    def offer(self) -> ExchangeOffer | None:
        """What is sent for the goods, as it was approved; None where they are paid back."""
        return self.decision.get("exchange") if self.decision else None

    @property
    def wanted(self) -> list[WantedLine]:
        """What the customer would like instead."""
        return self.request.get("exchange", []) if self.request else []

    @property
    def status(self) -> str:
        if self.receipt is not None:
            return RECEIVED
        if self.refusal is not None:
            return REFUSED
        return APPROVED if self.approved else REQUESTED

    @property
    def is_refunded_first(self) -> bool:
        """Whether it is paid back once it is approved, before the goods are here."""
        return any(bool(each.get("refund_first")) for each in (self.request, self.decision) if each)

    @property
    def buys_label(self) -> bool:
        """Whether the worker is to buy a label for the parcel: it was set so at the approval, or somebody has begun to."""
        if self.label is not None or self.label_problem is not None or self.status != APPROVED:
            return False
        wanted = any(bool(each.get("buy_label")) for each in (self.request, self.decision) if each)
        return wanted or self.shipment is not None

    @property
    def why_no_label(self) -> str:
        """Why none was bought at the approval; empty where one was, or none was to be."""
        problem = self.label_problem if self.label is None else None
        return problem["problem"] if problem else ""

    @property
    def owes_label_refund(self) -> bool:
        """Whether no parcel comes for which a label was bought, or may have been."""
        return self.status == REFUSED and self.shipment is not None and self.label_refund is None

    def seconds_to_label_refund(self, moment: datetime) -> float:
        """Until nobody can be buying it any more; one that is bought is given back at once."""
        if self.label is not None:
            return 0
        decided = (each["date"] for each in (self.shipment, self.refusal) if each)
        return (parse(max(decided)) + IN_FLIGHT - moment).total_seconds()

    @property
    def refunded_lines(self) -> Sequence[SoldLine]:
        """What is paid back: what was asked for where that is done first, else what came back; nothing before that."""
        if self.is_refunded_first:
            return self.requested
        return self.receipt["lines"] if self.receipt else []

    @property
    def notices(self) -> list[str]:
        """The kinds of the e-mails that it calls for, in their order; none for one that nobody has requested."""
        if self.request is None:
            return []
        happened = (
            ("requested", self.request),
            (DECISION_KEY, self.decision),
            (LABEL_KEY, self.label),
            (END_KEY, self.receipt or self.end),
            (OFFERED_KEY, self.offered),
            (EXCHANGED_KEY, self.exchanged),
        )
        return [f"{self.reference}{name}" for name, document in happened if document is not None]


def returns_of(
    requests: Iterable[ReturnRequest],
    decisions: Iterable[ReturnDecision],
    receipts: Iterable[Return],
    exchanges: Iterable[ReturnExchange] = (),
    labels: Iterable[Document] = (),
) -> list[OrderReturn]:
    """All returns of an order, by number."""
    by_id = {each["_id"].partition(":")[2]: each for each in decisions}
    exchanged = {each["_id"].partition(":")[2]: each for each in exchanges}
    of_labels: dict[str, Any] = {each["_id"].partition(":")[2]: each for each in labels}
    received = {each["reference"]: each for each in receipts}
    found = [
        OrderReturn(
            request,
            by_id.get(f"{request['reference']}{DECISION_KEY}"),
            received.pop(request["reference"], None),
            by_id.get(f"{request['reference']}{END_KEY}"),
            exchanged.get(f"{request['reference']}{OFFERED_KEY}"),
            exchanged.get(f"{request['reference']}{EXCHANGED_KEY}"),
            *(
                of_labels.get(f"{request['reference']}{key}")
                for key in (SHIPMENT_KEY, LABEL_KEY, PROBLEM_KEY, LABEL_REFUND_KEY)
            ),
        )
        for request in requests
    ]
    found += [OrderReturn(receipt=receipt) for receipt in received.values()]
    return sorted(found, key=lambda back: (back.number, back.reference))


def not_refused(returns: Iterable[OrderReturn]) -> list[SoldLine]:
    """The lines that came back, or are still to come back."""
    return [line for back in returns if back.status != REFUSED for line in back.lines]


def came_back(returns: Iterable[OrderReturn]) -> list[SoldLine]:
    return [line for back in returns if back.receipt for line in back.receipt["lines"]]


def return_answer(
    back: OrderReturn, refunds: Iterable[Refund], *, restocked: bool, for_staff: bool = False
) -> dict[str, Any]:
    """A return as the API shows it; `refund` once it is decided how much is paid back. Staff see why its label was not bought."""
    refund = next((each for each in refunds if each["cause"] == back.reference), None)
    request, refusal = back.request, back.refusal
    return {
        "number": back.number,
        "status": back.status,
        "date": back.first["date"],
        "reason": back.first["reason"],
        "note": request["note"] if request else "",
        "lines": [RETURNED_LINE_FIELDS.shown(line) for line in back.lines],
        "requested_lines": [RETURNED_LINE_FIELDS.shown(line) for line in back.requested],
        "approved": back.approved or None,
        "refused": refusal["date"] if refusal else None,
        "refusal_reason": refusal["reason"] if refusal else "",
        "received": back.receipt["date"] if back.receipt else None,
        "refund": refund["total"] if refund else None,
        "restocked": restocked,
        "exchange": _exchange_answer(back, refund),
        "label": label_fields(back.label) if back.label else None,
        **({"label_problem": back.why_no_label} if for_staff else {}),
    }


def _exchange_answer(back: OrderReturn, refund: Refund | None) -> dict[str, Any] | None:
    """What is sent for the goods, or until it is approved what is wanted; None where they are paid back."""
    lines: Sequence[Mapping[str, Any]] = back.offer["lines"] if back.offer else back.wanted
    if not lines or (back.approved and back.offer is None):
        return None
    latest = back.exchanged or back.offered
    currency = back.first["currency"]
    return {
        "status": latest["outcome"] if latest else (APPROVED if back.offer else REQUESTED),
        "orderid": latest["exchange"] if latest and latest["outcome"] != SOLD_OUT else None,
        "items": [
            {"productid": line["key"], "exchange_for": line["wanted"], "quantity": line["quantity"]}
            | ({"name": line["name"]} if "name" in line else {})
            for line in lines
        ],
        "difference": money(back.offer["difference"], currency) if back.offer else None,
        "paid_with": refund["exchange"]["amount"] if refund and "exchange" in refund else None,
    }
