"""The shop floor: home, departments, search, suggestions, a product and its reviews."""

from dataclasses import replace
from functools import partial

import orjson
from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.actions.catalogue_cache import MENU_DEPTH
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.language import goods_language, shown_menu
from services.storefront.pages.public_pages import followed, is_outdated, kept_for, public_page
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import customer_group, logged_in, needs_login, token
from services.storefront.rules import listing, messages, taxonomy, terms
from services.storefront.rules.variants import as_sold, selection
from services.storefront.translation import gettext as _
from shared.cache_tags import CATALOGUE, TERMS, category_tags, product_tag
from shared.errors import AisleError, Invalid, NotFound
from shared.types import Json

shop = Blueprint("shop", __name__)

EMPTY_LIST = b'{"items": [], "next": null, "facets": {}}'


@shop.get("/")
def home() -> Response | str:
    place = chosen_currency(), customer_group(), goods_language()
    products = followed(partial(dependencies().catalogue.window, *place))
    return public_page((products,), lambda: render_template("home.html", products=products))


@shop.get("/departments")
def departments() -> Response | str:
    followed(dependencies().catalogue.menus)
    return public_page((), lambda: render_template("departments.html"))


@shop.get("/category/<path:names>")
@kept_for(lambda names: category_tags(taxonomy.from_url(names).split(taxonomy.SEPARATOR))[-1:])
def category(names: str) -> BaseResponse | str:
    path, menu = taxonomy.from_url(names), shown_menu()
    if (target := menu.moved_to(path)) is not None:
        query = request.query_string.decode("latin-1")
        return redirect(taxonomy.href(target) + (f"?{query}" if query else ""), 301)
    place = menu.find(path)
    return _listing(listing.read(request.args.to_dict(flat=False), path), place)


@shop.get("/search")
@kept_for(lambda: (CATALOGUE,))
def search() -> BaseResponse | str:
    return _listing(listing.read(request.args.to_dict(flat=False)), None)


def _listing(filters: listing.Filters, place: taxonomy.Category | None) -> BaseResponse | str:
    """A list of products; one that compares prices is asked for again when it holds several currencies, where a shop names none."""
    filters = replace(filters, shop_currency=chosen_currency())
    is_last_page = (
        place is not None
        and not place.children
        and filters.category.count(taxonomy.SEPARATOR) + 1 < MENU_DEPTH
    )
    body, left_out, problem, subtree = EMPTY_LIST, 0, "", bool(filters.category) and not is_last_page
    try:
        body, outdated = _search_body(filters, subtree=subtree)
        if filters.compares_prices and not filters.in_one_currency:
            currencies = orjson.loads(body).get("facets", {}).get("currency", [])
            if len(currencies) > 1:
                filters = replace(filters, currency=listing.most_frequent(currencies))
                left_out = sum(each["count"] for each in currencies if each["value"] != filters.currency)
                body, outdated = _search_body(filters, subtree=subtree)
        if outdated:
            is_outdated()
    except Invalid as error:
        problem = forms.error_text(error)
    if (target := _redirect_of(body)) is not None:
        return redirect(target)
    shown = repr((filters, left_out, problem)).encode()
    return public_page((body, shown, place), lambda: _draw_listing(filters, place, body, left_out, problem))


def _search_body(filters: listing.Filters, *, subtree: bool) -> tuple[bytes, bool]:
    return services().products.search_body(
        filters.params(subtree=subtree), request.remote_addr or "", customer_group(), goods_language()
    )


def _redirect_of(body: bytes) -> str | None:
    """Where the shop's people want this search to lead; nowhere when the category is gone."""
    if b'"redirect":' not in body:
        return None
    target = orjson.loads(body).get("redirect", {})
    category = target.get("category", "")
    deep = category.count(taxonomy.SEPARATOR) >= MENU_DEPTH
    if category and (deep or shown_menu().find(category)):
        return taxonomy.href(category)
    address: str | None = target.get("address")
    return address


