"""The e-mails about a return: that it was requested, approved or refused, and received."""

from collections.abc import Sequence

from services.orders.actions.emails import compose_mail, goods_list
from services.orders.declarations.events import Refund
from services.orders.declarations.exchanges import OFFERED, PAID, OfferedLine, WantedLine
from services.orders.declarations.order import name_of
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.exchanges import lines_to_send
from services.orders.rules.order_returns import (
    DECISION_KEY,
    END_KEY,
    EXCHANGED_KEY,
    LABEL_KEY,
    OFFERED_KEY,
    OrderReturn,
)
from shared.mail import Email
from shared.money import money
from shared.money_text import localized
from shared.translation import gettext


def compose_return(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """Of a `kind` of `OrderReturn.notices`."""
    back = next(each for each in found.order_returns if kind in each.notices)
    event = kind.removeprefix(back.reference)
    subject, text = _contents(deps, found, back, event)
    subject = gettext("%(subject)s (order %(order)s)", subject=subject, order=name_of(found.order))
    other = back.exchanged or back.offered if event in (OFFERED_KEY, EXCHANGED_KEY) else None
    orderid = other["exchange"] if other and other["outcome"] in (OFFERED, PAID) else ""
    return compose_mail(deps, found, subject, text, kind, orderid=orderid)


def _contents(deps: Dependencies, found: OrderDocuments, back: OrderReturn, event: str) -> tuple[str, str]:
    number = back.number
    if event == OFFERED_KEY:
        return gettext("Please pay the difference for return %(number)s", number=number), _to_pay(back)
    if event == EXCHANGED_KEY:
        return _exchanged(back)
    if event == LABEL_KEY:
        return gettext("The label for your return %(number)s", number=number), _label(found, back)
    if event == END_KEY and back.receipt is not None:
        return gettext("Your return %(number)s has arrived", number=number), _received(found, back)
    if event == END_KEY or (event == DECISION_KEY and not back.approved):
        reason = back.refusal["reason"] if back.refusal else ""
        refused = _parts(gettext("we cannot take back:"), goods_list(found, back.requested), reason)
        return gettext("Your return %(number)s was refused", number=number), refused
    if event == DECISION_KEY or back.approved == back.first["date"]:
        return gettext("Your return %(number)s is approved", number=number), _approved(deps, found, back)
    return gettext("Your return %(number)s was requested", number=number), _parts(
        gettext("you would like to send back:"),
        goods_list(found, back.requested),
        _wanted(back.wanted),
        gettext("We look at it and write to you. Please keep the goods until then."),
    )


def _approved(deps: Dependencies, found: OrderDocuments, back: OrderReturn) -> str:
    address = deps.terms.returns.address
    slip = gettext("Please print the return slip and put it into the parcel: you find it with your order.")
    paid = (
        _offered(back)
        if back.offer
        else gettext("It is paid back now, the way you paid.")
        if back.is_refunded_first
        else gettext("It is paid back once the goods are here, the way you paid.")
    )
    return _parts(
        gettext("please send back:"),
        goods_list(found, back.requested),
        *([gettext("Send it to:"), address] if address else []),
        slip,
        paid,
    )


def _label(found: OrderDocuments, back: OrderReturn) -> str:
    label = back.label
    tracking = label["tracking_url"] or label["tracking_code"] if label else ""
    return _parts(
        gettext("the postage for your parcel is paid:"),
        goods_list(found, back.requested),
        gettext("Please print the label and stick it on the parcel: you find it with your order."),
        *([gettext("Follow the parcel: %(tracking)s", tracking=tracking)] if tracking else []),
    )


def _received(found: OrderDocuments, back: OrderReturn) -> str:
    refund = next((each for each in found.refunds if each["cause"] == back.reference), None)
    return _parts(
        gettext("these goods are back with us:"),
        goods_list(found, back.lines),
        _paid_back(refund) if refund else "",
    )


def _paid_back(refund: Refund) -> str:
    """What of a refund pays for other goods does not come back: of their order there is an e-mail of its own."""
    total, share = refund["total"], refund.get("exchange")
    moved = share["amount"]["amount"] if share else 0
    rest = money(total["amount"] - moved, total["currency"])
    return _parts(
        gettext("%(total)s go towards what you get instead.", total=localized(share["amount"]))
        if share and moved
        else "",
        gettext("%(total)s are paid back the way you paid.", total=localized(rest)) if rest["amount"] else "",
    )


def _offered(back: OrderReturn) -> str:
    """What is sent instead, when, and for how much more or less."""
    if back.offer is None:
        return ""
    difference = money(abs(back.offer["difference"]), back.first["currency"])
    when = (
        gettext("We send you instead:")
        if back.is_refunded_first
        else gettext("We keep these for you and send them once your goods are here:")
    )
    if back.offer["difference"] > 0:
        rest = gettext(
            "They cost %(total)s more; we write to you where to pay that.", total=localized(difference)
        )
    elif back.offer["difference"] < 0:
        rest = gettext(
            "They cost %(total)s less; that is paid back the way you paid.", total=localized(difference)
        )
    else:
        rest = gettext("You have nothing more to pay.")
    return _parts(when, _names(back.offer["lines"]), rest)


def _to_pay(back: OrderReturn) -> str:
    lines = _names(lines_to_send(back.offer, back.refunded_lines)) if back.offer else ""
    return _parts(
        gettext("what you get for the goods that you sent back costs more:"),
        lines,
        gettext(
            "Please pay the rest within a day: you find the way to it with your new order. If you do not want it, do nothing: then all of it is paid back the way you paid."
        ),
    )


def _exchanged(back: OrderReturn) -> tuple[str, str]:
    lines = _names(lines_to_send(back.offer, back.refunded_lines)) if back.offer else ""
    if back.exchanged is not None and back.exchanged["outcome"] == PAID:
        return gettext("Your exchange for return %(number)s is being sent", number=back.number), _parts(
            gettext("for the goods that you sent back you get a new order, and it is paid:"),
            lines,
        )
    return gettext("Your exchange for return %(number)s has ended", number=back.number), _parts(
        gettext("these goods cannot be sent to you:"),
        lines,
        gettext("What you sent back is paid back the way you paid."),
    )


def _wanted(lines: Sequence[WantedLine]) -> str:
    wanted = ", ".join(f"{line['quantity']} x {line['wanted']}" for line in lines)
    return gettext("You would like instead: %(goods)s", goods=wanted) if wanted else ""


def _names(lines: Sequence[OfferedLine]) -> str:
    return "\n".join(f"{line['quantity']} x {_name(line)}" for line in lines)


def _name(line: OfferedLine) -> str:
    options = ", ".join(line.get("options", {}).values())
    return f"{line['name']} ({options})" if options else line["name"]


def _parts(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
