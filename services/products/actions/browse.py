"""Reading the catalogue: menu, lists, search, suggestions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from services.products.actions.filter_counts import counts_of_category
from services.products.documents import category_path
from services.products.rules import categories
from services.products.rules.facets import COUNTABLE, Filters
from services.products.rules.product import is_product, one_each, public
from services.products.rules.searching import (
    FACET_FIELDS,
    SORTS,
    did_you_mean,
    facets,
    price_bands,
    suggestions,
)
from services.products.store import Store
from services.products.store.kept_answers import Made
from services.products.store.menu import tag_of
from shared.couch import DatabaseUnavailable, Doc, Page, SearchPage, SearchQuery, StaleRows, search_for
from shared.errors import NotFound

DEPARTMENT_SECONDS = 30
"""A search index may be late after many writes: which products come first is asked for again so often."""


class NoSuchCategory(NotFound):
    code, title = "no_such_category", "No such category"


@dataclass(frozen=True)
class Question:
    """What a list of products is asked for. `cursor` is the database's."""

    category: tuple[str, ...] | None = None
    subcategories: bool = False
    q: str = ""
    brands: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()
    min_price: int | None = None
    max_price: int | None = None
    currency: str | None = None
    sort: str | None = None
    facets: tuple[str, ...] = ()
    stale_facets: bool = False
    limit: int = 20
    cursor: Any = None

    @property
    def one_category(self) -> bool:
        return self.category is not None and not self.subcategories

    @property
    def is_plain(self) -> bool:
        """No words, no filters."""
        return not self.q and not self.filtered

    @property
    def filtered(self) -> bool:
        prices = (self.min_price, self.max_price, self.currency)
        return bool(self.brands or self.colours or any(each is not None for each in prices))


@dataclass(frozen=True)
class Listed:
    """A list of products: documents, where the next page begins, and what goes along with them."""

    docs: Sequence[Doc]
    next: Any
    more: dict[str, Any]


def menu(store: Store, under: Sequence[str], depth: int | None) -> tuple[bytes, str]:
    """The category tree as JSON bytes and its ETag; no database call while the catalogue's version stays. Raises NoSuchCategory.

    While the database cannot count, the last one that is known serves.
    """
    question = f"{depth}:{category_path(under)}"
    version = store.menu.version()
    kept = store.menu.get(version, question) if version else None
    if kept:
        return kept
    try:
        rows = store.catalogue.categories(under, depth)
    except DatabaseUnavailable:
        if (known := store.menu.last(question)) is None:
            raise
        return known
    tree = categories.tree(rows, under)
    if under and not tree["count"]:
        raise NoSuchCategory(f"There is no category {category_path(under)!r}; GET /v1/categories lists them.")
    body = orjson.dumps(tree)
    return (body, tag_of(body)) if isinstance(rows, StaleRows) else store.menu.put(version, question, body)


def products(store: Store, asked: Question) -> Listed:
    """The cheapest way to answer: a partition's index (with counts that are kept), the tree of categories, or a search index."""
    if asked.one_category and not asked.q and set(asked.facets) <= COUNTABLE:
        counts = _counts(store, asked) if asked.facets else {}
        if counts is not None:
            return _category(store, asked, counts)
    if asked.stale_facets and asked.category and asked.subcategories and asked.is_plain and not asked.cursor:
        return _department(store, asked)
    if not asked.q and not asked.facets and not asked.filtered and asked.sort in (None, "relevance"):
        page = store.catalogue.subtree(asked.category or (), asked.limit, asked.cursor)
        return Listed(one_each(page.items), page.next, _crumbs(asked))
    return _search(store, asked)


def suggest(store: Store, text: str, limit: int) -> list[dict[str, Any]]:
    """Brands, categories and products for an unfinished query, in one call to the database."""
    query = search_for(text.rstrip(), counts=("brand_is", "category"))
    if not query.all_words:
        return []
    page = store.catalogue.search(query, limit, None)
    return suggestions(text, one_each(page.items), page.counts, limit)


def best_rated(store: Store, limit: int, cursor: Any) -> Page:
    """The leaderboard: by the average that is very likely exceeded, not the plain one."""
    return store.catalogue.best_rated(limit, cursor)


def lookup(store: Store, productids: Sequence[str]) -> dict[str, Any]:
    """{found: products, missing: ids}, in the order asked."""
    docs = store.catalogue.all_by_productid(productids)
    return {
        "found": [public(docs[each]) for each in dict.fromkeys(productids) if each in docs],
        "missing": [each for each in dict.fromkeys(productids) if each not in docs],
    }


