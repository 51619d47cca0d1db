"""What every visitor reads: menu, lists, search, suggestions, a product, a lookup."""

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from services.products.actions import browse as act
from services.products.actions import related, suggesting
from services.products.actions import reviews as review_acts
from services.products.actions.catalogue import NoSuchProduct
from services.products.actions.facets import facet_labels
from services.products.actions.query_counts import found_by_words
from services.products.actions.question import Listed, Question
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies, SentList
from services.products.documents import taxonomy_of
from services.products.resources.context import (
    asked_currency,
    asked_language,
    dependencies,
    language_headers,
    listing_group,
    price_context,
    price_headers,
    reading,
    user_at_hand,
)
from services.products.resources.questions import MAX_QUERY, group_at_hand, question_at_hand
from services.products.rules.prices import PriceContext, has_terms, is_sold_in
from services.products.rules.product import listed, public, public_json
from services.products.rules.publishing import is_public
from services.products.rules.same_titles import ShownTitles, grouped, opened
from services.products.schemas import answers, parameters, requests
from services.products.store.facet_counts import REWRITE_SECONDS
from services.products.translations import translated
from shared.couch import Doc, Made, NoSuchDocument, altered
from shared.errors import Invalid
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES
from shared.user import User
from shared.web import (
    Blueprint,
    PageArgs,
    client_address,
    depends_on_more,
    is_service_call,
    json_answer,
    json_bytes,
    list_answer,
    not_modified,
    optional_user,
    sent_again,
    unsign,
)

browse = Blueprint("browse", __name__, description="The catalogue as visitors see it")

OUTDATED = {"Warning": '110 - "Response is Stale"'}
"""Of a list with counts that are being made again: what shows it should ask again, and not keep it."""

_DEPTH = {
    "in": "query",
    "name": "depth",
    "schema": {"type": "integer", "minimum": 1, "maximum": 12},
    "description": "levels shown; all when left out",
}
_UNDER = {
    "in": "query",
    "name": "under",
    "schema": {"type": "string"},
    "description": "the path of a category to begin at",
}
_PREFIX = {
    "in": "query",
    "name": "q",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
    "description": "",
}
_SUGGESTIONS = {
    "in": "query",
    "name": "limit",
    "schema": {"type": "integer", "minimum": 1, "maximum": 20, "default": 8},
    "description": "",
}
_CURRENCY = {
    "in": "query",
    "name": "currency",
    "schema": {"type": "string", "enum": sorted(CURRENCIES)},
    "description": "prices are answered in; the shop's own when left out",
}
_LANGUAGE = {
    "in": "query",
    "name": "language",
    "schema": {"type": "string", "pattern": f"^({LANGUAGE}|)$"},
    "description": "names, descriptions and labels are answered in; the shop's own when left out, or where something is not translated",
}
_GROUP = {
    "in": "query",
    "name": "group",
    "schema": {"type": "string"},
    "description": "whose prices, asked by another service; else those of the token's customer group",
}
_REVIEWS = {
    "in": "query",
    "name": "reviews",
    "schema": {"type": "integer", "minimum": 1, "maximum": 100},
    "description": "and so many of its newest reviews",
}


@browse.get("/v1/categories")
@browse.response(200, answers.Category)
@browse.alt_response(404, "NOT_FOUND")
@browse.doc(parameters=[_DEPTH, _UNDER, _LANGUAGE])
def categories() -> Response:
    """The category menu with counts"""
    path, language = request.args.get("under") or "", asked_language()
    deps = reading(language)
    body, tag = act.menu(
        deps, taxonomy_of(path) if path else [], _number("depth", 12), deps.catalogue.read_in
    )
    return not_modified(tag) or json_bytes(body, etag=tag, headers=language_headers(language))


