"""Products of a category that has moved go where it is now: a part of them in each run of the worker, wherever it was interrupted."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from services.products.actions import catalogue
from services.products.actions.publishing import PAGE
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.documents import category_path, taxonomy_of
from services.products.rules.categories import final_place
from services.products.rules.product import checked, complete, content_of, content_tag
from shared.clock import iso
from shared.errors import AisleError

log = logging.getLogger(__name__)

MAX_MOVED = 300
UNPUBLISHED_FOR = timedelta(days=1)
"""So long after a move the products that the shop does not show are looked through too."""


def move_products(deps: Dependencies, now: datetime) -> int:
    """How many were moved. 1 partition query while no category has moved, else 1 global query besides, and what each product costs."""
    described = deps.category_documents.all()
    moves = {doc["path"]: doc["moved_to"] for doc in described if doc.get("moved_to")}
    if not moves:
        return 0
    newest = max(doc["edited"] for doc in described if doc.get("moved_to"))
    moved = 0
    for doc in _left_behind(deps, moves, unpublished=newest > iso(now - UNPUBLISHED_FOR)):
        moved += _move(deps, doc, moves, iso(now))
        if moved >= MAX_MOVED:
            break
    return moved


def _left_behind(deps: Dependencies, moves: dict[str, str], *, unpublished: bool) -> Iterator[Product]:
    """Products of categories that have moved, MAX_MOVED of each at most."""
    for row in deps.catalogue.categories((), None):
        if final_place(moves, category_path(row["key"])) is not None:
            docs = deps.catalogue.subtree(row["key"], MAX_MOVED, None).items
            yield from (doc for doc in docs if doc["taxonomy"] == row["key"])
    cursor, more = None, unpublished
    while more:
        page = deps.catalogue.unpublished(None, "", PAGE, cursor)
        yield from (
            doc for doc in page.items if final_place(moves, category_path(doc["taxonomy"])) is not None
        )
        cursor, more = page.next, page.next is not None


def _move(deps: Dependencies, doc: Product, moves: dict[str, str], date: str) -> int:
    """1, or 0 for a product that cannot be moved now: somebody edits it, or it does not fit there."""
    place = final_place(moves, category_path(doc["taxonomy"]))
    if place is None:
        return 0
    try:
        product = checked(content_of(doc) | {"taxonomy": taxonomy_of(place)})
        product = product._replace(content=complete(product.content, doc))
        catalogue.replace(deps, doc["productid"], product, content_tag(doc), date)
        return 1
    except AisleError as error:
        if error.status >= 500:
            raise
        log.warning("%s stays in its category: %s", doc["productid"], error.detail)
        return 0
