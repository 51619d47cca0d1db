"""The e-mails about a return: that it was requested, approved or refused, and received."""

from collections.abc import Iterable

from services.orders.actions.emails import compose_mail
from services.orders.declarations.order import name_of
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.order_returns import DECISION_KEY, END_KEY, OrderReturn
from shared.mail import Email
from shared.money_text import localized
from shared.translation import gettext


def compose_return(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """Of a `kind` of `OrderReturn.notices`."""
    back = next(each for each in found.order_returns if kind in each.notices)
    event = kind.removeprefix(back.reference)
    subject, text = _contents(deps, found, back, event)
    subject = gettext("%(subject)s (order %(order)s)", subject=subject, order=name_of(found.order))
    return compose_mail(deps, found, subject, text, kind)


def _contents(deps: Dependencies, found: OrderDocuments, back: OrderReturn, event: str) -> tuple[str, str]:
    number = back.number
    if event == END_KEY and back.receipt is not None:
        return gettext("Your return %(number)s has arrived", number=number), _received(found, back)
    if event == END_KEY or (event == DECISION_KEY and not back.approved):
        reason = back.refusal["reason"] if back.refusal else ""
        refused = _parts(gettext("we cannot take back:"), _list(back.requested), reason)
        return gettext("Your return %(number)s was refused", number=number), refused
    if event == DECISION_KEY or back.approved == back.first["date"]:
        return gettext("Your return %(number)s is approved", number=number), _approved(deps, back)
    return gettext("Your return %(number)s was requested", number=number), _parts(
        gettext("you would like to send back:"),
        _list(back.requested),
        gettext("We look at it and write to you. Please keep the goods until then."),
    )


def _approved(deps: Dependencies, back: OrderReturn) -> str:
    address = deps.terms.returns.address
    paid = (
        gettext("It is paid back now, the way you paid.")
        if back.is_refunded_first
        else gettext("It is paid back once the goods are here, the way you paid.")
    )
    return _parts(
        gettext("please send back:"),
        _list(back.requested),
        *([gettext("Send it to:"), address, paid] if address else [paid]),
    )


def _received(found: OrderDocuments, back: OrderReturn) -> str:
    refund = next((each for each in found.refunds if each["cause"] == back.reference), None)
    paid = (
        gettext("%(total)s are paid back the way you paid.", total=localized(refund["total"]))
        if refund
        else ""
    )
    return _parts(gettext("these goods are back with us:"), _list(back.lines), paid)


def _parts(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _list(lines: Iterable[SoldLine]) -> str:
    return "\n".join(f"{line['quantity']} x {line['name']}" for line in lines)
