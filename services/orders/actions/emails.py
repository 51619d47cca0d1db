"""The e-mails about an order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from redis.exceptions import RedisError

from services.orders.declarations.order import Customer, Order, name_of
from services.orders.declarations.parts import AppliedTax, Line, line_key
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import BalanceSpent, credits_of, to_charge
from services.orders.rules.gift_card_delivery import NOBODY
from services.orders.rules.identity import guest_token
from services.orders.rules.progress import PAYMENT_LINK
from services.orders.rules.shipping_text import shipping_text
from shared.clock import parse, timestamp
from shared.errors import Unavailable
from shared.limits import Limit, network_of
from shared.mail import Email
from shared.money import Money
from shared.money_text import localized
from shared.translation import day_text, gettext, language_active, moment_text, ngettext, number_text
from shared.translation import gettext_noop as _

_SUBJECTS = {
    "payment": _("Your order %(order)s"),
    "dispatch": _("Your order %(order)s is on its way"),
    "delivery": _("Your order %(order)s has arrived"),
    "cancellation": _("Your order %(order)s was cancelled"),
    "payment_failed": _("Your order %(order)s was not paid"),
    PAYMENT_LINK: _("Please pay for your order %(order)s"),
}

Composer = Callable[[Dependencies, OrderDocuments, str], Email]


def send(deps: Dependencies, found: OrderDocuments, kind: str) -> str:
    """Sends the e-mail of this kind, as `deliver` does. Raises Unavailable."""
    if found.goes_by_email and kind in ("dispatch", "delivery"):
        return NOBODY
    return deliver(deps, found, kind, compose)


def deliver(deps: Dependencies, found: OrderDocuments, kind: str, composed: Composer) -> str:
    """Sends what is composed to the customer; to whom is not recorded, only `sent`, `nobody` (the person is erased) or `limited`.

    A guest can name any address: so many e-mails in an hour go there and no more. Raises Unavailable.
    """
    customer = found.customer
    if customer is None or not customer["email"]:
        return NOBODY
    if customer["userid"] is None and (customer.get("mail_limited") or not _is_within_limit(deps, customer)):
        return "limited"
    with language_active(deps.language_of(found.order)):
        email = composed(deps, found, kind)
    deps.mailer.send(email)
    return "sent"


def send_gift_cards(deps: Dependencies, found: OrderDocuments, codes: Sequence[tuple[str, Money]]) -> str:
    """The codes of the gift cards that an order bought, to their recipient or else to the customer. Raises Unavailable."""
    with language_active(deps.language_of(found.order)):
        email = compose_gift_cards(deps, found, codes)
    if not email.to:
        return NOBODY
    deps.mailer.send(email)
    return "sent"


def compose_gift_cards(
    deps: Dependencies, found: OrderDocuments, codes: Sequence[tuple[str, Money]]
) -> Email:
    """In the active language."""
    customer = found.customer
    recipient = (customer and customer.get("gift_recipient")) or {}
    giver = customer["name"] if recipient and customer else ""
    return deps.email(
        recipient.get("email") or (customer["email"] if customer else ""),
        ngettext("Your gift card", "Your gift cards", len(codes)),
        "\n\n".join(
            [
                greeting(recipient.get("name")),
                _given(giver, len(codes)),
                *([recipient["message"]] if recipient.get("message") else []),
            ]
        ),
        rows=[(code, localized(value)) for code, value in codes],
        closing=gettext("Type the code at checkout; what is left of it stays on the card."),
        page="",
        label=gettext("To the shop"),
        key=f"order.{found.order['orderid']}.gift-cards",
    )


def _given(giver: str, number: int) -> str:
    if not giver:
        return ngettext("here is a gift card.", "here are gift cards.", number)
    return ngettext(
        "%(name)s has sent you a gift card.", "%(name)s has sent you gift cards.", number, name=giver
    )


def guest_emails_are_limited(deps: Dependencies, address: str) -> bool:
    """Whether guests ordered so often from this network lately that the order is placed without e-mails."""
    limit = Limit("guest order", network_of(address), deps.settings.guest_orders_with_mail, 3600)
    try:
        return not deps.limits.allows(limit)
    except RedisError:
        return False  # the limit of the address still holds when the e-mails are sent


def _is_within_limit(deps: Dependencies, customer: Customer) -> bool:
    limit = Limit("guest mail", customer["email"].lower(), deps.settings.guest_mails_per_hour, 3600)
    try:
        return deps.limits.allows(limit)
    except RedisError as error:
        raise Unavailable("E-mails cannot be counted just now.", retry_after=5) from error


def compose(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """In the active language."""
    order = found.order
    subject = gettext(_SUBJECTS[kind], order=name_of(order))
    if kind == "payment":
        text = "\n\n".join([gettext("thank you for your order. It is paid."), *still_to_come(found)])
        return compose_mail(deps, found, subject, text, kind, rows=_rows(order), closing=_label(found))
    return compose_mail(deps, found, subject, _body(found, kind), kind)


def compose_payment_link(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """The order with all its sums, and a button to the page on which it is paid. In the active language."""
    order, customer, session = found.order, found.customer, found.session
    if session is None:
        raise TypeError("an order without a payment page has no link to it")
    body = gettext("we have put together your order. Please pay for it, so that we can send it.")
    until = gettext(
        "You can pay until %(moment)s; then the goods are for others again.",
        moment=moment_text(parse(session["expires"])),
    )
    return deps.email(
        customer["email"] if customer else "",
        gettext(_SUBJECTS[kind], order=name_of(order)),
        f"{greeting(customer and customer['name'])}\n\n{body}",
        rows=_rows(order),
        closing="\n\n".join(filter(None, [_label(found), until])),
        link=session["url"],
        label=gettext("Pay %(total)s", total=localized(to_charge(order))),
        key=f"order.{order['orderid']}.{kind}",
    )


def compose_mail(
    deps: Dependencies,
    found: OrderDocuments,
    subject: str,
    body: str,
    kind: str,
    rows: Sequence[tuple[str, str]] = (),
    closing: str = "",
    orderid: str = "",
) -> Email:
    """To the customer of an order, in the active language, with a greeting before and a link to the order behind it, or to `orderid`, another
    one of the same customer."""
    order, customer = found.order, found.customer
    return deps.email(
        customer["email"] if customer else "",
        subject,
        f"{greeting(customer and customer['name'])}\n\n{body}",
        rows=rows,
        closing=closing,
        page=_page(deps, order["userid"], orderid or order["orderid"]),
        label=gettext("See your order"),
        key=f"order.{order['orderid']}.{kind}",
    )


def follow(tracking_url: str) -> str:
    return gettext("See how far it is: %(url)s", url=tracking_url)


def greeting(name: str | None) -> str:
    return gettext("Hello %(name)s,", name=name) if name else gettext("Hello there,")


def still_to_come(found: OrderDocuments) -> list[str]:
    """What of the order waits for goods, and when they are expected: a sentence a line."""
    waiting = found.waiting
    return [
        _expected(line, waiting[line_key(line)])
        for line in found.order["basket"]
        if line_key(line) in waiting
    ]


def _expected(line: Line, count: int) -> str:
    about = {"count": count, "name": named(line)}
    date = line["backorder"]["date"] if "backorder" in line else ""
    if date <= timestamp()[:10]:
        return gettext("%(count)s x %(name)s: still to come, and sent as soon as it is here.", **about)
    day = day_text(parse(f"{date}T00:00:00.000Z"))
    return gettext("%(count)s x %(name)s: still to come, and sent from %(day)s.", day=day, **about)


def _body(found: OrderDocuments, kind: str) -> str:
    total = localized(found.order["total"])
    if kind == "dispatch":
        parcel = found.require_dispatch()
        url = parcel.get("tracking_url")
        text = gettext(
            "your order is on its way with %(courier)s, tracking number %(number)s.",
            courier=parcel["courier"],
            number=parcel["courierid"],
        )
        return f"{text} {follow(url)}" if url else text
    if kind == "delivery":
        return gettext("your order has arrived. Should something be wrong with it, you can return it.")
    if kind == "payment_failed":
        return gettext(
            "the payment of %(total)s did not come through, so nothing was ordered and nothing was charged. You can order again.",
            total=total,
        )
    if found.cancellation and found.cancellation["reason"] == BalanceSpent.code:
        return gettext(
            "your gift card or store credit was spent on another order before you paid this one, so it was cancelled; "
            "the %(total)s that you paid go back the way you paid.",
            total=localized(found.require_payment()["total"]),
        )
    return gettext("your order was cancelled and %(total)s are paid back the way you paid.", total=total)


def _rows(order: Order) -> list[tuple[str, str]]:
    """Lines, discounts, shipping, each tax, the total, and what gift cards and store credit paid of it."""
    taxes = [_tax(tax) for tax in order.get("taxes", []) if tax["amount"]["amount"]]
    are_added = not all(tax["included"] for tax in order.get("taxes", []))
    return [
        *((f"{line['quantity']} x {named(line)}", localized(line["total"])) for line in order["basket"]),
        *_discounts(order),
        (shipping_text(order), localized(order["delivery"])),
        *(taxes if are_added else []),
        (gettext("Total"), localized(order["total"])),
        *([] if are_added else taxes),
        *_paid_with(order),
    ]


def _tax(tax: AppliedTax) -> tuple[str, str]:
    name = f"{tax['name']} {number_text(tax['rate'], '0.####')} %"
    return gettext("Includes %(tax)s", tax=name) if tax["included"] else name, localized(tax["amount"])


def _discounts(order: Order) -> list[tuple[str, str]]:
    return [
        (
            f"{each['name']}{' (' + each['code'] + ')' if 'code' in each else ''}",
            f"−{localized(each['amount'])}" if each["amount"]["amount"] else gettext("free delivery"),
        )
        for each in order.get("discounts", [])
    ]


def _paid_with(order: Order) -> list[tuple[str, str]]:
    credits = [(credit["name"], f"−{localized(credit['amount'])}") for credit in credits_of(order)]
    return [*credits, (gettext("Charged"), localized(to_charge(order)))] if credits else []


def _label(found: OrderDocuments) -> str:
    """Where it goes, as a label; or where it is collected."""
    shipping = found.order.get("shipping")
    if shipping and "collect_from" in shipping:
        return "\n".join([gettext("You collect it from:"), shipping["collect_from"]])
    address = found.customer["deliveryAddress"] if found.customer else None
    text = address.get("address") if isinstance(address, dict) else address
    return "\n".join([gettext("It goes to:"), *filter(None, [_receiver(address), text])]) if text else ""


def _receiver(address: Any) -> str:
    return str(address.get("name") or "") if isinstance(address, dict) and address.get("country") else ""


def named(line: Line) -> str:
    """The product, and of a variant what was chosen: Shirt (M, red)."""
    options = ", ".join(line.get("options", {}).values())
    return f"{line['name']} ({options})" if options else line["name"]


def goods_list(found: OrderDocuments, lines: Iterable[Mapping[str, Any]]) -> str:
    """A line each, however its pieces came back: some resaleable, some damaged. Of variants with what was chosen."""
    bought = {line_key(line): named(line) for line in found.order["basket"]}
    together: dict[str, int] = {}
    for line in lines:
        together[line_key(line)] = together.get(line_key(line), 0) + line["quantity"]
    return "\n".join(f"{quantity} x {bought[key]}" for key, quantity in together.items())


def _page(deps: Dependencies, userid: str | None, orderid: str) -> str:
    path = f"/orders/{orderid}"
    return path if userid else f"{path}?token={guest_token(deps.settings.secret_key, orderid)}"
