"""A code with a limit among orders that are killed: in the end its uses are exactly those of the orders that were sold with it."""

from collections import Counter
from typing import Any

from tests.faults.shop import BreakableShop
from tests.people import Person


def code_with_limit(shop: BreakableShop, admin: Person, limit: int, **more: int) -> str:
    body = {
        "name": "One percent",
        "codes": ["KILLED"],
        "limit": limit,
        "actions": [{"kind": "percent", "basis_points": 100}],
        **more,
    }
    admin.post(f"{shop.url('orders')}/v1/admin/promotions", json=body, timeout=30).raise_for_status()
    return "KILLED"


def wrong_uses(stored: list[dict[str, Any]], orders: dict[str, dict[str, dict[str, Any]]]) -> dict[str, str]:
    """Orders that were sold with a code and do not hold one use of it, or hold one and were not sold."""
    uses = [doc for doc in stored if doc.get("type") == "promotionuse" and not doc["free"]]
    slots = Counter(doc["orderid"] for doc in uses if "customer" not in doc)
    by_customer = Counter(doc["orderid"] for doc in uses if "customer" in doc)
    wrong = {}
    for orderid in orders.keys() | slots.keys() | by_customer.keys():
        docs = orders.get(orderid, {})
        planned = docs.get("order", {}).get("uses", [])
        sold = bool(planned) and "payment" in docs and "cancellation" not in docs
        expected = int(sold), int(sold and any("customer" in use for use in planned))
        if (slots[orderid], by_customer[orderid]) != expected:
            wrong[orderid] = f"{slots[orderid]} and {by_customer[orderid]} uses, not {expected}"
    return wrong
