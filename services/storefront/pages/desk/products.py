"""Products at the desk: find, create, edit, stock, remove."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import without_empty
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.pictures import MAX_PICTURES, Pictures
from services.storefront.pages.desk.product_form import ProductForm
from services.storefront.pages.saved_forms import restore, restored
from services.storefront.pages.visitor import token
from services.storefront.rules import backorders, customs, prices, product_prices, publishing, taxonomy
from services.storefront.rules.messages import message
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, PreconditionFailed
from shared.money import Money, money
from shared.types import Json

SUMMARIES = (
    "stock",
    "rating",
    "highest_price",
    "hidden",
    "compare_at_price",
    "sale_ends",
    "backorder_terms",
    "waiting",
)
"""What the products service works out itself."""


@desk.get("/products")
def products() -> str:
    args = request.args
    if args.get("low"):
        found = services().products.low_stock(token(), args.get("cursor", ""))
        return render_template(
            "desk/products.html",
            products=found["items"],
            next=found["next"],
            q="",
            low=True,
            tabs=publishing.TABS,
            actions=publishing.ACTIONS,
        )
    q, status = args.get("q", "").strip(), args.get("status", "")
    if status in publishing.TABS:
        found = services().products.unpublished(token(), status, q, args.get("cursor", ""))
    else:
        found = services().products.search(
            without_empty(q=q, cursor=args.get("cursor"), limit=25, analytics="false")
        )
    return render_template(
        "desk/products.html",
        products=found["items"],
        next=found["next"],
        q=q,
        status=status,
        tabs=publishing.TABS,
        actions=publishing.ACTIONS,
    )


@desk.get("/products/new")
def new_product() -> str:
    values = {"currency": "GBP", "delivery": prices.plain(money(0, "GBP")), "stock": "0"}
    action = url_for("desk.create_product")
    return _page(None, ProductForm.of(forms.NEW_PRODUCT, values, None, action), "")


@desk.post("/products/new")
def create_product() -> str | BaseResponse:
    sent = ProductForm.sent(forms.NEW_PRODUCT)
    form = sent.form
    if sent.ready:
        try:
            body = product_body(form.values) | sent.attributes_body() | sent.translations_body()
            body |= {
                "pictures": sent.pictures,
                "stock": forms.parse_integer(form.values["stock"] or "0", "stock"),
            }
            services().products.create(token(), body, forms.key(request.form))
            return _saved(body["productid"], _("Created."))
        except Invalid as error:
            sent.add_errors(error)
        except Conflict as error:
            form.errors["productid"] = [message(error)]
    return _page(None, sent, "")


@desk.get("/products/<productid>")
def product(productid: str) -> str:
    found, etag = services().products.versioned(productid, token())
    action = url_for("desk.replace_product", productid=productid)
    shown = ProductForm.of(forms.PRODUCT, product_values(found), found, action)
    return _page(found, shown, restored(action).get("etag") or etag)


@desk.get("/products/<productid>/stock")
@desk.get("/products/<productid>/delete")
def back_to_product(productid: str) -> BaseResponse:
    """The addresses that forms go to, opened as pages: a form whose session was lost comes back here."""
    return redirect(url_for("desk.product", productid=productid, form=request.args.get("form")))


@desk.post("/products/<productid>")
def replace_product(productid: str) -> str | BaseResponse:
    sent, etag = ProductForm.sent(forms.PRODUCT, productid=productid), request.form.get("etag", "")
    if sent.ready:
        try:
            before = services().products.product(productid, token())
            body = edited_body(before, sent.form.values, sent.pictures) | sent.attributes_body(before)
            body |= sent.translations_body(before)
            services().products.replace(token(), productid, body, etag)
            return _saved(productid, _("Saved."))
        except Invalid as error:
            sent.add_errors(error)
        except (Conflict, PreconditionFailed) as error:
            sent.form.general = " ".join(
                [
                    message(error),
                    _("What you typed is still here: open the product in another window to compare."),
                ]
            )
    return _page(services().products.product(productid, token()), sent, etag)


@desk.post("/products/<productid>/stock")
def stock(productid: str) -> str | BaseResponse:
    form = forms.Form(forms.STOCK).read(request.form)
    if form.is_valid:
        try:
            delta = forms.parse_integer(form.values["delta"], "delta")
            services().products.stock(
                token(),
                productid,
                delta,
                form.values["reason"],
                forms.key(request.form),
                request.form.get("sku", ""),
            )
            return _saved(productid, _("Stock changed."))
        except Invalid as error:
            form.add_errors(error)
        except Conflict as error:
            form.general = message(error)
    found, etag = services().products.versioned(productid, token())
    action = url_for("desk.replace_product", productid=productid)
    return _page(found, ProductForm.of(forms.PRODUCT, product_values(found), found, action), etag, form)


@desk.post("/products/<productid>/delete")
def delete_product(productid: str) -> BaseResponse:
    name = services().products.product(productid, token())["name"]
    services().products.delete(token(), productid)
    dependencies().catalogue.invalidate()
    flash(_("“%(name)s” is gone from the shop.", name=name), "good")
    return redirect(url_for("desk.products"))


def product_values(product: Json) -> dict[str, str]:
    """A product as the form shows it."""
    plain = {name: str(product.get(name) or "") for name in ("productid", "name", "brand", "description")} | {
        "taxonomy": taxonomy.path_of(product)
    }
    image = "" if product.get("pictures") else product.get("image") or ""
    lists = {name: ", ".join(product.get(name) or ()) for name in ("keywords", "colours", "related")}
    typed = product_prices.values_of(product)
    charge = product.get("delivery")
    more = {"delivery": prices.plain(charge) if charge else "0", "image": image}
    more["kind"] = product.get("kind", "goods")
    more["weight_grams"] = str(product.get("weight_grams") or "")
    more |= backorders.values_of(product) | customs.values_of(product)
    more["tax_class"] = product.get("tax_class", "standard")
    return plain | lists | typed | more | publishing.values_of(product)


def edited_body(product: Json, values: dict[str, str], pictures: Pictures) -> Json:
    """The product with what was changed in the form. What the form does not show, or cannot show as it is, stays. Raises Invalid by field."""
    shown, typed = product_values(product), product_body(values)
    changed = {name for name in shown if values.get(name) != shown[name]}
    if "currency" in changed:
        changed |= {"price", "delivery"}
    if changed.intersection(product_prices.SALE_FIELDS):
        changed.add("sales")
        typed["sales"] = product_prices.edited_sales(product, typed["sales"])
    if changed.intersection(customs.FIELDS):
        changed.add("customs")
    kept = {name: value for name, value in product.items() if name not in SUMMARIES}
    if product.get("pictures") or pictures:
        kept |= {"pictures": pictures, "image": values["image"]}
    return kept | {name: value for name, value in typed.items() if name in changed}


def product_body(values: dict[str, str]) -> Json:
    """The form as the API's product. Raises Invalid by field."""
    currency = values["currency"].upper()
    plain: Json = {name: values[name] for name in ("productid", "name", "brand", "description", "image")}
    plain |= without_empty(kind=values.get("kind"))
    plain |= backorders.body_of(values) | customs.body_of(values)
    plain |= {"weight_grams": _grams(values["weight_grams"]), "tax_class": values["tax_class"] or "standard"}
    plain["taxonomy"] = [part.strip() for part in values["taxonomy"].split(taxonomy.SEPARATOR)]
    lists = {name: forms.split_list(values[name]) for name in ("keywords", "colours", "related")}
    typed = {name: prices.parse(values[name], currency, name) for name in ("price", "delivery")}
    return plain | lists | typed | product_prices.body_of(values, **typed) | publishing.body_of(values)


