"""The wish list: one document for each product or variant, priced live when it is shown."""

from typing import Any

from services.users.actions.basket import Prices, named_product, priced_product, put_item
from services.users.dependencies import Dependencies
from services.users.documents import WISH, WISH_FIELDS, Wish, basket_key, user_document
from services.users.rules.accounts import MAX_WISHES
from services.users.rules.errors import NoSuchProduct
from shared.clock import timestamp
from shared.couch import NoSuchDocument, UpdateConflict
from shared.errors import Conflict, NotFound

PREFIX = "wish-"


class WishListFull(Conflict):
    code, title = "wish_list_full", "The wish list is full"


class NoSuchWish(NotFound):
    code, title = "no_such_wish", "It is not on the wish list"


def wish_list(deps: Dependencies, userid: str, prices: Prices) -> list[dict[str, Any]]:
    """The last added first, with today's price and stock. 1 partition query here, 1 global query at products. Raises Unavailable."""
    docs = WISH.among(deps.store.documents_with_prefix(userid, PREFIX))
    wishes = sorted(docs, key=lambda doc: (doc["added"], doc["_id"]), reverse=True)
    products = prices.lookup(deps, [basket_key(doc) for doc in wishes])
    return [_shown(WISH_FIELDS.shown(doc), products.get(basket_key(doc))) for doc in wishes]


def add(deps: Dependencies, userid: str, productid: str) -> dict[str, Any]:
    """Keeps a product, also one whose variant is not chosen yet, or a variant; again it changes nothing. Raises NoSuchProduct, WishListFull."""
    product = deps.products.lookup([productid]).get(productid)
    named = kept_product(product, productid)
    docid = user_document(userid, PREFIX + productid)
    present = deps.store.documents_with_prefix(userid, PREFIX)
    if len([doc for doc in present if doc["_id"] != docid]) >= MAX_WISHES:
        raise WishListFull(f"A wish list holds at most {MAX_WISHES} products.")
    doc = wish_document(userid, productid, named)
    if not deps.store.try_put(doc):
        doc = WISH.typed(deps.store.get(docid)) or doc
    return _shown(WISH_FIELDS.shown(doc), product)


def kept_product(product: dict[str, Any] | None, key: str) -> dict[str, str]:
    """`named_product` of what may be kept: also what is not for sale now, and a product whose variant is not chosen. Raises NoSuchProduct."""
    if product is None:
        raise NoSuchProduct("The shop does not sell it (any more).")
    return named_product(product, key)


def wish_document(userid: str, key: str, named: dict[str, str]) -> Wish:
    """A new wish as it is written."""
    return WISH.build(user_document(userid, PREFIX + key), userid=userid, **named, added=timestamp())


def remove(deps: Dependencies, userid: str, productid: str) -> None:
    """Takes a product off; nothing happens when it is not there."""
    doc = deps.store.of_user(userid, PREFIX + productid)
    if doc is not None:
        try:
            deps.store.delete(doc)
        except (NoSuchDocument, UpdateConflict):
            remove(deps, userid, productid)


def move_to_basket(deps: Dependencies, userid: str, productid: str) -> dict[str, Any]:
    """One of it goes into the basket, where more of it stay as they are; then it leaves the list. Raises NoSuchWish and what `put_item` raises."""
    if deps.store.of_user(userid, PREFIX + productid) is None:
        raise NoSuchWish("It may have been moved already.")
    item = put_item(deps, userid, productid, 1, keep_more=True)
    remove(deps, userid, productid)
    return item


def _shown(wish: dict[str, Any], product: dict[str, Any] | None) -> dict[str, Any]:
    """`available`: it can go into the basket as it is; without a `sku` of its own a product with variants cannot."""
    shown = priced_product(wish, product)
    needs_choice = product is not None and product.get("sku", "") is None
    if needs_choice and product is not None:
        shown |= {name: product.get(name) for name in ("name", "image", "price", "stock")}
    return shown | {"variant_needed": needs_choice}
