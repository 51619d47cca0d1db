"""The e-mails about an order."""

from collections.abc import Callable, Sequence
from typing import Any

from redis.exceptions import RedisError

from services.orders.declarations.order import Customer, Order, name_of
from services.orders.declarations.parts import Line
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import credits_of, to_charge
from services.orders.rules.identity import guest_token
from shared.errors import Unavailable
from shared.limits import Limit, network_of
from shared.mail import Email
from shared.money import Money, shown

_SUBJECTS = {
    "payment": "Your order {order}",
    "dispatch": "Your order {order} is on its way",
    "delivery": "Your order {order} has arrived",
    "cancellation": "Your order {order} was cancelled",
    "payment_failed": "Your order {order} was not paid",
}

NOBODY = "nobody"
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
    deps.mailer.send(composed(deps, found, kind))
    return "sent"


def send_gift_cards(deps: Dependencies, found: OrderDocuments, codes: Sequence[tuple[str, Money]]) -> str:
    """The codes of the gift cards that an order bought, to their recipient or else to the customer. Raises Unavailable."""
    customer = found.customer
    recipient = (customer and customer.get("gift_recipient")) or {}
    email = recipient.get("email") or (customer["email"] if customer else "")
    if not email:
        return NOBODY
    giver = f"{customer['name']} has sent you" if recipient and customer and customer["name"] else "here is"
    cards = [f"{shown(value)}: {code}" for code, value in codes]
    message = [recipient["message"], ""] if recipient.get("message") else []
    deps.mailer.send(
        Email(
            to=email,
            subject="Your gift card" if len(codes) == 1 else "Your gift cards",
            text="\n".join(
                [
                    f"Hello {recipient.get('name') or 'there'},",
                    "",
                    f"{giver} {'a gift card' if len(codes) == 1 else 'gift cards'}.",
                    "",
                    *message,
                    *cards,
                    "",
                    "Type the code at checkout; what is left of it stays on the card.",
                ]
            ),
            link=deps.settings.storefront_url.rstrip("/"),
            link_label="To the shop",
            key=f"order.{found.order['orderid']}.gift-cards",
        )
    )
    return "sent"


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
    subject = _SUBJECTS[kind].format(order=name_of(found.order))
    return compose_mail(deps, found, subject, _body(found, kind), kind)


def compose_mail(deps: Dependencies, found: OrderDocuments, subject: str, body: str, kind: str) -> Email:
    """To the customer of an order, with a greeting before and a link to the order behind it."""
    order, customer = found.order, found.customer
    return Email(
        to=customer["email"] if customer else "",
        subject=subject,
        text=f"Hello {(customer and customer['name']) or 'there'},\n\n{body}",
        link=_link(deps, order),
        link_label="See your order",
        key=f"order.{order['orderid']}.{kind}",
    )


def _body(found: OrderDocuments, kind: str) -> str:
    order = found.order
    if kind == "payment":
        lines = [f"{line['quantity']} x {named(line)}  {shown(line['total'])}" for line in order["basket"]]
        return "thank you for your order. It is paid.\n\n" + "\n".join(
            [*lines, *_sums(order), *_label(found)]
        )
    if kind == "dispatch":
        parcel = found.require_dispatch()
        url = parcel.get("tracking_url")
        track = f" See how far it is: {url}" if url else ""
        return f"your order is on its way with {parcel['courier']}, parcel {parcel['courierid']}.{track}"
    if kind == "delivery":
        return "your order has arrived. Should something be wrong with it, you can return it."
    if kind == "payment_failed":
        return f"the payment of {shown(order['total'])} did not come through, so nothing was ordered and nothing was charged. You can order again."
    return f"your order was cancelled and {shown(order['total'])} are paid back the way you paid."


def _sums(order: Order) -> list[str]:
    """Discounts, shipping, each tax, the total, and what gift cards and store credit paid of it."""
    shipping = order["shipping"]["name"] if "shipping" in order else "Delivery"
    taxes = [
        f"{'Includes ' if tax['included'] else ''}{tax['name']} {tax['rate']:g} %  {shown(tax['amount'])}"
        for tax in order.get("taxes", [])
        if tax["amount"]["amount"]
    ]
    added = [] if all(tax["included"] for tax in order.get("taxes", [])) else taxes
    included = [] if added else taxes
    return [
        *_discounts(order),
        f"{shipping}  {shown(order['delivery'])}",
        *added,
        f"Total  {shown(order['total'])}",
        *included,
        *_paid_with(order),
    ]


def _discounts(order: Order) -> list[str]:
    return [
        f"{each['name']}{' (' + each['code'] + ')' if 'code' in each else ''}  "
        + (f"−{shown(each['amount'])}" if each["amount"]["amount"] else "free delivery")
        for each in order.get("discounts", [])
    ]


def _paid_with(order: Order) -> list[str]:
    credits = [f"{credit['name']}  −{shown(credit['amount'])}" for credit in credits_of(order)]
    return [*credits, f"Charged  {shown(to_charge(order))}"] if credits else []


def _label(found: OrderDocuments) -> list[str]:
    """Where it goes, as a label; or where it is collected."""
    shipping = found.order.get("shipping")
    if shipping and "collect_from" in shipping:
        return ["", "You collect it from:", shipping["collect_from"]]
    address = found.customer["deliveryAddress"] if found.customer else None
    text = address.get("address") if isinstance(address, dict) else address
    return ["", "It goes to:", *filter(None, [_receiver(address), text])] if text else []


def _receiver(address: Any) -> str:
    return str(address.get("name") or "") if isinstance(address, dict) and address.get("country") else ""


def named(line: Line) -> str:
    """The product, and of a variant what was chosen: Shirt (M, red)."""
    options = ", ".join(line.get("options", {}).values())
    return f"{line['name']} ({options})" if options else line["name"]


def _link(deps: Dependencies, order: Order) -> str:
    base = f"{deps.settings.storefront_url.rstrip('/')}/orders/{order['orderid']}"
    if order["userid"] is not None:
        return base
    return f"{base}?token={guest_token(deps.settings.secret_key, order['orderid'])}"