def _draw_listing(
    filters: listing.Filters,
    place: taxonomy.Category | None,
    body: bytes,
    left_out: int,
    problem: str,
) -> str:
    """Raises NotFound for a category that nothing is in."""
    answer = orjson.loads(body)
    if filters.category and place is None and not answer["items"] and not filters.chosen:
        raise NotFound(_("There is no such department."))
    currencies = answer.get("facets", {}).get("currency", [])
    currency = filters.in_one_currency or listing.most_frequent(currencies) or listing.USUAL_CURRENCY
    bands = answer.get("facets", {}).get("price", [])
    return render_template(
        "listing.html",
        filters=filters,
        place=place,
        answer=answer,
        problem=problem,
        currency=currency,
        bands=listing.band_links(filters, bands, currency),
        left_out=left_out,
        sorts=listing.SORTS,
        facets=listing.facet_groups(filters, answer.get("facets", {}), answer.get("facet_names")),
    )


@shop.get("/suggest")
def suggest() -> str:
    q = request.args.get("q", "").strip()[:80]
    found = services().products.suggest(q, chosen_currency(), goods_language()) if q else {"items": []}
    return render_template("parts/suggestions.html", items=found["items"][:8], q=q)


@shop.get("/product/<productid>")
@kept_for(lambda productid: (product_tag(productid), TERMS))
def product(productid: str) -> Response | str:
    cursor = request.args.get("reviews", "")
    methods = dependencies().shipping_methods.get()  # first: the version of the terms has just been read
    answer = _product_body(productid)
    older = services().products.reviews_body(productid, cursor) if cursor else b""

    def draw() -> str:
        found = orjson.loads(answer)
        reviews = orjson.loads(older) if older else found["reviews"]
        choice = selection(found, productid)
        variant = choice.variant if choice else None
        return render_template(
            "product.html",
            product=found,
            reviews=reviews,
            selection=choice,
            variant=variant,
            sold=as_sold(found, variant),
            delivery=_delivery(methods, found),
        )

    return public_page((answer, older, orjson.dumps(methods)), draw)


def _delivery(methods: Json, product: Json) -> list[str]:
    """How a product is delivered at home; nothing of one that has no price in this currency."""
    price, charge = product.get("price"), product.get("delivery")
    return terms.offers(methods, price["currency"], charge["amount"] if charge else 0) if price else []


def _product_body(productid: str) -> bytes:
    """Staff see also what the shop does not show. Raises NotFound."""
    try:
        return services().products.product_body(
            productid,
            currency=chosen_currency(),
            group=customer_group(),
            language=goods_language(),
        )
    except NotFound:
        visitor = logged_in()
        if visitor is None or not visitor.staff:
            raise
        return services().products.product_body(
            productid, token(), chosen_currency(), language=goods_language()
        )


@shop.get("/product/<productid>/review")
@needs_login
def write_review(productid: str) -> str:
    """The form, for those who may write; the others read why not."""
    form = restore(forms.Form(forms.REVIEW), url_for("shop.review", productid=productid))
    return _review_page(productid, form)


@shop.get("/product/<productid>/reviews")
def back_to_product(productid: str) -> BaseResponse:
    """Where a review is sent, opened as a page: an address bar keeps it after an answer to a form."""
    return redirect(url_for("shop.product", productid=productid, form=request.args.get("form")))


@shop.post("/product/<productid>/reviews")
@needs_login
def review(productid: str) -> str | BaseResponse:
    form = forms.Form(forms.REVIEW).read(request.form)
    if form.is_valid:
        body = {
            "stars": int(form.values["stars"]),
            "title": form.values["title"],
            "text": form.values["text"],
        }
        try:
            services().products.review(token(), productid, body, forms.key(request.form))
            flash(_("Thank you: your review is published."), "good")
            return redirect(url_for("shop.product", productid=productid) + "#reviews")
        except Invalid as error:
            form.add_errors(error)
        except AisleError as error:
            if error.status not in (403, 409):
                raise
            form.general = forms.error_text(error)
    return _review_page(productid, form)


def _review_page(productid: str, form: forms.Form) -> str:
    access, products = token(), services().products
    found = services().together(
        product=lambda: products.product(productid),
        eligibility=lambda: products.review_eligibility(access, productid),
    )
    reason = found["eligibility"]["reason"]
    return render_template(
        "review.html", product=found["product"], form=form, reason=messages.sentence(reason) if reason else ""
    )
