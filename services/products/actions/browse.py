"""Reading the catalogue: menu, lists, what a visitor looks up."""

from collections.abc import Sequence
from typing import Any

import orjson

from services.products.actions.filter_counts import Counts, counts_of_category
from services.products.actions.merchandising import search
from services.products.actions.query_counts import count_found
from services.products.actions.question import Listed, Question, crumbs
from services.products.actions.search import search_query
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.documents import category_path, partition_of
from services.products.price_fields import price_name
from services.products.rules import categories
from services.products.rules.facets import Filters, counts_in_category, is_pair
from services.products.rules.prices import PriceContext, is_sold_in
from services.products.rules.product import MAX_PARTITION_KEY, deduplicate_moved, is_product, offered
from services.products.rules.publishing import is_public
from services.products.rules.variants import cost_fields, variants_of
from services.products.store.answer_cache import Computed
from services.products.store.menu import tag_of
from shared.couch import DatabaseUnavailable, Doc, PageOf, SearchUnavailable, StaleRows, altered
from shared.errors import NotFound

NOT_SEARCHED = "not_searched"
WITHOUT_SEARCH = ("filter or sort this list while the search engine does not answer",)

UNCOUNTED = Counts({}, outdated=False)
"""Beside a list without facets."""

DEPARTMENT_SECONDS = 30
"""A search index may be late after many writes: which products come first is asked for again so often."""


class NoSuchCategory(NotFound):
    code, title = "no_such_category", "No such category"


def menu(
    deps: Dependencies, under: Sequence[str], depth: int | None, language: str = ""
) -> tuple[bytes, str]:
    """The category tree as JSON bytes and its ETag; no database call while the catalogue's version stays. Raises NoSuchCategory.

    While the database cannot count, the last one that is known serves.
    """
    described = deps.categories.loaded()
    language = language if described.is_translated(language) else ""
    question = f"{depth}{language}:{deps.categories.version()}:{category_path(under)}"
    version = deps.menu.version()
    kept = deps.menu.get(version, question) if version else None
    if kept:
        return kept
    try:
        rows = deps.catalogue.categories(under, depth)
    except DatabaseUnavailable:
        if (known := deps.menu.last(question)) is None:
            raise
        return known
    tree = categories.tree(rows, under, described, language)
    if under and not tree["count"]:
        raise NoSuchCategory(f"There is no category {category_path(under)!r}; GET /v1/categories lists them.")
    body = orjson.dumps(tree)
    if isinstance(rows, StaleRows):
        return body, tag_of(body)
    return deps.menu.put(version, question, body, is_sure=deps.catalogue.has_one_copy)


def counts_beside(deps: Dependencies, asked: Question) -> Counts | None:
    """What is counted beside the products of one category, from values that are kept; None where a search finds and counts them. No database
    call, or 1 partition query."""
    if not asked.one_category or asked.q or not counts_in_category(asked.facets):
        return None
    if not asked.facets:
        return UNCOUNTED
    filters = Filters(asked.choices, asked.min_price, asked.max_price, asked.currency, asked.group)
    return counts_of_category(
        deps, asked.category or (), filters, asked.facets, allow_stale=asked.stale_facets
    )


def is_kept_department(asked: Question) -> bool:
    """Whether the first page of a category and all below it may be one that is kept."""
    return (
        asked.stale_facets
        and bool(asked.category)
        and asked.subcategories
        and asked.is_plain
        and not asked.cursor
    )


def products(deps: Dependencies, asked: Question, visitor: str = "") -> Listed:
    """`products_beside` what is counted for it here."""
    return products_beside(deps, asked, counts_beside(deps, asked), visitor)


