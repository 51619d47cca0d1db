"""What admins do to products: create, replace, move, delete."""

import dataclasses
from collections.abc import Sequence

from services.products.actions.attributes import completed
from services.products.actions.invalidation import invalidate, invalidate_changed
from services.products.actions.named_pictures import check_named
from services.products.actions.skus import claim, own_skus, release
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.documents import partition_of, product_id
from services.products.rules import ledger
from services.products.rules.ledger import Head, Line
from services.products.rules.price_changes import price_changes
from services.products.rules.product import (
    Checked,
    changes_what_is_counted,
    document,
    forward,
    replaced,
    same_content,
    still_matches,
)
from services.products.rules.variants import skus_of
from shared.couch import Document, UpdateConflict, document_id, split_id, time_ordered_id
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed, Unavailable

_MAX_ATTEMPTS = 5
_LOCK_WAIT_SECONDS = 2


class ProductExists(Conflict):
    code, title = "product_exists", "There is a product with this productid"


class NoSuchProduct(NotFound):
    code, title = "no_such_product", "No such product"


def create(deps: Dependencies, product: Checked, date: str, request: str | None = None) -> Product:
    """A new product and the stock it starts with; `request` makes a retry find what it made.

    Raises ProductExists, also when it is in another category, SkuTaken, BadProduct for pictures that are not there, and Unavailable while
    another request creates it, or one that died less than a lock's lease ago.
    """
    check_named(deps, product.content)
    product = product._replace(content=completed(deps, product.content))
    content, productid = product.content, product.content["productid"]
    names = [f"create:{each}" for each in (productid, *own_skus(content))]
    with deps.locks.hold(*names, wait=_LOCK_WAIT_SECONDS) as acquired:
        if not acquired:
            raise Unavailable(f"{productid} is just being created; try again shortly.", retry_after=2)
        places = deps.catalogue.copies(productid, expected_id=product_id(content["taxonomy"], productid))
        made = [each for each in places if request and each.get("request") == request]
        if places and not made:
            raise _exists(productid)
        doc = made[0] if made else _create(deps, product, date, request)
        _give_way_to_first(deps, doc)
    deps.vocabulary.replace([doc])
    invalidate(deps, [doc], menu=True)
    return doc


def _create(deps: Dependencies, product: Checked, date: str, request: str | None) -> Product:
    content = product.content
    if skus := own_skus(content):
        claim(deps, content["productid"], skus)
    open_stocks(deps, first_levels(product), date)
    doc = document(content, date, stock=product.stock or 0, levels=product.stocks, request=request)
    try:
        return _put_over_forward(deps, doc)
    except UpdateConflict:
        raise _exists(content["productid"]) from None


def _put_over_forward(deps: Dependencies, doc: Product) -> Product:
    """Writes a product where it was not before, or was once: then its forward stands there, and gives way."""
    there = deps.catalogue.get_many([doc["_id"]]).get(doc["_id"])
    if there is not None:
        doc = {**doc, "_rev": there["_rev"]}
    return deps.catalogue.put(doc)


def _exists(productid: str) -> ProductExists:
    return ProductExists(f"There is a product {productid} already; PUT replaces it.")


def _give_way_to_first(deps: Dependencies, doc: Product) -> None:
    """A creation that outlived its turn, or a cluster's late view, leaves two documents: the one written first stays."""
    places = deps.catalogue.copies(doc["productid"], expected_id=doc["_id"])
    first = min(places, key=lambda each: (each["edited"], each["_id"]), default=doc)
    if first["_id"] != doc["_id"]:
        deps.catalogue.delete(doc["_id"], doc["_rev"])
        raise _exists(doc["productid"])


def first_levels(product: Checked) -> list[Line]:
    """What a product, or each of its variants, starts with, where that is known."""
    productid, taxonomy = product.content["productid"], tuple(product.content["taxonomy"])
    levels = {"": product.stock} if product.stock is not None else product.stocks
    return [
        Line(productid, taxonomy, level, "" if sku == productid else sku) for sku, level in levels.items()
    ]


def open_stocks(deps: Dependencies, lines: Sequence[Line], date: str) -> None:
    """Brings the chains of what is about to be made to their first level, whatever an earlier product left. Usually 1 write."""
    slots = [
        ledger.movement(Head(), line, line.quantity, ledger.CREATED, f"created {line.key}", date)
        for line in lines
    ]
    written = deps.ledger.write(slots) if slots else []
    for line, row in zip(lines, written, strict=True):
        if row.error or row.accepted:
            _open_stock(deps, line, date)
    deps.ledger.remember(
        {
            line: ledger.after(slot)
            for line, slot, row in zip(lines, slots, written, strict=True)
            if not (row.error or row.accepted)
        }
    )


def _open_stock(deps: Dependencies, line: Line, date: str) -> None:
    """The chain is there already: of an earlier product, perhaps of one that was moved."""
    move_stock(deps, line, line, date)
    _, head = deps.ledger.known_end(line)
    if head.level != line.quantity:
        deps.ledger.append(line, line.quantity - head.level, ledger.CREATED, time_ordered_id(), date)


