"""A search as the shop's people arranged it: products that they pinned come first, and some queries lead elsewhere."""

from typing import Any

from services.products.actions.label_words import meant
from services.products.actions.query_counts import count
from services.products.actions.question import Listed, Question
from services.products.actions.search import rewrite_of
from services.products.actions.search import search as search_by_words
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.rules.prices import is_sold_in
from services.products.rules.publishing import is_public
from services.products.rules.rewriting import matched_words
from services.products.rules.search_rules import SearchRules
from shared.couch import altered, search_for

PINNED, AFTER = "pinned", "after"


def search(deps: Dependencies, asked: Question, visitor: str = "") -> Listed:
    """What `search` of the words finds, behind what is pinned for them. The database calls are those of the search, and 1 read
    for the first page of a query that products are pinned for."""
    if not asked.is_plain_search:
        return search_by_words(deps, asked)
    if isinstance(asked.cursor, dict):
        return _page_after(deps, asked, asked.cursor)
    if asked.cursor:
        return search_by_words(deps, asked)
    rules = deps.search_rules.get()
    pinned = _pinned(deps, rules, asked)
    listed = search_by_words(deps, altered(asked, limit=asked.limit - len(pinned)))
    if asked.analytics:
        count(deps, asked.q, listed, visitor)
    return _with_redirect(rules, asked, _with_pinned(deps, asked, listed, pinned) if pinned else listed)


def _pinned(deps: Dependencies, rules: SearchRules, asked: Question) -> list[Product]:
    """The pinned products that are still there, with room for one that was found."""
    pin = rules.pin_for(asked.q)
    if pin is None or asked.limit < 2:
        return []
    docs = deps.catalogue.follow_many(pin["places"])
    there = [docs[each] for each in pin["productids"] if each in docs and is_public(docs[each])]
    return [doc for doc in there if is_sold_in(doc, asked.currency or "")][: asked.limit - 1]


def _with_pinned(deps: Dependencies, asked: Question, listed: Listed, pinned: list[Product]) -> Listed:
    ids = [doc["productid"] for doc in pinned]
    more = dict(listed.more)
    if "total" in more:
        found = {doc["productid"] for doc in listed.docs}
        more["total"] += sum(
            doc["productid"] not in found and not _is_hit(deps, asked, doc) for doc in pinned
        )
    following = None if listed.next is None else {PINNED: ids, AFTER: listed.next}
    return Listed([*pinned, *_without(listed.docs, ids)], following, more)


def _page_after(deps: Dependencies, asked: Question, cursor: dict[str, Any]) -> Listed:
    listed = search_by_words(deps, altered(asked, cursor=cursor[AFTER]))
    following = None if listed.next is None else {PINNED: cursor[PINNED], AFTER: listed.next}
    return Listed(_without(listed.docs, cursor[PINNED]), following, listed.more)


def _without(docs: Any, productids: list[str]) -> list[Product]:
    return [doc for doc in docs if doc["productid"] not in productids]


def _is_hit(deps: Dependencies, asked: Question, doc: Product) -> bool:
    """Whether the words find a pinned product anyway, on a later page."""
    language = deps.catalogue.language
    query = meant(deps, search_for(asked.q))
    required = query.content_words(language)
    return len(matched_words(rewrite_of(deps, query), doc, query, language)) == len(required)


def _with_redirect(rules: SearchRules, asked: Question, listed: Listed) -> Listed:
    redirect = rules.redirect_for(asked.q)
    if redirect is None:
        return listed
    target = {name: redirect[name] for name in ("category", "address") if redirect.get(name)}
    return altered(listed, more=listed.more | {"redirect": target})
