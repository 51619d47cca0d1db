"""What admins do to products: create, replace, move, delete."""

from collections.abc import Sequence

from services.products.documents import PRICE_CHANGE, partition_of, price_change_id, product_id
from services.products.rules import ledger
from services.products.rules.ledger import Line
from services.products.rules.product import document, forward, replaced, same_content, still_matches
from services.products.store import Store
from shared.couch import Doc, UpdateConflict, document_id, split_id, time_ordered_id
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed

_TRIES = 5


class ProductExists(Conflict):
    code, title = "product_exists", "There is a product with this productid"


class NoSuchProduct(NotFound):
    code, title = "no_such_product", "No such product"


def create(store: Store, content: Doc, stock: int | None, date: str, request: str | None = None) -> Doc:
    """A new product and the stock it starts with; `request` makes a retry find what it made.

    Raises ProductExists, also when it is in another category.
    """
    productid = content["productid"]
    with store.locks.hold(f"create:{productid}") as acquired:
        places = store.catalogue.places(productid, hoped=product_id(content["taxonomy"], productid))
        made = [each for each in places if request and each.get("request") == request]
        if not acquired or (places and not made):
            raise _exists(productid)
        doc = made[0] if made else _create(store, content, stock, date, request)
        _yield_to_a_rival(store, doc)
    store.vocabulary.learn([doc])
    store.menu.changed()
    store.answer_cache.changed([doc["taxonomy"]])
    return doc


def _create(store: Store, content: Doc, stock: int | None, date: str, request: str | None) -> Doc:
    doc = document(content, date, request=request)
    if stock is not None:
        doc["stock"] = open_stock(store, content, stock, date)
    try:
        return _put_in_place(store, doc)
    except UpdateConflict:
        raise _exists(content["productid"]) from None


def _put_in_place(store: Store, doc: Doc) -> Doc:
    """Writes a product where it was not before, or was once: then its forward stands there, and gives way."""
    there = store.catalogue.get_many([doc["_id"]]).get(doc["_id"])
    return store.catalogue.put(doc if there is None else doc | {"_rev": there["_rev"]})


def _exists(productid: str) -> ProductExists:
    return ProductExists(f"There is a product {productid} already; PUT replaces it.")


def _yield_to_a_rival(store: Store, doc: Doc) -> None:
    """A creation that outlived its turn, or a cluster's late view, leaves two documents: the one written first stays."""
    places = store.catalogue.places(doc["productid"], hoped=doc["_id"])
    first = min(places, key=lambda each: (each["edited"], each["_id"]), default=doc)
    if first["_id"] != doc["_id"]:
        store.catalogue.delete(doc["_id"], doc["_rev"])
        raise _exists(doc["productid"])


def open_stock(store: Store, content: Doc, stock: int, date: str) -> int:
    """Brings the chain of a product that is about to be made to its first level, whatever an earlier product of this id left, and wherever."""
    line = Line(content["productid"], tuple(content["taxonomy"]), stock)
    move_stock(store, line, line, date)
    _, head = store.ledger.end(line)
    if head.level != stock:
        store.ledger.append(line, stock - head.level, ledger.CREATED, time_ordered_id(), date)
    return stock


def replace(store: Store, productid: str, content: Doc, if_match: str | None, date: str) -> Doc:
    """New content for a product; another taxonomy moves it. Raises NoSuchProduct, PreconditionFailed when it changed since."""
    if content["productid"] != productid:
        raise Invalid(
            "The productid cannot change.", errors={"productid": [f"Must be {productid}, as in the path."]}
        )
    for _ in range(_TRIES):
        doc = _only_place(store, productid, date, hoped=product_id(content["taxonomy"], productid))
        if not still_matches(if_match, doc):
            raise PreconditionFailed("It changed since you read it: read it again, then repeat the change.")
        if same_content(doc, content):
            return doc
        try:
            return _changed(store, doc, content, date)
        except UpdateConflict:
            continue
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def remove(store: Store, productid: str, if_match: str | None, date: str) -> None:
    """Deletes a product; its movements, reviews and old prices stay as history. Raises NoSuchProduct, PreconditionFailed."""
    for _ in range(_TRIES):
        doc = _only_place(store, productid, date)
        if not still_matches(if_match, doc):
            raise PreconditionFailed("It changed since you read it: read it again, then repeat.")
        try:
            store.catalogue.delete(doc["_id"], doc["_rev"])
        except UpdateConflict:
            continue
        store.menu.changed()
        store.answer_cache.changed([doc["taxonomy"]])
        return
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def finish_moves(store: Store, productid: str, date: str) -> Doc:
    """The product; what a crashed move left in its old category is cleared away. Raises NoSuchProduct."""
    return _only_place(store, productid, date)


