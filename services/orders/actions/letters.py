"""The mails about an order."""

from services.orders.actions.shop import Shop
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import guest_token
from shared.couch import Doc
from shared.mail import Letter
from shared.money import text

_SUBJECTS = {
    "payment": "Your order {orderid}",
    "dispatch": "Your order {orderid} is on its way",
    "delivery": "Your order {orderid} has arrived",
    "cancellation": "Your order {orderid} was cancelled",
}


def send(shop: Shop, found: OrderDocuments, kind: str) -> str:
    """Sends the letter of this kind; whom it went to is not written down: `sent`, or `nobody` for an erased person."""
    customer = found.customer
    if customer is None or not customer["email"]:
        return "nobody"
    shop.mailer.send(compose(shop, found, kind))
    return "sent"


def compose(shop: Shop, found: OrderDocuments, kind: str) -> Letter:
    order, customer = found.order, found.customer or {}
    return Letter(
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
        lines = [f"{line['quantity']} x {line['name']}  {text(line['total'])}" for line in order["basket"]]
        sums = [f"Delivery  {text(order['delivery'])}", f"Total  {text(order['total'])}"]
        return "thank you for your order. It is paid.\n\n" + "\n".join([*lines, *sums])
    if kind == "dispatch":
        parcel = found.require_dispatch()
        return f"your order is on its way with {parcel['courier']}, parcel {parcel['courierid']}."
    if kind == "delivery":
        return "your order has arrived. Should something be wrong with it, you can return it."
    return f"your order was cancelled and {text(order['total'])} are paid back the way you paid."


def _link(shop: Shop, order: Doc) -> str:
    base = f"{shop.settings.storefront_url.rstrip('/')}/orders/{order['orderid']}"
    if order["userid"] is not None:
        return base
    return f"{base}?token={guest_token(shop.settings.secret_key, order['orderid'])}"