def replace(
    deps: Dependencies,
    productid: str,
    product: Checked,
    if_match: str | None,
    date: str,
    by: str = "",
    *,
    bulk_edits: Sequence[str] = (),
) -> Product:
    """New content for a product; another taxonomy moves it. A variant that is new has the stock that is given. `bulk_edits` are
    noted with it; `by` is whom the history of prices names.

    Raises NoSuchProduct, SkuTaken, PreconditionFailed when it changed since, BadProduct for pictures that are not there.
    """
    content = product.content
    if content["productid"] != productid:
        raise Invalid(
            "The productid cannot change.", errors={"productid": [f"Must be {productid}, as in the path."]}
        )
    for _ in range(_MAX_ATTEMPTS):
        doc = _by_its_own_id(
            _finish_moves(deps, productid, date, expected_id=product_id(content["taxonomy"], productid)),
            productid,
        )
        wanted = completed(deps, content, doc)
        if same_content(doc, wanted):  # also of what was sent again, since its answer was lost
            return doc
        if not still_matches(if_match, doc):
            raise PreconditionFailed("It changed since you read it: read it again, then repeat the change.")
        check_named(deps, content, doc)
        try:
            return _changed(deps, doc, product._replace(content=wanted), date, by, bulk_edits)
        except UpdateConflict:
            continue
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def remove(deps: Dependencies, productid: str, if_match: str | None, date: str) -> None:
    """Deletes a product; its movements, reviews and old prices stay as history. Raises NoSuchProduct, PreconditionFailed."""
    for _ in range(_MAX_ATTEMPTS):
        doc = _by_its_own_id(_finish_moves(deps, productid, date), productid)
        if not still_matches(if_match, doc):
            raise PreconditionFailed("It changed since you read it: read it again, then repeat.")
        try:
            deps.catalogue.delete(doc["_id"], doc["_rev"])
        except UpdateConflict:
            continue
        deps.vocabulary.replace([], before=[doc])
        deps.suggestion_cache.clear()
        invalidate(deps, [doc], menu=True)
        release_if_any(deps, doc["productid"], own_skus(doc))
        return
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def finish_moves(deps: Dependencies, productid: str, date: str) -> Product:
    """The product that this productid or SKU is of; what a crashed move left in its old category is cleared away. Raises NoSuchProduct."""
    return _finish_moves(deps, productid, date)


def current(deps: Dependencies, keys: Sequence[str]) -> dict[str, Product]:
    """The products that these productids or SKUs are of, for who changes their stock and nothing of them: chains of movements are followed
    wherever they go on, so an index that is behind will do. 1 global query, 1 more when one is not in the index yet."""
    found = deps.catalogue.all_by_productid(keys)
    if missing := [each for each in keys if each not in found]:
        found |= deps.catalogue.all_by_productid(missing, allow_stale=False)
    return found


def current_one(deps: Dependencies, key: str) -> Product:
    """Raises NoSuchProduct."""
    found = current(deps, [key])
    if key not in found:
        raise NoSuchProduct(f"There is no product {key}.")
    return found[key]


def follow(deps: Dependencies, product: Product, date: str) -> Product:
    """The product as it is now. What was written beside it while it moved to another category goes after it."""
    here = _finish_moves(deps, product["productid"], date)
    if here["_id"] != product["_id"]:
        _move_history(deps, product["taxonomy"], here["taxonomy"], product["productid"])
    return here


def _by_its_own_id(doc: Product, productid: str) -> Product:
    """Raises NoSuchProduct where the id is a SKU: what is changed is named by its productid."""
    if doc["productid"] != productid:
        raise NoSuchProduct(f"{productid} is a variant of {doc['productid']}: change that product.")
    return doc


def _changed(
    deps: Dependencies, doc: Product, product: Checked, date: str, by: str, bulk_edits: Sequence[str] = ()
) -> Product:
    content = product.content
    levels = _other_variants(deps, doc, product, date) if changes_what_is_counted(doc, content) else None
    fresh = replaced(doc, content, date, levels)
    if bulk_edits:
        fresh["bulk_edits"] = list(bulk_edits)
    if partition_of(doc["taxonomy"]) == partition_of(content["taxonomy"]):
        fresh = deps.catalogue.put(fresh)
    else:
        fresh = _move(deps, doc, fresh, date)
    deps.vocabulary.replace([fresh], before=[doc])
    invalidate_changed(deps, [(doc, fresh)])
    if changes := price_changes(doc, content, date, by):
        deps.catalogue.put_many(changes)
    release_if_any(deps, doc["productid"], [sku for sku in own_skus(doc) if sku not in skus_of(content)])
    return fresh


