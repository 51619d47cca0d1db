"""Products at the desk: find, create, edit, stock, remove, export, import with progress."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from flask import Response, flash, redirect, render_template, request, url_for

from services.storefront import forms
from services.storefront.actions.imports import import_products
from services.storefront.clients import given
from services.storefront.pages.context import context, services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import logged_in, token
from services.storefront.rules import prices, taxonomy
from shared.errors import BadRequest, Conflict, Invalid, PreconditionFailed

MOST_BYTES = 32 * 1024 * 1024  # at once: half of what a container's /tmp holds
SHOWN_FAILURES = 200


@desk.get("/products")
def products() -> str:
    args = request.args
    if args.get("low"):
        found = services().products.low_stock(token(), args.get("cursor", ""))
        return render_template(
            "desk/products.html", products=found["items"], next=found["next"], q="", low=True
        )
    found = services().products.search(
        given(q=args.get("q", "").strip(), cursor=args.get("cursor"), limit=25)
    )
    return render_template(
        "desk/products.html", products=found["items"], next=found["next"], q=args.get("q", "")
    )


@desk.get("/products/new")
def new_product() -> str:
    return render_template(
        "desk/product.html",
        product=None,
        form=forms.Form(forms.PRODUCT, {"currency": "GBP", "delivery": "0.00"}),
        etag="",
    )


@desk.post("/products/new")
def create_product() -> str | Response:
    form = forms.Form(forms.PRODUCT).read(request.form)
    if form.ok:
        try:
            body = product_body(form.values) | {
                "stock": forms.whole(request.form.get("stock") or "0", "stock")
            }
            services().products.create(token(), body)
            return _saved(body["productid"], "Created.")
        except Invalid as error:
            form.blame(error)
        except Conflict as error:
            form.errors["productid"] = [error.detail]
    return render_template("desk/product.html", product=None, form=form, etag="")


@desk.get("/products/<productid>")
def product(productid: str) -> str:
    found, etag = services().products.versioned(productid)
    return _page(found, forms.Form(forms.PRODUCT, product_values(found)), etag)


@desk.post("/products/<productid>")
def replace_product(productid: str) -> str | Response:
    form = forms.Form(forms.PRODUCT).read({**request.form, "productid": productid})
    etag = request.form.get("etag", "")
    if form.ok:
        try:
            services().products.replace(token(), productid, product_body(form.values), etag)
            return _saved(productid, "Saved.")
        except Invalid as error:
            form.blame(error)
        except (Conflict, PreconditionFailed) as error:
            form.general = (
                f"{error.detail} What you typed is still here: open the product in another window to compare."
            )
    return _page(services().products.product(productid), form, etag)


@desk.post("/products/<productid>/stock")
def stock(productid: str) -> str | Response:
    form = forms.Form(forms.STOCK).read(request.form)
    if form.ok:
        try:
            delta = forms.whole(form.values["delta"], "delta")
            services().products.stock(
                token(), productid, delta, form.values["reason"], forms.key(request.form)
            )
            return _saved(productid, "Stock changed.")
        except Invalid as error:
            form.blame(error)
        except Conflict as error:
            form.general = error.detail
    found, etag = services().products.versioned(productid)
    return _page(found, forms.Form(forms.PRODUCT, product_values(found)), etag, form)


@desk.post("/products/<productid>/delete")
def delete_product(productid: str) -> Response:
    services().products.delete(token(), productid)
    context().shelves.forget()
    flash(f"{productid} is gone from the shop.", "good")
    return redirect(url_for("desk.products"))


@desk.get("/import")
def import_form() -> str:
    return render_template("desk/import.html", result=None)


@desk.post("/import")
def import_file() -> str:
    """The whole file at once, without JavaScript; line by line to the products service in pieces."""
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        return render_template("desk/import.html", result=None, problem="Choose a file first.")
    result = import_products(services().products, token(), lines_of(sent.stream))
    context().shelves.forget()
    return render_template("desk/import.html", result=result, shown=SHOWN_FAILURES)


@desk.post("/import/piece")
def import_piece() -> dict:
    """Some lines of a file that the page reads itself, so that it can show how far it is. Body: NDJSON."""
    first = request.headers.get("X-First-Line", "1")
    if not re.fullmatch("[0-9]{1,9}", first):
        raise BadRequest("X-First-Line is a line number.")
    result = import_products(
        services().products, token(), request.get_data().splitlines(keepends=True), int(first)
    )
    context().shelves.forget()
    return result


@desk.get("/products.ndjson")
def export_products() -> Response:
    answer = services().products.export(token())
    headers = {"Content-Disposition": 'attachment; filename="products.ndjson"'}
    return Response(answer.body, mimetype="application/x-ndjson", headers=headers)


def allow_large_files() -> None:
    """Before a form is read: an import by one of the shop's people may be larger than other forms."""
    visitor = logged_in()
    if request.endpoint in ("desk.import_file", "desk.import_piece") and visitor and visitor.staff:
        request.max_content_length = MOST_BYTES


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    yield from stream


def product_values(product: dict) -> dict[str, str]:
    """A product as the form shows it."""
    plain = {
        name: str(product.get(name) or "") for name in ("productid", "name", "brand", "description", "image")
    } | {"taxonomy": taxonomy.path_of(product)}
    lists = {name: ", ".join(product.get(name) or ()) for name in ("keywords", "colours")}
    money = {"price": prices.plain(product["price"]), "currency": product["price"]["currency"]}
    charge = product.get("delivery")
    return plain | lists | money | {"delivery": prices.plain(charge) if charge else "0"}


def product_body(values: dict[str, str]) -> dict:
    """The form as the API's product. Raises Invalid by field."""
    currency = values["currency"].upper()
    plain = {name: values[name] for name in ("productid", "name", "brand", "description", "image")}
    plain["taxonomy"] = [part.strip() for part in values["taxonomy"].split(taxonomy.SEPARATOR)]
    lists = {name: forms.words(values[name]) for name in ("keywords", "colours")}
    money = {name: prices.parse(values[name], currency, name) for name in ("price", "delivery")}
    return plain | lists | money


def _saved(productid: str, message: str) -> Response:
    context().shelves.forget()
    flash(message, "good")
    return redirect(url_for("desk.product", productid=productid))


def _page(product: dict, form: forms.Form, etag: str, stock: forms.Form | None = None) -> str:
    return render_template(
        "desk/product.html", product=product, form=form, etag=etag, stock=stock or forms.Form(forms.STOCK)
    )