def _counts(store: Store, asked: Question) -> dict[str, Any] | None:
    filters = Filters(asked.brands, asked.colours, asked.min_price, asked.max_price, asked.currency)
    return counts_of_category(
        store,
        asked.category or (),
        None if not asked.filtered else filters,
        asked.facets,
        allow_stale=asked.stale_facets,
    )


def _department(store: Store, asked: Question) -> Listed:
    """The first page of a category and all below it: which products, kept; the products themselves, as they are now. 1 read."""

    def make() -> Made:
        found = _search(store, asked)
        ids = [doc["_id"] for doc in found.docs]
        body = orjson.dumps({"ids": ids, "next": found.next, "more": found.more})
        return Made(body, up_to_date=True, empty=not ids)

    name = f"first page by {asked.sort} of {asked.limit} with {','.join(asked.facets)}"
    kept = store.kept_answers.get(asked.category or (), name, make, max_age=DEPARTMENT_SECONDS)
    listed = orjson.loads(kept.body)
    docs = store.catalogue.get_many(listed["ids"])
    present = [docs[each] for each in listed["ids"] if each in docs and is_product(docs[each])]
    return Listed(present, listed["next"], listed["more"])


def _category(store: Store, asked: Question, counts: dict[str, Any]) -> Listed:
    sort = asked.sort if asked.sort and asked.sort != "relevance" else "name"
    page = store.catalogue.category_by(
        sort, asked.category or (), _selector(asked), asked.limit, asked.cursor
    )
    return Listed(page.items, page.next, _crumbs(asked) | counts)


def _selector(asked: Question) -> Doc:
    selector: Doc = {}
    if asked.brands:
        selector["brand"] = {"$in": list(asked.brands)}
    if asked.colours:
        selector["colours"] = {"$elemMatch": {"$in": list(asked.colours)}}
    bounds = {"$gte": asked.min_price, "$lte": asked.max_price}
    if price := {operator: value for operator, value in bounds.items() if value is not None}:
        selector["price.amount"] = price
    if asked.currency:
        selector["price.currency"] = asked.currency
    return selector


def _search(store: Store, asked: Question) -> Listed:
    query = _query(asked)
    if asked.q.strip() and not query.all_words:
        return Listed([], None, {"total": 0, **_crumbs(asked)})
    bookmark, seen, forgiven = asked.cursor or (None, 0, store.vocabulary.unknown(query.words, query.prefix))
    page = _found(store, asked, query.forgiving(forgiven), bookmark)
    docs, seen = one_each(page.items), seen + len(page.items)
    more: dict[str, Any] = _crumbs(asked) | ({} if page.total is None else {"total": page.total})
    if asked.facets:
        more["facets"] = facets(asked.facets, page.counts, page.ranges)
    if forgiven:
        store.vocabulary.learn(docs)
        more |= {"did_you_mean": meant} if (meant := did_you_mean(query, docs)) else {}
    if page.cannot:
        more["cannot"] = list(page.cannot)
    ended = page.next is None or seen == page.total
    return Listed(docs, None if ended else [page.next, seen, sorted(forgiven)], more)


def _found(store: Store, asked: Question, query: SearchQuery, bookmark: str | None) -> SearchPage:
    if asked.one_category and not asked.facets:
        return store.catalogue.search_in_category(asked.category or (), query, asked.limit, bookmark)
    return store.catalogue.search(query, asked.limit, bookmark)


def _query(asked: Question) -> SearchQuery:
    currencies = (asked.currency,) if asked.currency else ()
    filters = {"brand_is": asked.brands, "colour": asked.colours, "currency": currencies}
    if asked.category and not (asked.one_category and not asked.facets):
        filters["category_is" if asked.one_category else "category"] = (category_path(asked.category),)
    ranges = (
        {}
        if asked.min_price is None and asked.max_price is None
        else {"price": (asked.min_price, asked.max_price)}
    )
    return search_for(
        asked.q,
        filters={name: values for name, values in filters.items() if values},
        ranges=ranges,
        sort=_sort(asked),
        counts=tuple(FACET_FIELDS[name] for name in asked.facets if name != "price"),
        bands={"price": price_bands()} if "price" in asked.facets else {},
    )


def _sort(asked: Question) -> str | None:
    """By relevance when there are words, else by name."""
    if asked.q:
        return SORTS[asked.sort or "relevance"]
    return SORTS[asked.sort if asked.sort and asked.sort != "relevance" else "name"]


def _crumbs(asked: Question) -> dict[str, Any]:
    return {"breadcrumbs": categories.breadcrumbs(asked.category)} if asked.category else {}
