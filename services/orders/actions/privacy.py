"""A person's orders handed out, and a person taken out of them: the order stays, its `:customer` document is overwritten."""

from collections.abc import Iterator
from typing import Any

from services.orders.actions.payment_pages import forget_customers
from services.orders.declarations.order import Customer
from services.orders.dependencies import Dependencies
from services.orders.documents import CUSTOMER
from services.orders.rules.assembly import whole_order
from services.orders.store import Key
from shared.clock import timestamp

PAGE = 100


def export_orders(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """Every order of a person, whole."""
    return [whole_order(deps.orders.order(orderid)) for orderid in _orderids(deps, userid)]


def anonymise(deps: Dependencies, userid: str) -> int:
    """Takes name, e-mail and address out of a person's orders; how many were changed. May be repeated.

    The payment providers forget them first. Raises ProviderUnavailable: the worker goes on with it.
    """
    forget_customers(deps, userid)
    changed = 0
    while named := deps.orders.personal_documents(userid, limit=PAGE):
        deps.orders.overwrite_customers([_erased(doc) for doc in named])
        changed += len(named)
    return changed


def has_bought(deps: Dependencies, userid: str, productid: str) -> bool:
    """Whether this person has paid for this product: what a review asks."""
    return deps.orders.bought(userid, productid)


def _erased(doc: Customer) -> Customer:
    erased = CUSTOMER.build(
        doc["_id"],
        orderid=doc["orderid"],
        userid=doc["userid"],
        name="",
        email="",
        deliveryAddress=None,
        erased=timestamp(),
    )
    erased["_rev"] = doc["_rev"]
    return erased


def _orderids(deps: Dependencies, userid: str) -> Iterator[str]:
    after: Key | None = None
    while True:
        page = deps.orders.orders_of_a_customer(userid, limit=PAGE, after=after, allow_stale=False)
        yield from (item["key"][2] for item in page.items)
        if page.next is None:
            return
        after = page.next
