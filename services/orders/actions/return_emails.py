"""The e-mails about a return: that it was requested, approved or refused, and received."""

from collections.abc import Iterable

from services.orders.actions.emails import compose_mail
from services.orders.declarations.order import name_of
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.order_returns import DECISION_KEY, END_KEY, OrderReturn
from shared.mail import Email
from shared.money import shown


def compose_return(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """Of a `kind` of `OrderReturn.notices`."""
    back = next(each for each in found.order_returns if kind in each.notices)
    event = kind.removeprefix(back.reference)
    subject, text = _contents(deps, found, back, event)
    return compose_mail(deps, found, f"{subject} (order {name_of(found.order)})", text, kind)


def _contents(deps: Dependencies, found: OrderDocuments, back: OrderReturn, event: str) -> tuple[str, str]:
    if event == END_KEY and back.receipt is not None:
        return f"Your return {back.number} has arrived", _received(found, back)
    if event == END_KEY or (event == DECISION_KEY and not back.approved):
        reason = back.refusal["reason"] if back.refusal else ""
        return (
            f"Your return {back.number} was refused",
            f"we cannot take back:\n\n{_list(back.requested)}\n\n{reason}",
        )
    if event == DECISION_KEY or back.approved == back.first["date"]:
        return f"Your return {back.number} is approved", _approved(deps, back)
    text = "you would like to send back:\n\n{}\n\nWe look at it and write to you. Please keep the goods until then."
    return f"Your return {back.number} was requested", text.format(_list(back.requested))


def _approved(deps: Dependencies, back: OrderReturn) -> str:
    address = deps.terms.returns.address
    place = f" to:\n\n{address}\n\n" if address else ".\n\n"
    paid = (
        "It is paid back now, the way you paid."
        if back.is_refunded_first
        else "It is paid back once the goods are here, the way you paid."
    )
    return f"please send back:\n\n{_list(back.requested)}\n\nSend it{place}{paid}"


def _received(found: OrderDocuments, back: OrderReturn) -> str:
    refund = next((each for each in found.refunds if each["cause"] == back.reference), None)
    paid = f"{shown(refund['total'])} are paid back the way you paid." if refund else ""
    return f"these goods are back with us:\n\n{_list(back.lines)}\n\n{paid}".rstrip()


def _list(lines: Iterable[SoldLine]) -> str:
    return "\n".join(f"{line['quantity']} x {line['name']}" for line in lines)