def products_beside(deps: Dependencies, asked: Question, counts: Counts | None, visitor: str = "") -> Listed:
    """The cheapest way to answer: a partition's index (with its `counts_beside`), the tree of categories, or a search index.

    `visitor`: the address that searches, so that who searches twice counts once. While the search engine behind the database is away
    a category and all below it is listed without filters, in the order of categories. Raises SearchUnavailable for all else that
    only a search finds.
    """
    if isinstance(asked.cursor, dict) and NOT_SEARCHED in asked.cursor:
        return _listed_without_search(deps, altered(asked, cursor=asked.cursor[NOT_SEARCHED]))
    try:
        return _products(deps, asked, counts, visitor)
    except SearchUnavailable:
        if not asked.is_plain or asked.cursor:
            raise
        return _listed_without_search(deps, asked)


def _products(deps: Dependencies, asked: Question, counts: Counts | None, visitor: str) -> Listed:
    if counts is not None:
        return _category(deps, asked, counts)
    if is_kept_department(asked):
        return _department(deps, asked)
    by_category = asked.is_plain and asked.sort in (None, "relevance")
    if by_category and not asked.facets and (asked.currency is None or asked.currency_is_default):
        return _subtree(deps, asked)
    return search(deps, asked, visitor)


def count_repeated(deps: Dependencies, asked: Question, found: int, visitor: str) -> None:
    """Counts a search whose list was made before. No database call."""
    if asked.is_plain_search and asked.analytics and not asked.cursor:
        count_found(deps, asked.q, found, visitor)


def _listed_without_search(deps: Dependencies, asked: Question) -> Listed:
    """Says so, and is not to be kept."""
    found = _subtree(deps, asked)
    following = None if found.next is None else {NOT_SEARCHED: found.next}
    more = found.more | {"facets": {}, "unsupported": list(WITHOUT_SEARCH), "cannot": list(WITHOUT_SEARCH)}
    return Listed(found.docs, following, more, outdated=True)


def _subtree(deps: Dependencies, asked: Question) -> Listed:
    page = deps.catalogue.subtree(asked.category or (), asked.limit, asked.cursor)
    docs = [doc for doc in deduplicate_moved(page.items) if is_sold_in(doc, asked.currency or "")]
    return Listed(docs, page.next, crumbs(asked))


def best_rated(deps: Dependencies, limit: int, cursor: Any, currency: str) -> PageOf[Product]:
    """The leaderboard: by the average that is very likely exceeded, not the plain one. A page has what is sold in the currency."""
    page = deps.catalogue.best_rated(limit, cursor)
    return altered(page, items=[doc for doc in page.items if is_sold_in(doc, currency)])


def lookup(
    deps: Dependencies, productids: Sequence[str], context: PriceContext, *, costs: bool = False
) -> dict[str, Any]:
    """{found: products as they are bought by each id, missing: ids}, in the order asked; what the shop does not show is missing. `costs`: with
    what one costs the shop."""
    known = deps.catalogue.all_to_sell(productids)
    docs = {each: doc for each, doc in known.items() if is_public(doc)}
    there = [each for each in dict.fromkeys(productids) if each in docs]
    offers = [offered(docs[each], each, context) for each in there]
    if costs:
        offers = [
            offer | cost_fields(docs[each], each, context) for each, offer in zip(there, offers, strict=True)
        ]
    return {
        "found": offers,
        "missing": [each for each in dict.fromkeys(productids) if each not in docs],
    }


def offers_in(deps: Dependencies, taxonomy: Sequence[str], limit: int, context: PriceContext) -> list[Doc]:
    """What is sold of one category, each variant by itself, of so many products at most, the cheapest first. 1 partition query; none for what
    cannot be one."""
    if not all(taxonomy) or len(partition_of(taxonomy).encode()) > MAX_PARTITION_KEY:
        return []
    docs = deps.catalogue.cheapest_first(taxonomy, limit)
    return [
        offered(doc, key, context)
        for doc in docs
        for key in ([each["sku"] for each in variants_of(doc)] or [doc["productid"]])
    ]


