"""What the shop does not show: listed for its staff, and shown by itself when its time has come."""

from datetime import datetime
from typing import Any

from services.products.actions.invalidation import invalidate_changed
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.rules.publishing import published, words_of
from shared.clock import iso
from shared.couch import PageOf

PAGE = 200


def unpublished(deps: Dependencies, reason: str, q: str, limit: int, cursor: Any) -> PageOf[Product]:
    """Products hidden for this reason, by name; with words, those that have them all at the beginning of words. 1 global query.

    The longest word is looked up, the others narrow the page: it may hold fewer than `limit` though another follows.
    """
    words = sorted(q.lower().split(), key=len, reverse=True)
    page = deps.catalogue.unpublished(reason, words[0] if words else "", limit, cursor)
    return PageOf([doc for doc in page.items if _has_all(doc, words[1:])], page.next)


def publish_due(deps: Dependencies, now: datetime) -> int:
    """Shows the products whose time has come; returns how many. One that is edited at the same moment waits for the next turn."""
    moment, count = iso(now), 0
    while docs := deps.catalogue.due_to_publish(moment, PAGE):
        fresh = [published(doc, moment) for doc in docs]
        written = deps.catalogue.put_many(fresh)
        changed = [(doc, new) for doc, new, row in zip(docs, fresh, written, strict=True) if not row.error]
        deps.vocabulary.replace([new for _, new in changed])
        invalidate_changed(deps, changed)
        count += len(changed)
        if len(docs) < PAGE or not changed:
            break
    return count


def _has_all(doc: Product, words: list[str]) -> bool:
    return all(any(each.startswith(word) for each in words_of(doc)) for word in words)