def follow(store: Store, product: Doc, date: str) -> Doc:
    """The product as it is now. What was written beside it while it moved to another category goes after it."""
    here = _only_place(store, product["productid"], date)
    if here["_id"] != product["_id"]:
        _clear_beside(store, product["taxonomy"], here["taxonomy"], product["productid"])
    return here


def _changed(store: Store, doc: Doc, content: Doc, date: str) -> Doc:
    if partition_of(doc["taxonomy"]) == partition_of(content["taxonomy"]):
        fresh = store.catalogue.put(replaced(doc, content, date))
    else:
        fresh = _move(store, doc, content, date)
    store.vocabulary.learn([fresh])
    store.answer_cache.changed([doc["taxonomy"], content["taxonomy"]])
    note_price(store, doc, content, date)
    return fresh


def note_price(store: Store, before: Doc, content: Doc, date: str) -> None:
    """Old prices are kept as documents, one for each change."""
    change = price_change(before, content, date)
    if change:
        store.catalogue.put_many([change])


def price_change(before: Doc, content: Doc, date: str) -> Doc | None:
    if before["price"] == content["price"]:
        return None
    taxonomy, productid = content["taxonomy"], content["productid"]
    return PRICE_CHANGE.new(
        price_change_id(taxonomy, productid, date), productid=productid, taxonomy=taxonomy,
        before=before["price"], after=content["price"], date=date,
    )  # fmt: skip


def _move(store: Store, doc: Doc, content: Doc, date: str) -> Doc:
    """To another category: stock and what lies beside it first, then the new place, then a forward in the old one.

    In between the product is in both places; every read shows it once, where it goes to (`deduplicate_moved`).
    """
    productid = doc["productid"]
    old, new = Line(productid, tuple(doc["taxonomy"]), 0), Line(productid, tuple(content["taxonomy"]), 0)
    move_stock(store, old, new, date)
    _copy_beside(store, doc["taxonomy"], content["taxonomy"], productid)
    carried = {"stock": doc["stock"], "rating": doc["rating"], "rank": doc["rank"], "moved_from": doc["_id"]}
    fresh = document(content, date, **carried)
    fresh = _put_in_place(store, fresh)
    store.catalogue.put(forward(doc, fresh["_id"], date))
    _clear_beside(store, doc["taxonomy"], content["taxonomy"], productid)
    store.menu.changed()
    return fresh


def move_stock(store: Store, old: Line, new: Line, date: str) -> None:
    """Closes the chain in the old category and goes on with it in the new one; whoever reads in between finishes it."""
    at, _ = store.ledger.end(old)
    if at.taxonomy != new.taxonomy:
        store.ledger.close(at, new.taxonomy, time_ordered_id(), date)
    store.ledger.end(old)


def _copy_beside(store: Store, old: Sequence[str], new: Sequence[str], productid: str) -> None:
    docs = [_elsewhere(doc, new) for doc in store.catalogue.beside(old, productid) if _moves(doc)]
    if docs:
        store.catalogue.put_many(docs)


def _clear_beside(store: Store, old: Sequence[str], new: Sequence[str], productid: str) -> None:
    """What was copied goes; a review written in between is copied first."""
    _copy_beside(store, old, new, productid)
    gone = [
        {"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True}
        for doc in store.catalogue.beside(old, productid)
        if _moves(doc)
    ]
    if gone:
        store.catalogue.put_many(gone)


def _moves(doc: Doc) -> bool:
    return doc["type"] in ("review", "pricechange")


def _elsewhere(doc: Doc, taxonomy: Sequence[str]) -> Doc:
    _, key = split_id(doc["_id"])
    moved = {name: value for name, value in doc.items() if name != "_rev"}
    return moved | {"_id": document_id(partition_of(taxonomy), key), "taxonomy": list(taxonomy)}


def _places(store: Store, productid: str, hoped: str | None = None) -> list[Doc]:
    places = store.catalogue.places(productid, hoped)
    if not places:
        raise NoSuchProduct(f"There is no product {productid}.")
    return places


def _only_place(store: Store, productid: str, date: str, hoped: str | None = None) -> Doc:
    first, *left_behind = _places(store, productid, hoped)
    for doc in left_behind:
        store.catalogue.put(forward(doc, first["_id"], date))
        _clear_beside(store, doc["taxonomy"], first["taxonomy"], productid)
    if left_behind:
        store.menu.changed()
        store.answer_cache.changed([doc["taxonomy"] for doc in left_behind])
    return first
