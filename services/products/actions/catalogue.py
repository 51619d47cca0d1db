"""What admins do to products: create, replace, move, delete."""

from collections.abc import Sequence

from services.products.actions.invalidation import invalidate
from services.products.actions.named_pictures import check_named
from services.products.dependencies import Dependencies
from services.products.documents import PRICE_CHANGE, partition_of, price_change_id, product_id
from services.products.rules import ledger
from services.products.rules.ledger import Line
from services.products.rules.product import complete, document, forward, replaced, same_content, still_matches
from shared.couch import Doc, UpdateConflict, document_id, split_id, time_ordered_id
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed

_MAX_ATTEMPTS = 5


class ProductExists(Conflict):
    code, title = "product_exists", "There is a product with this productid"


class NoSuchProduct(NotFound):
    code, title = "no_such_product", "No such product"


def create(deps: Dependencies, content: Doc, stock: int | None, date: str, request: str | None = None) -> Doc:
    """A new product and the stock it starts with; `request` makes a retry find what it made.

    Raises ProductExists, also when it is in another category; BadProduct for pictures that are not there.
    """
    check_named(deps, content)
    content = complete(content)
    productid = content["productid"]
    with deps.locks.hold(f"create:{productid}") as acquired:
        places = deps.catalogue.copies(productid, expected_id=product_id(content["taxonomy"], productid))
        made = [each for each in places if request and each.get("request") == request]
        if not acquired or (places and not made):
            raise _exists(productid)
        doc = made[0] if made else _create(deps, content, stock, date, request)
        _give_way_to_first(deps, doc)
    deps.vocabulary.replace([doc])
    invalidate(deps, [doc], menu=True)
    return doc


def _create(deps: Dependencies, content: Doc, stock: int | None, date: str, request: str | None) -> Doc:
    doc = document(content, date, request=request)
    if stock is not None:
        doc["stock"] = open_stock(deps, content, stock, date)
    try:
        return _put_over_forward(deps, doc)
    except UpdateConflict:
        raise _exists(content["productid"]) from None


def _put_over_forward(deps: Dependencies, doc: Doc) -> Doc:
    """Writes a product where it was not before, or was once: then its forward stands there, and gives way."""
    there = deps.catalogue.get_many([doc["_id"]]).get(doc["_id"])
    return deps.catalogue.put(doc if there is None else doc | {"_rev": there["_rev"]})


def _exists(productid: str) -> ProductExists:
    return ProductExists(f"There is a product {productid} already; PUT replaces it.")


def _give_way_to_first(deps: Dependencies, doc: Doc) -> None:
    """A creation that outlived its turn, or a cluster's late view, leaves two documents: the one written first stays."""
    places = deps.catalogue.copies(doc["productid"], expected_id=doc["_id"])
    first = min(places, key=lambda each: (each["edited"], each["_id"]), default=doc)
    if first["_id"] != doc["_id"]:
        deps.catalogue.delete(doc["_id"], doc["_rev"])
        raise _exists(doc["productid"])


def open_stock(deps: Dependencies, content: Doc, stock: int, date: str) -> int:
    """Brings the chain of a product that is about to be made to its first level, whatever an earlier product of this id left, and wherever."""
    line = Line(content["productid"], tuple(content["taxonomy"]), stock)
    move_stock(deps, line, line, date)
    _, head = deps.ledger.end(line)
    if head.level != stock:
        deps.ledger.append(line, stock - head.level, ledger.CREATED, time_ordered_id(), date)
    return stock


def replace(deps: Dependencies, productid: str, content: Doc, if_match: str | None, date: str) -> Doc:
    """New content for a product; another taxonomy moves it. Raises NoSuchProduct, PreconditionFailed when it changed since,
    BadProduct for pictures that are not there."""
    if content["productid"] != productid:
        raise Invalid(
            "The productid cannot change.", errors={"productid": [f"Must be {productid}, as in the path."]}
        )
    for _ in range(_MAX_ATTEMPTS):
        doc = _finish_moves(deps, productid, date, expected_id=product_id(content["taxonomy"], productid))
        if not still_matches(if_match, doc):
            raise PreconditionFailed("It changed since you read it: read it again, then repeat the change.")
        check_named(deps, content, doc)
        wanted = complete(content, doc)
        if same_content(doc, wanted):
            return doc
        try:
            return _changed(deps, doc, wanted, date)
        except UpdateConflict:
            continue
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def remove(deps: Dependencies, productid: str, if_match: str | None, date: str) -> None:
    """Deletes a product; its movements, reviews and old prices stay as history. Raises NoSuchProduct, PreconditionFailed."""
    for _ in range(_MAX_ATTEMPTS):
        doc = _finish_moves(deps, productid, date)
        if not still_matches(if_match, doc):
            raise PreconditionFailed("It changed since you read it: read it again, then repeat.")
        try:
            deps.catalogue.delete(doc["_id"], doc["_rev"])
        except UpdateConflict:
            continue
        deps.vocabulary.replace([], before=[doc])
        invalidate(deps, [doc], menu=True)
        return
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def finish_moves(deps: Dependencies, productid: str, date: str) -> Doc:
    """The product; what a crashed move left in its old category is cleared away. Raises NoSuchProduct."""
    return _finish_moves(deps, productid, date)


