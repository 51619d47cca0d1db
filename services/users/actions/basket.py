"""The basket: one document for each item, shared by all devices, priced live when it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.users.actions.profile import basket_items
from services.users.dependencies import Dependencies
from services.users.documents import BASKET_ITEM, BasketItem, basket_key, user_document
from services.users.rules.accounts import MAX_BASKET_ITEMS, merged_quantity
from services.users.rules.errors import NoSuchProduct, VariantNeeded
from shared import money
from shared.clock import timestamp
from shared.couch import NoSuchDocument, UpdateConflict
from shared.errors import Conflict, Invalid

PREFIX = "basket-"
_MAX_ATTEMPTS = 5


class NotSoldInCurrency(Invalid):
    code, title = "not_sold_in_currency", "The product has no price in this currency"


class BasketFull(Conflict):
    code, title = "basket_full", "The basket is full"


@dataclass(frozen=True)
class Prices:
    """In which currency and language a basket is shown (None and "": the shop's own), at the prices of which customer group."""

    currency: str | None = None
    group: str = ""
    language: str = ""

    def lookup(self, deps: Dependencies, keys: list[str]) -> dict[str, dict[str, Any]]:
        """The products so, by the productid or SKU asked for. Raises Unavailable."""
        return deps.products.lookup(keys, currency=self.currency, group=self.group, language=self.language)


def priced_basket(deps: Dependencies, userid: str, prices: Prices) -> dict[str, Any]:
    """The items with today's price and stock; what has no price in the currency stays, and says so. 1 partition query here, 1 global query at products. Raises Unavailable."""
    stored = basket_items(deps.store.documents_with_prefix(userid, PREFIX))
    products = prices.lookup(deps, [basket_key(item) for item in stored])
    items = [priced_item(item, products.get(basket_key(item))) for item in stored]
    return {"items": items, "next": None, "totals": totals(items)}


def priced_item(item: dict[str, Any], product: dict[str, Any] | None) -> dict[str, Any]:
    """An item beside its product; one that is no longer sold stays visible and is not available."""
    shown = priced_product(item, product)
    if shown["price"] is None:
        return shown | {"total": None}
    total = money.times(shown["price"], item["quantity"])
    stock = shown["stock"]
    return shown | {"total": total, "available": stock is None or stock >= item["quantity"]}


def priced_product(item: dict[str, Any], product: dict[str, Any] | None) -> dict[str, Any]:
    """What names a product, with its price and stock today."""
    if product is None or not product.get("for_sale", True):
        known = product or {}
        empty = dict.fromkeys(("price", "delivery", "stock"))
        named = {"name": known.get("name"), "image": known.get("image")}
        unsold = {"not_sold_in": known["not_sold_in"]} if "not_sold_in" in known else {}
        return {**item, **named, **empty, **unsold, "available": False}
    options = product.get("selected_options")
    stock = product.get("stock")
    return {
        **item,
        **({"options": options} if options else {}),
        "name": product["name"],
        "image": product.get("image"),
        "price": product["price"],
        "delivery": product.get("delivery"),
        "stock": stock,
        "available": stock is None or stock > 0,
    }


def totals(items: list[dict[str, Any]]) -> list[money.Money]:
    """One sum for each currency, of the items that can be bought."""
    sums: dict[str, money.Money] = {}
    for item in items:
        if item["available"]:
            total = item["total"]
            known = sums.get(total["currency"])
            sums[total["currency"]] = total if known is None else money.add(known, total)
    return list(sums.values())


def put_item(
    deps: Dependencies,
    userid: str,
    productid: str,
    quantity: int,
    prices: Prices = Prices(),
    *,
    keep_more: bool = False,
) -> dict[str, Any]:
    """Sets the quantity of a product without variants, or of the variant whose SKU this is; with `keep_more` a larger one stays.
    Raises NoSuchProduct, VariantNeeded, BasketFull, Unavailable."""
    product = prices.lookup(deps, [productid]).get(productid)
    named = sold_product(product, productid)
    written = _write(deps, userid, named, lambda present: max(quantity, present if keep_more else 0))
    return priced_item({**named, "quantity": written}, product)


def sold_product(product: dict[str, Any] | None, key: str) -> dict[str, str]:
    """`named_product` of what may go into a basket. Raises NoSuchProduct, VariantNeeded, NotSoldInCurrency."""
    if product is not None and product.get("sku", key) is None:
        raise VariantNeeded("It is sold by variant: put one of its SKUs into the basket.")
    if product is not None and (currency := product.get("not_sold_in")):
        raise NotSoldInCurrency(f"It is not sold in {currency}.")
    if product is None or not product.get("for_sale", True):
        raise NoSuchProduct("The shop does not sell it (any more).")
    return named_product(product, key)


def named_product(product: dict[str, Any], key: str) -> dict[str, str]:
    """The productid, and the SKU where it is another."""
    productid = product["productid"]
    return {"productid": productid} if productid == key else {"productid": productid, "sku": key}


def remove_item(deps: Dependencies, userid: str, productid: str) -> None:
    """Takes a product out; nothing happens when it is not there."""
    for _ in range(_MAX_ATTEMPTS):
        doc = deps.store.of_user(userid, PREFIX + productid)
        if doc is None:
            return
        try:
            deps.store.delete(doc)
        except (UpdateConflict, NoSuchDocument):
            continue
        return
    raise UpdateConflict("The basket changes too quickly; try again.")


def clear(deps: Dependencies, userid: str) -> None:
    """Empties the basket; may be repeated. 1 partition query, 1 write."""
    _delete(deps, BASKET_ITEM.among(deps.store.documents_with_prefix(userid, PREFIX)))


def remove_bought(
    deps: Dependencies, userid: str, productids: list[str], date: str, quantities: Mapping[str, int]
) -> None:
    """Takes out what was ordered on `date` (SKUs, or productids of what has no variants); what was put in later stays, however late and often
    this comes: of an item that was there, and is more by now, what is more than the `quantities` ordered. 1 partition query, 1 write."""
    docs = BASKET_ITEM.among(deps.store.documents_with_prefix(userid, PREFIX))
    ordered = [doc for doc in docs if basket_key(doc) in productids and created(doc) <= date]
    left = {
        doc["_id"]: doc["quantity"] - quantities.get(basket_key(doc), 0) if doc["updated"] > date else 0
        for doc in ordered
    }
    _delete(deps, [doc for doc in ordered if left[doc["_id"]] <= 0])
    less = [doc for doc in ordered if 0 < left[doc["_id"]] < doc["quantity"]]
    if less:
        deps.store.put_many({**doc, "quantity": left[doc["_id"]], "created": doc["updated"]} for doc in less)


def created(item: BasketItem) -> str:
    return item.get("created", item["updated"])


def _delete(deps: Dependencies, gone: list[BasketItem]) -> None:
    if gone:
        deps.store.put_many({"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in gone)


def merge_guest_basket(deps: Dependencies, userid: str, items: list[dict[str, Any]]) -> None:
    """At login: what was put aside as a guest joins the basket; merging the same again changes nothing.

    Unknown products are left out. 1 partition query and 1 write, whatever there is. Raises BasketFull, Unavailable.
    """
    known = deps.products.lookup([basket_key(item) for item in items])
    own = {
        basket_key(doc): doc for doc in BASKET_ITEM.among(deps.store.documents_with_prefix(userid, PREFIX))
    }
    wanted: dict[str, int] = {}
    for item in items:
        if (key := basket_key(item)) in known:
            wanted[key] = merged_quantity(wanted.get(key, 0), item["quantity"])
    if len(own.keys() | wanted.keys()) > MAX_BASKET_ITEMS:
        raise BasketFull(f"A basket holds at most {MAX_BASKET_ITEMS} products.")
    changed = []
    for key, guest in wanted.items():
        present = own.get(key)
        quantity = merged_quantity(present["quantity"] if present else 0, guest)
        if present is None or quantity != present["quantity"]:
            changed.append(item_document(userid, named_product(known[key], key), quantity, present))
    written = deps.store.put_many(changed) if changed else []
    for doc, row in zip(changed, written, strict=True):
        if row.error:
            _write(
                deps,
                userid,
                named_product(known[basket_key(doc)], basket_key(doc)),
                lambda own, guest=doc["quantity"]: merged_quantity(own, guest),
            )


def _write(deps: Dependencies, userid: str, named: dict[str, str], quantity_from: Any) -> int:
    """`quantity_from(present quantity or 0)` gives the new one, which is returned; again when another device was first."""
    docid = user_document(userid, PREFIX + basket_key(named))
    for _ in range(_MAX_ATTEMPTS):
        doc = BASKET_ITEM.typed(deps.store.get(docid))
        if doc is None and len(deps.store.documents_with_prefix(userid, PREFIX)) >= MAX_BASKET_ITEMS:
            raise BasketFull(f"A basket holds at most {MAX_BASKET_ITEMS} products.")
        quantity: int = quantity_from(doc["quantity"] if doc else 0)
        if deps.store.try_put(item_document(userid, named, quantity, doc)):
            return quantity
    raise UpdateConflict("The basket changes too quickly; try again.")


def item_document(
    userid: str, named: dict[str, str], quantity: int, present: BasketItem | None
) -> BasketItem:
    """An item as it is written over the `present` one."""
    docid = user_document(userid, PREFIX + basket_key(named))
    moment = timestamp()
    since = created(present) if present else moment
    item = BASKET_ITEM.build(docid, userid=userid, **named, quantity=quantity, updated=moment, created=since)
    return {**item, "_rev": present["_rev"]} if present else item
