"""How an order is delivered, as its e-mails and printed papers name it, in the active language."""

from services.orders.declarations.order import Order
from shared.translation import gettext


def shipping_text(order: Order) -> str:
    """The shipping method, and in how many parcels it was priced where that is more than one."""
    shipping = order.get("shipping")
    if shipping is None:
        return gettext("Delivery")
    parcels = shipping.get("parcels")
    if not parcels:
        return shipping["name"]
    split = gettext("in %(count)s parcels", count=parcels)
    return f"{shipping['name']}, {split}"
