"""The options and variants of a product at the desk: one form for all of them, which works without JavaScript."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.products import SUMMARIES
from services.storefront.pages.saved_forms import restored
from services.storefront.pages.visitor import token
from services.storefront.rules import variant_rows as rules
from services.storefront.rules.backorders import OF_A_VARIANT
from services.storefront.rules.messages import message
from services.storefront.rules.product_prices import regular_price
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, PreconditionFailed
from shared.types import Json


@desk.get("/products/<productid>/variants")
def variants(productid: str) -> str:
    product, etag = services().products.versioned(productid, token())
    if typed := restored(url_for("desk.save_variants", productid=productid)):
        options = rules.read_options(typed)
        return _page(product, typed.get("etag", etag), options, rules.read_rows(typed, options), "")
    return _page(product, etag, product.get("options", []), rules.variant_rows(product), "")


@desk.post("/products/<productid>/variants")
def save_variants(productid: str) -> str | BaseResponse:
    """With the button "combinations" nothing is saved: the form comes back with a row for each that is missing."""
    product = services().products.product(productid, token())
    options = rules.read_options(request.form)
    rows = rules.read_rows(request.form, options)
    etag = request.form.get("etag", "")
    if "combinations" in request.form:
        return _page(product, etag, options, rules.with_all_combinations(rows, options, productid), "")
    try:
        currency = regular_price(product)["currency"]
        wanted = rules.variants_of(rows, options, currency) if options else []
        wanted = [rules.with_compare_at_prices(each, product) for each in wanted]
        body = {name: value for name, value in product.items() if name not in SUMMARIES}
        services().products.replace(token(), productid, body | {"options": options, "variants": wanted}, etag)
    except (Conflict, Invalid, PreconditionFailed) as error:
        return _page(product, etag, options, rows, message(error))
    dependencies().catalogue.invalidate()
    flash(_("Saved."), "good")
    return redirect(url_for("desk.variants", productid=productid))


def _page(product: Json, etag: str, options: list[Json], rows: list[rules.Row], problem: str) -> str:
    left = {variant["sku"]: variant["stock"] for variant in product.get("variants", [])}
    return render_template(
        "desk/variants.html",
        product=product,
        etag=etag,
        options=options,
        option_rows=rules.option_rows({"options": options}),
        rows=rows,
        blank=range(len(rows), min(len(rows) + rules.BLANK_ROWS, rules.MAX_VARIANTS)),
        left=left,
        backorder_choices=[(value, _(words)) for value, words in OF_A_VARIANT],
        problem=problem,
    )
