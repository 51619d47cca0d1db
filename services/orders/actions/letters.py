"""The mails about an order."""

from redis.exceptions import RedisError

from services.orders.actions.shop import Shop
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import guest_token
from shared.couch import Doc
from shared.errors import Unavailable
from shared.limits import Limit, network_of
from shared.mail import Email
from shared.money import shown

_SUBJECTS = {
    "payment": "Your order {orderid}",
    "dispatch": "Your order {orderid} is on its way",
    "delivery": "Your order {orderid} has arrived",
    "cancellation": "Your order {orderid} was cancelled",
}


def send(shop: Shop, found: OrderDocuments, kind: str) -> str:
    """Sends the letter of this kind; whom it went to is not written down: `sent`, `nobody` for an erased person, `limited`.

    A guest's address is anybody's: so many mails in an hour go there and no more. Raises Unavailable.
    """
    customer = found.customer
    if customer is None or not customer["email"]:
        return "nobody"
    if customer["userid"] is None and (customer.get("mail_limited") or not _may_get_mail(shop, customer)):
        return "limited"
    shop.mailer.send(compose(shop, found, kind))
    return "sent"


def guest_mail_is_limited(shop: Shop, address: str) -> bool:
    """Whether guests ordered so often from this network lately that the order's mails are left out; the order is not."""
    limit = Limit("guest order", network_of(address), shop.settings.guest_orders_with_mail, 3600)
    try:
        return not shop.limits.allows(limit)
    except RedisError:
        return False  # whoever sends the mails counts them for their address all the same


def _may_get_mail(shop: Shop, customer: Doc) -> bool:
    limit = Limit("guest mail", customer["email"].lower(), shop.settings.guest_mails_per_hour, 3600)
    try:
        return shop.limits.allows(limit)
    except RedisError as error:
        raise Unavailable("Mails cannot be counted just now.", retry_after=5) from error


def compose(shop: Shop, found: OrderDocuments, kind: str) -> Email:
    order, customer = found.order, found.customer or {}
    return Email(
        to=customer.get("email", ""),
        subject=_SUBJECTS[kind].format(orderid=order["orderid"]),
        text=f"Hello {customer.get('name') or 'there'},\n\n{_body(found, kind)}",
        link=_link(shop, order),
        link_label="See your order",
        key=f"order.{order['orderid']}.{kind}",
    )


def _body(found: OrderDocuments, kind: str) -> str:
    order = found.order
    if kind == "payment":
        lines = [f"{line['quantity']} x {line['name']}  {shown(line['total'])}" for line in order["basket"]]
        sums = [f"Delivery  {shown(order['delivery'])}", f"Total  {shown(order['total'])}"]
        return "thank you for your order. It is paid.\n\n" + "\n".join([*lines, *sums])
    if kind == "dispatch":
        parcel = found.require_dispatch()
        return f"your order is on its way with {parcel['courier']}, parcel {parcel['courierid']}."
    if kind == "delivery":
        return "your order has arrived. Should something be wrong with it, you can return it."
    return f"your order was cancelled and {shown(order['total'])} are paid back the way you paid."


def _link(shop: Shop, order: Doc) -> str:
    base = f"{shop.settings.storefront_url.rstrip('/')}/orders/{order['orderid']}"
    if order["userid"] is not None:
        return base
    return f"{base}?token={guest_token(shop.settings.secret_key, order['orderid'])}"