def follow(deps: Dependencies, product: Doc, date: str) -> Doc:
    """The product as it is now. What was written beside it while it moved to another category goes after it."""
    here = _finish_moves(deps, product["productid"], date)
    if here["_id"] != product["_id"]:
        _move_history(deps, product["taxonomy"], here["taxonomy"], product["productid"])
    return here


def _changed(deps: Dependencies, doc: Doc, content: Doc, date: str) -> Doc:
    if partition_of(doc["taxonomy"]) == partition_of(content["taxonomy"]):
        fresh = deps.catalogue.put(replaced(doc, content, date))
    else:
        fresh = _move(deps, doc, content, date)
    deps.vocabulary.replace([fresh], before=[doc])
    invalidate(deps, [doc, content])
    note_price(deps, doc, content, date)
    return fresh


def note_price(deps: Dependencies, before: Doc, content: Doc, date: str) -> None:
    """Old prices are kept as documents, one for each change."""
    change = price_change(before, content, date)
    if change:
        deps.catalogue.put_many([change])


def price_change(before: Doc, content: Doc, date: str) -> Doc | None:
    if before["price"] == content["price"]:
        return None
    taxonomy, productid = content["taxonomy"], content["productid"]
    return PRICE_CHANGE.new(
        price_change_id(taxonomy, productid, date), productid=productid, taxonomy=taxonomy,
        before=before["price"], after=content["price"], date=date,
    )  # fmt: skip


def _move(deps: Dependencies, doc: Doc, content: Doc, date: str) -> Doc:
    """To another category: stock and what lies beside it first, then the new place, then a forward in the old one.

    In between the product is in both places; every read shows it once, where it goes to (`deduplicate_moved`).
    """
    productid = doc["productid"]
    old, new = Line(productid, tuple(doc["taxonomy"]), 0), Line(productid, tuple(content["taxonomy"]), 0)
    move_stock(deps, old, new, date)
    _copy_history(deps, doc["taxonomy"], content["taxonomy"], productid)
    carried = {"stock": doc["stock"], "rating": doc["rating"], "rank": doc["rank"], "moved_from": doc["_id"]}
    fresh = document(content, date, **carried)
    fresh = _put_over_forward(deps, fresh)
    deps.catalogue.put(forward(doc, fresh["_id"], date))
    _move_history(deps, doc["taxonomy"], content["taxonomy"], productid)
    deps.menu.changed()
    return fresh


def move_stock(deps: Dependencies, old: Line, new: Line, date: str) -> None:
    """Closes the chain in the old category and goes on with it in the new one; a reader in between finishes it."""
    at, _ = deps.ledger.end(old)
    if at.taxonomy != new.taxonomy:
        deps.ledger.close(at, new.taxonomy, time_ordered_id(), date)
    deps.ledger.end(old)


def _copy_history(deps: Dependencies, old: Sequence[str], new: Sequence[str], productid: str) -> None:
    docs = [_in_category(doc, new) for doc in deps.catalogue.history(old, productid) if _is_history(doc)]
    if docs:
        deps.catalogue.put_many(docs)


def _move_history(deps: Dependencies, old: Sequence[str], new: Sequence[str], productid: str) -> None:
    """What was copied goes; a review written in between is copied first."""
    _copy_history(deps, old, new, productid)
    gone = [
        {"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True}
        for doc in deps.catalogue.history(old, productid)
        if _is_history(doc)
    ]
    if gone:
        deps.catalogue.put_many(gone)


def _is_history(doc: Doc) -> bool:
    return doc["type"] in ("review", "pricechange")


def _in_category(doc: Doc, taxonomy: Sequence[str]) -> Doc:
    _, key = split_id(doc["_id"])
    moved = {name: value for name, value in doc.items() if name != "_rev"}
    return moved | {"_id": document_id(partition_of(taxonomy), key), "taxonomy": list(taxonomy)}


def _places(deps: Dependencies, productid: str, expected_id: str | None = None) -> list[Doc]:
    places = deps.catalogue.copies(productid, expected_id)
    if not places:
        raise NoSuchProduct(f"There is no product {productid}.")
    return places


def _finish_moves(deps: Dependencies, productid: str, date: str, expected_id: str | None = None) -> Doc:
    first, *stale_copies = _places(deps, productid, expected_id)
    for doc in stale_copies:
        deps.catalogue.put(forward(doc, first["_id"], date))
        _move_history(deps, doc["taxonomy"], first["taxonomy"], productid)
    if stale_copies:
        invalidate(deps, stale_copies, menu=True)
    return first