def _other_variants(deps: Dependencies, doc: Product, product: Checked, date: str) -> dict[str, int]:
    """Makes a product ready to be sold under other SKUs: they are claimed, and the new ones have their first stock; how many of each are left."""
    content, productid = product.content, doc["productid"]
    present = skus_of(doc) or [productid]
    added = [sku for sku in own_skus(content) if sku not in present]
    if added:
        with deps.locks.hold(*(f"create:{sku}" for sku in added), wait=_LOCK_WAIT_SECONDS) as acquired:
            if not acquired:
                raise Unavailable(
                    f"One of the new SKUs of {productid} is just being given to a product; try again shortly.",
                    retry_after=2,
                )
            claim(deps, productid, added)
    opened = {sku: level for sku, level in product.stocks.items() if sku not in present}
    here = Checked(content | {"taxonomy": doc["taxonomy"]}, None, opened)
    open_stocks(deps, first_levels(here), date)
    return deps.ledger.levels(doc["taxonomy"], productid)


def release_if_any(deps: Dependencies, productid: str, skus: Sequence[str]) -> None:
    if skus:
        release(deps, productid, skus)


def _move(deps: Dependencies, doc: Product, fresh: Product, date: str) -> Product:
    """To another category: stock and what lies beside it first, then the new place, then a forward in the old one.

    In between the product is in both places; every read shows it once, where it goes to (`deduplicate_moved`).
    """
    productid, taxonomy = doc["productid"], fresh["taxonomy"]
    move_stocks(deps, lines_of(deps, doc, fresh), taxonomy, date)
    _copy_history(deps, doc["taxonomy"], taxonomy, productid)
    moved: Product = {**fresh, "_id": product_id(taxonomy, productid), "moved_from": doc["_id"]}
    moved.pop("_rev", None)
    moved.pop("request", None)
    fresh = _put_over_forward(deps, moved)
    deps.catalogue.put(forward(doc, fresh["_id"], date))
    _move_history(deps, doc["taxonomy"], taxonomy, productid)
    deps.menu.changed()
    return fresh


def move_stock(deps: Dependencies, old: Line, new: Line, date: str) -> None:
    """Closes the chain in the old category and goes on with it in the new one; a reader in between finishes it."""
    at, _ = deps.ledger.end(old)
    if at.taxonomy != new.taxonomy:
        deps.ledger.close(at, new.taxonomy, time_ordered_id(), date)
    deps.ledger.end(old)


def lines_of(deps: Dependencies, doc: Product, fresh: Product) -> list[Line]:
    """All of a product that has stock, or might be asked for where it is now. 1 partition query."""
    productid, taxonomy = doc["productid"], tuple(doc["taxonomy"])
    skus = [*(skus_of(doc) or [productid]), *skus_of(fresh), *deps.ledger.levels(taxonomy, productid)]
    return [Line(productid, taxonomy, 0, "" if sku == productid else sku) for sku in dict.fromkeys(skus)]


def move_stocks(deps: Dependencies, lines: Sequence[Line], taxonomy: Sequence[str], date: str) -> None:
    """As `move_stock`, of all variants of a product. Usually 2 writes, and 1 partition query for each chain whose end nobody remembers."""
    heads = deps.ledger.cached_heads(lines)
    found = {line: (line, heads[line]) if line in heads else deps.ledger.end(line) for line in lines}
    ends = {line: end for line, end in found.items() if end[0].taxonomy != tuple(taxonomy)}
    closings = [deps.ledger.closing(at, head, taxonomy, date) for at, head in ends.values()]
    written = deps.ledger.write(closings) if closings else []
    arrivals, rest = [], []
    for line, closing, row in zip(ends, closings, written, strict=True):
        there = dataclasses.replace(line, taxonomy=tuple(taxonomy))
        if not deps.ledger.is_own(closing, row):
            rest.append((line, there))
        elif closing["delta"]:
            arrivals.append((closing, there, deps.ledger.arrival(closing, there, Head())))
    written = deps.ledger.write([doc for *_, doc in arrivals]) if arrivals else []
    for (closing, there, doc), row in zip(arrivals, written, strict=True):
        if not deps.ledger.is_own(doc, row):
            deps.ledger.open_moved(closing, there)
    for line, there in rest:
        move_stock(deps, line, there, date)


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


def _is_history(doc: Document) -> bool:
    return doc["type"] in ("review", "pricechange", "productnote")


def _in_category(doc: Document, taxonomy: Sequence[str]) -> Document:
    _, key = split_id(doc["_id"])
    moved = {name: value for name, value in doc.items() if name != "_rev"}
    return moved | {"_id": document_id(partition_of(taxonomy), key), "taxonomy": list(taxonomy)}


def _places(deps: Dependencies, productid: str, expected_id: str | None = None) -> list[Product]:
    places = deps.catalogue.copies(productid, expected_id)
    if not places:
        raise NoSuchProduct(f"There is no product {productid}.")
    return [doc for doc in places if doc["productid"] == places[0]["productid"]]


def _finish_moves(deps: Dependencies, productid: str, date: str, expected_id: str | None = None) -> Product:
    first, *stale_copies = _places(deps, productid, expected_id)
    for doc in stale_copies:
        deps.catalogue.put(forward(doc, first["_id"], date))
        _move_history(deps, doc["taxonomy"], first["taxonomy"], doc["productid"])
    if stale_copies:
        invalidate(deps, stale_copies, menu=True)
    return first