def _grams(text: str) -> int | None:
    """Raises Invalid."""
    return forms.parse_integer(text, "weight_grams") if text else None


def _saved(productid: str, words: str) -> BaseResponse:
    dependencies().catalogue.invalidate()
    flash(words, "good")
    return redirect(url_for("desk.product", productid=productid))


def _not_payable(product: Json | None) -> list[Money]:
    """Prices that the shop's customers could not pay with a card."""
    takes_cards = dependencies().settings.pays_with == "stripe"
    return product_prices.not_payable_by_card(product) if product and takes_cards else []


def _page(product: Json | None, shown: ProductForm, etag: str, stock: forms.Form | None = None) -> str:
    return render_template(
        "desk/product.html",
        product=product,
        form=shown.form,
        languages_of_goods=shown.languages,
        etag=etag,
        stock=stock or _stock_form(product),
        pictures=shown.pictures,
        max_bytes=dependencies().settings.picture_bytes,
        max_pictures=MAX_PICTURES,
        not_payable=_not_payable(product),
        sku=request.form.get("sku", ""),
        product_notes=services().products.notes(token(), product["productid"]) if product else [],
        note=restore(forms.Form(forms.NOTE), url_for("desk.note_product", productid=product["productid"]))
        if product
        else None,
    )


def _stock_form(product: Json | None) -> forms.Form:
    form = forms.Form(forms.STOCK)
    return restore(form, url_for("desk.stock", productid=product["productid"])) if product else form