@browse.get("/v1/products")
@browse.response(200, answers.ProductList)
@browse.alt_response(400, "BAD_REQUEST")
@browse.doc(parameters=[*parameters.LIST_PARAMETERS, _GROUP])
def products() -> Response:
    """Products of a category, or found by words, filtered, sorted, counted"""
    group = group_at_hand()
    asked, bound = question_at_hand(listing_group(group))
    context = price_context(asked.currency, group)
    if asked.currency is None and context.currency:
        asked = altered(asked, currency=context.currency, currency_is_default=True)
    place, earlier = opened(asked.cursor)
    if place is not asked.cursor:
        asked = altered(asked, cursor=place)
    deps, visitor = reading(asked.language), client_address() if asked.q else ""
    headers = {**(price_headers(context) or {}), **language_headers(asked.language)}
    if context.staff or not asked.counts_itself or act.is_kept_department(asked):
        found = act.products(deps, asked, visitor)
        headers |= OUTDATED if found.outdated else {}
        return json_answer(_list_body(deps, found, asked, earlier, context, bound), headers=headers)

    counts = act.counts_beside(deps, asked)

    def make() -> Made[SentList]:
        found = act.products_beside(deps, asked, counts, visitor)
        has_others = any(map(has_terms, found.docs))  # prices that depend on the time, or on who asks
        answer = json_answer(
            _list_body(deps, found, asked, earlier, context, bound),
            headers=headers | (OUTDATED if found.outdated else {}),
        )
        return Made(
            SentList(answer, found_by_words(found)),
            len(answer.get_data()),
            repeatable=not (has_others or found.outdated),
            same_read=found.is_as_asked or not asked.q,
            max_age=REWRITE_SECONDS,  # so long what is counted is there for who filters by it next
        )

    question = (request.query_string, context.currency, context.group)
    labels = deps.labels.loaded() if asked.facets and deps.catalogue.read_in else None
    given = deps.search_rules.get(), deps.categories.get(), deps.product_types.get(), labels
    counted = counts and (counts.values, counts.outdated)
    sent, repeated = deps.sent_lists.get(question, make, (*given, *(counted or ())))
    if repeated:
        act.count_repeated(deps, asked, sent.found, visitor)
    answer: Response = sent.answer
    return answer


def _list_body(
    deps: Dependencies,
    found: Listed,
    asked: Question,
    earlier: ShownTitles,
    context: PriceContext,
    bound: Any,
) -> dict[str, Any]:
    if asked.is_by_relevance:
        body = _rows(found, earlier, context, bound, collapse=asked.collapse)
    else:
        items = [deps.product_answers.listed(doc, context) for doc in found.docs]
        body = list_answer(items, found.next, bound)
    body |= found.more
    if "facets" in found.more:
        body |= facet_labels(deps, found.more["facets"])
    return body


def _rows(
    found: Listed, earlier: ShownTitles, context: PriceContext, bound: Any, *, collapse: bool
) -> dict[str, Any]:
    """A row for each title, which names its `others`; these come right beneath it, unless they are to collapse. What has the title of
    a row of an earlier page comes behind them all, marked or, where titles collapse, apart."""
    rows: list[Any] = []
    known = dependencies().product_answers
    fresh = [doc for doc in found.docs if not earlier.has(doc)]
    for doc, others in grouped(fresh):
        if not others:
            rows.append(known.listed(doc, context))
            continue
        under = [listed(each, context) for each in others]
        rows.append(listed(doc, context) | {"others": list(map(_summary, under))})
        if not collapse:
            rows += [each | {"listed_under": doc["productid"]} for each in under]
    repeated = [listed(doc, context) for doc in found.docs if earlier.has(doc)]
    if not collapse:
        rows += [each | {"title_shown_before": True} for each in repeated]
    following = None if found.next is None else earlier.cursor(found.next, fresh)
    answer = list_answer(rows, following, bound)
    if collapse and repeated:
        answer["others_of_earlier_rows"] = [_summary(each) | {"name": each["name"]} for each in repeated]
    return answer


def _summary(product: dict[str, Any]) -> dict[str, Any]:
    return {name: product[name] for name in ("productid", "price", "stock")}


@browse.get("/v1/products/suggest")
@browse.response(200, answers.Suggestions)
@browse.doc(parameters=[_PREFIX, _SUGGESTIONS, _CURRENCY, _LANGUAGE])
def suggest() -> Response:
    """Categories, brands, past queries and products for an unfinished query"""
    text = request.args.get("q", "")
    if not 1 <= len(text) <= MAX_QUERY:
        raise Invalid("Say what to look for.", errors={"q": [f"1 to {MAX_QUERY} characters."]})
    language = asked_language()
    body = suggesting.suggest(
        reading(language), text, _number("limit", 20) or 8, price_context(asked_currency()).currency
    )
    return json_bytes(body, headers={"Cache-Control": "public, max-age=60", **language_headers(language)})