def _department(deps: Dependencies, asked: Question) -> Listed:
    """The first page of a category and all below it: which products, kept; the products themselves, as they are now. 1 read."""

    def make() -> Computed:
        found = search(deps, asked)
        ids = [doc["_id"] for doc in found.docs]
        body = orjson.dumps({"ids": ids, "next": found.next, "more": found.more})
        return Computed(body, up_to_date=True, empty=not ids)

    currency = f" in {asked.currency}" if asked.currency else ""
    language = f" in {deps.catalogue.language.code}" if deps.catalogue.is_sorted_by_search else ""
    group = f" for {asked.group}" if asked.group else ""
    name = f"first page by {asked.sort} of {asked.limit} with {','.join(asked.facets)}{currency}{language}{group}"
    kept = deps.answer_cache.get(asked.category or (), name, make, max_age=DEPARTMENT_SECONDS)
    listed = orjson.loads(kept.body)
    docs = deps.catalogue.to_show(listed["ids"])
    there = [docs[each] for each in listed["ids"] if each in docs]
    present = [doc for doc in there if is_product(doc) and is_public(doc)]
    return Listed(present, listed["next"], listed["more"], kept.outdated)


def _category(deps: Dependencies, asked: Question, counts: Counts) -> Listed:
    """By a sorted index; where it does not hold what filters, by the search index."""
    if _needs_search(asked) or (deps.catalogue.is_sorted_by_search and _is_by_name(asked)):
        query = search_query(altered(asked, facets=()))
        found = deps.catalogue.search_in_category(asked.category or (), query, asked.limit, asked.cursor)
        return Listed(found.items, found.next, crumbs(asked) | counts.values, counts.outdated)
    sort = asked.sort if asked.sort and asked.sort != "relevance" else "name"
    if sort in ("price", "-price"):
        bounds = price_name(asked.currency, asked.group), asked.min_price, asked.max_price
        page = deps.catalogue.category_by_price(
            asked.category or (), *bounds, asked.limit, asked.cursor, descending=sort == "-price"
        )
        return Listed(page.items, page.next, crumbs(asked) | counts.values, counts.outdated)
    page = deps.catalogue.category_by(sort, asked.category or (), _selector(asked), asked.limit, asked.cursor)
    return Listed(page.items, page.next, crumbs(asked) | counts.values, counts.outdated)


def _needs_search(asked: Question) -> bool:
    """Whether the sorted indexes do not hold what is asked: members of an object, values in the order of prices, each product's own
    price, a customer group's."""
    by_price = asked.sort in ("price", "-price")
    bounded = asked.min_price is not None or asked.max_price is not None
    return (
        any(map(is_pair, asked.choices))
        or (bool(asked.choices) and by_price)
        or (bounded and not by_price and (asked.currency is None or bool(asked.group)))
    )


def _is_by_name(asked: Question) -> bool:
    return asked.sort in (None, "relevance", "name", "-name")


def _selector(asked: Question) -> Doc:
    selector: Doc = {}
    if brands := asked.choices.get("brand"):
        selector["brand"] = {"$in": list(brands)}
    if colours := asked.choices.get("colour"):
        selector["colours"] = {"$elemMatch": {"$in": list(colours)}}
    if asked.currency:
        bounds = {"$gte": asked.min_price, "$lte": asked.max_price}
        price = {operator: value for operator, value in bounds.items() if value is not None}
        selector["$or"] = _sold_in(asked.currency, price or {"$exists": True})
    return selector


def _sold_in(currency: str, condition: Doc) -> list[Doc]:
    """Where a price in this currency meets the condition: that of a sale, the regular one, or that of a document of schema 1."""
    no_sale, only_one = {"current_prices": {"$exists": False}}, {"prices": {"$exists": False}}
    return [
        {f"current_prices.{currency}": condition},
        {f"prices.{currency}": condition, **no_sale},
        {"price.currency": currency, "price.amount": condition, **only_one},
    ]
