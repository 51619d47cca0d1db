"""Product types at the desk: which attributes a kind of products has."""

from collections.abc import Mapping

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.saved_forms import restore, restored
from services.storefront.pages.visitor import token
from services.storefront.rules import translations
from services.storefront.rules.messages import message
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Conflict, Invalid, PreconditionFailed
from shared.types import Json

KINDS = {
    "text": gettext_noop("Text"),
    "number": gettext_noop("Number"),
    "boolean": gettext_noop("Yes or no"),
    "one_of": gettext_noop("One of"),
    "several_of": gettext_noop("Several of"),
}
COLUMNS = ("code", "name", "kind", "unit", "values")
TRANSLATED = ("names", translations.LABELS)
MAX_ROWS, MORE_ROWS = 50, 3

Rows = list[dict[str, str]]


@desk.get("/product-types")
def product_types() -> str:
    """All types, and the form of the one that `code` names or of a new one."""
    code = request.args.get("code", "")
    found, etag = services().products.product_type(token(), code) if code else (None, "")
    form = _form(_values(found) if found else {})
    action = url_for("desk.save_product_type")
    before = restored(action)
    rows = rows_of(before) if before else _rows_of_type(found)
    return _page(restore(form, action), rows, before.get("etag", etag))


@desk.post("/product-types")
def save_product_type() -> str | BaseResponse:
    form, etag = _form({}).read(request.form), request.form.get("etag", "")
    rows = rows_of(request.form)
    if form.is_valid:
        try:
            body = _body(form.values, rows) | _translated(form.values, etag)
            services().products.save_product_type(token(), body, etag, forms.key(request.form))
            flash(_("Saved."), "good")
            return redirect(url_for("desk.product_types", code=form.values["code"]))
        except Invalid as error:
            form.add_errors(error)
        except (Conflict, PreconditionFailed) as error:
            form.general = message(error)
    return _page(form, rows, etag)


def rows_of(sent: Mapping[str, str]) -> Rows:
    """The attributes of a form that was sent; a row without a code and a name is none."""
    rows = [
        {column: sent.get(f"row-{number}-{column}", "").strip() for column in COLUMNS}
        for number in range(1, MAX_ROWS + MORE_ROWS + 1)
    ]
    return [row for row in rows if row["code"] or row["name"]]


def _rows_of_type(found: Json | None) -> Rows:
    attributes = found["attributes"] if found else []
    return [
        {**{column: each[column] for column in COLUMNS}, "values": ", ".join(each["values"])}
        for each in attributes
    ]


def _body(values: dict[str, str], rows: Rows) -> Json:
    attributes = [{**row, "values": forms.split_list(row["values"])} for row in rows]
    return {"code": values["code"], "name": values["name"], "attributes": attributes}


def _form(values: dict[str, str]) -> forms.Form:
    return forms.Form((*forms.PRODUCT_TYPE, *forms.translated_type(_languages())), values)


def _languages() -> tuple[str, ...]:
    """Those of the shop besides its own."""
    return dependencies().settings.languages[1:]


def _values(found: Json) -> dict[str, str]:
    said = {
        code: {"labels": each.get("labels"), "names": each.get("names")}
        for code, each in (found.get("translations") or {}).items()
    }
    own = {"code": found["code"], "name": found["name"]}
    return own | translations.values_of(said, TRANSLATED, _languages())


def _translated(values: dict[str, str], etag: str) -> Json:
    """Raises Invalid by field."""
    if not _languages():
        return {}
    before = services().products.product_type(token(), values["code"])[0] if etag else {}
    said = before.get("translations") or {}
    return {"translations": translations.body_of(values, said, TRANSLATED, _languages())}


def _page(form: forms.Form, rows: Rows, etag: str) -> str:
    empty = dict.fromkeys(COLUMNS, "") | {"kind": "text"}
    return render_template(
        "desk/product_types.html",
        types=services().products.product_types(token()),
        form=form,
        languages_of_goods=_languages(),
        rows=[*rows, *([empty] * MORE_ROWS)],
        kinds=KINDS,
        etag=etag,
    )