@browse.get("/v1/products/best-rated")
@browse.arguments(PageArgs, location="query")
@browse.response(200, answers.ProductList)
@browse.alt_response(400, "BAD_REQUEST")
@browse.doc(parameters=[_CURRENCY, _LANGUAGE])
def best_rated(page: dict[str, Any]) -> Response:
    """The best rated products, by a cautious average"""
    context, language = price_context(asked_currency()), asked_language()
    bound = ["best-rated", context.currency] if context.currency else "best-rated"
    found = act.best_rated(reading(language), page["limit"], unsign(page["cursor"], bound), context.currency)
    items = [listed(doc, context) for doc in found.items]
    headers = (price_headers(context) or {}) | language_headers(language)
    return json_answer(list_answer(items, found.next, bound), headers=headers)


@browse.post("/v1/products/lookup")
@browse.arguments(requests.Lookup)
@browse.response(200, answers.LookedUp)
def lookup(asked: dict[str, Any]) -> Response:
    """Many products and variants by productid or SKU in one call, each as it is bought"""
    context = price_context(asked["currency"], asked["group"] or "")
    language = asked_language(asked["language"] or "")
    costs = asked["costs"] and is_service_call()
    found = act.lookup(reading(language), asked["productids"], context, costs=costs)
    return json_answer(found, headers=(price_headers(context) or {}) | language_headers(language))


@browse.get("/v1/products/<productid>")
@sent_again(lambda: (user_at_hand(), is_service_call()))
@browse.response(200, answers.ProductWithReviews)
@browse.alt_response(404, "NOT_FOUND")
@browse.doc(parameters=[_REVIEWS, _CURRENCY, _GROUP, _LANGUAGE])
def product(productid: str) -> Response:
    """A product, by its productid or the SKU of one of its variants; what the shop does not show, to its staff"""
    deps = reading(asked_language())
    doc, language = _product(productid, deps), deps.catalogue.read_in
    context = price_context(asked_currency(), request.args.get("group", ""))
    headers = {
        **(price_headers(context) or {"Cache-Control": "no-cache"}),
        **language_headers(language if "translated_to" in doc else ""),
    }
    if (most := _number("reviews", 100)) is not None:
        depends_on_more()
        newest = review_acts.first_page(dependencies(), doc, most)
        return json_answer(
            public(doc, context)
            | {
                "reviews": list_answer(newest.items, newest.next, ["reviews", doc["productid"]]),
                "related": _sold_together(related.related(dependencies(), doc), context, language),
                "specifications": dependencies().product_types.loaded().specifications(doc, language),
            },
            headers=headers,
        )
    if has_terms(doc):
        depends_on_more()  # the time
    body, tag = public_json(doc, context)
    return not_modified(tag) or json_bytes(body, etag=tag, headers=headers)


@browse.get("/v1/products/<productid>/related")
@browse.response(200, answers.RelatedProducts)
@browse.alt_response(404, "NOT_FOUND")
@browse.doc(parameters=[_CURRENCY, _LANGUAGE])
def related_products(productid: str) -> Response:
    """What goes with a product: named by hand first, then what is bought with it"""
    language = asked_language()
    deps, context = reading(language), price_context(asked_currency())
    found = related.find_related(dependencies(), _product(productid, deps))
    items = _sold_together(found, context, deps.catalogue.read_in)
    return json_answer({"items": items}, headers=(price_headers(context) or {}) | language_headers(language))


def _sold_together(docs: Sequence[Product], context: PriceContext, language: str) -> list[Doc]:
    """Those that are sold in the currency of the page that shows them."""
    return [
        listed(translated(each, language), context) for each in docs if is_sold_in(each, context.currency)
    ]


def _product(productid: str, deps: Dependencies) -> Product:
    """The product that may be shown to who asks: to staff, who may just have saved it, as most nodes have it. Raises NoSuchProduct."""
    is_staff = _is_staff(user_at_hand())
    try:
        if deps.catalogue.has_one_copy or not is_staff:
            doc = deps.catalogue.by_productid(productid)
        else:
            depends_on_more()
            doc = deps.catalogue.by_productid_on_most_nodes(productid)
    except NoSuchDocument:
        raise NoSuchProduct(f"There is no product {productid}.") from None
    if not (is_staff or is_public(doc)):
        optional_user()  # a token that is over is refused: its owner may be staff
        raise NoSuchProduct(f"There is no product {productid}.")
    return doc


def _is_staff(user: User | None) -> bool:
    return user is not None and user.has_role("admin", "staff")


def _number(name: str, maximum: int) -> int | None:
    text = request.args.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= maximum):
        raise Invalid(f"{name} is not right.", errors={name: [f"A whole number, 1 to {maximum}."]})
    return int(text)
