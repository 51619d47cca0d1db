"""Import with progress and export of products at the desk."""

import re
from collections.abc import Iterator
from typing import IO

from flask import Response, render_template, request

from services.storefront import forms
from services.storefront.actions.imports import import_products
from services.storefront.clients import without_empty
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules.messages import message
from services.storefront.translation import gettext as _
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.errors import BadRequest, Invalid
from shared.types import Json

SHOWN_FAILURES = 200
MAX_EXPORT = 32 * 1024**2


@desk.get("/import")
def import_form() -> str:
    return _page()


@desk.post("/import")
@time_limit(NO_LIMIT)
def import_file() -> str:
    """The whole file at once, without JavaScript; line by line to the products service in pieces, but what another shop exported as it is."""
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        return _page(problem=_("Choose a file first."))
    if request.form.get("format"):
        return _import_export(sent.stream)
    result = import_products(services().products, token(), lines_of(sent.stream))
    dependencies().catalogue.invalidate()
    return _page(result)


def _import_export(stream: IO[bytes]) -> str:
    form = forms.Form(forms.SHOP_EXPORT).read(request.form)
    content = stream.read(MAX_EXPORT + 1)
    if len(content) > MAX_EXPORT:
        return _page(form=form, problem=_("The file is too large: at most 32 MB at a time."))
    if not form.is_valid:
        return _page(form=form)
    query = {name: form.values[name] for name in ("format", "currency", "pictures")}
    query |= {
        "untracked_stock": form.values["untracked_stock"] or "0",
        "dry_run": "true" if form.values["dry_run"] else "false",
        **without_empty(id=request.form.get("id", "")[:60]),
    }
    try:
        result = services().products.import_export(token(), content, **query)
    except (Invalid, BadRequest) as error:
        return _page(form=form, problem=message(error))
    dependencies().catalogue.invalidate()
    return _page(result, form)


@desk.get("/import/progress/<name>")
def import_progress(name: str) -> Json:
    """How far an import is whose answer the page waits for."""
    return services().products.import_progress(token(), name)


def _page(result: Json | None = None, form: forms.Form | None = None, problem: str = "") -> str:
    return render_template(
        "desk/import.html",
        result=result,
        shown=SHOWN_FAILURES,
        problem=problem,
        form=form or forms.Form(forms.SHOP_EXPORT, {"currency": "GBP", "pictures": "fetch"}),
    )


@desk.post("/import/piece")
def import_piece() -> Json:
    """Some lines of a file that the page reads itself, so that it can show how far it is. Body: NDJSON."""
    first = request.headers.get("X-First-Line", "1")
    if not re.fullmatch("[0-9]{1,9}", first):
        raise BadRequest("X-First-Line is a line number.")
    result = import_products(
        services().products, token(), request.get_data().splitlines(keepends=True), int(first)
    )
    dependencies().catalogue.invalidate()
    return result


@desk.get("/products.ndjson")
def export_products() -> Response:
    answer = services().products.export(token())
    headers = {"Content-Disposition": 'attachment; filename="products.ndjson"'}
    return Response(answer.body, mimetype="application/x-ndjson", headers=headers)


def lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    yield from stream
