"""A person's orders handed out, and a person taken out of them: the order stays, its `:customer` document is overwritten."""

from collections.abc import Iterator
from typing import Any

from services.orders.actions.shop import Shop
from services.orders.documents import CUSTOMER
from services.orders.rules.assembly import whole_order
from services.orders.store import Key
from shared.clock import timestamp
from shared.couch import Doc

PAGE = 100


def export_orders(shop: Shop, userid: str) -> list[dict[str, Any]]:
    """Every order of a person, whole."""
    return [whole_order(shop.orders.order(orderid)) for orderid in _orderids(shop, userid)]


def anonymise(shop: Shop, userid: str) -> int:
    """Takes name, e-mail and address out of a person's orders; how many were changed. May be repeated."""
    changed = 0
    while named := shop.orders.personal_documents(userid, limit=PAGE):
        shop.orders.overwrite_customers([_erased(doc) for doc in named])
        changed += len(named)
    return changed


def has_bought(shop: Shop, userid: str, productid: str) -> bool:
    """Whether this person has paid for this product: what a review asks."""
    return shop.orders.bought(userid, productid)


def _erased(doc: Doc) -> Doc:
    return CUSTOMER.new(
        doc["_id"], _rev=doc["_rev"], orderid=doc["orderid"], userid=doc["userid"], name="", email="",
        deliveryAddress=None, erased=timestamp(),
    )  # fmt: skip


def _orderids(shop: Shop, userid: str) -> Iterator[str]:
    after: Key | None = None
    while True:
        page = shop.orders.orders_of_a_customer(userid, limit=PAGE, after=after, allow_stale=False)
        yield from (item["key"][2] for item in page.items)
        if page.next is None:
            return
        after = page.next
