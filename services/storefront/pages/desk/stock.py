"""The stock of many products and variants at the desk: a delivery, or what was counted."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules.moments import moment_of
from services.storefront.rules.stock_lines import MAX_ROWS, stock_changes
from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json

AT_ONCE = 200


@desk.get("/stock")
def stocks() -> str:
    """With `product` a row for each of its variants."""
    form = restore(forms.Form(forms.STOCK_CHANGES), url_for("desk.change_stocks"))
    return _page(form, request.args.get("product", ""))


@desk.post("/stock")
def change_stocks() -> str | BaseResponse:
    form = forms.Form(forms.STOCK_CHANGES).read(request.form)
    failed: list[Json] = []
    if form.is_valid:
        try:
            changes = _sent_changes(form.values["lines"], form.values["counted_at"])
            failed = _change(changes, form.values["reason"])
            if not failed:
                flash(_("%(count)s changed.", count=len(changes)), "good")
                return redirect(url_for("desk.stocks"))
            form.values["lines"] = ""
        except Invalid as error:
            form.add_errors(error)
    return _page(form, request.form.get("product", ""), failed)


def _sent_changes(lines: str, counted_at: str) -> list[Json]:
    """Of the rows, the typed lines and the file. Raises Invalid."""
    rows = [
        (request.form.get(f"row-{n}-sku", ""), request.form.get(f"row-{n}-delta", ""))
        for n in range(MAX_ROWS)
    ]
    file = request.files.get("file")
    parts = [
        *(f"{sku} {delta}" for sku, delta in rows if sku and delta.strip()),
        lines,
        file.stream.read().decode("utf-8-sig", "replace") if file and file.filename else "",
    ]
    changes = stock_changes("\n".join(part for part in parts if part), "lines")
    if not changes:
        raise Invalid(errors={"lines": [_("Say what changes: a line for each SKU.")]})
    if not (counted := moment_of(counted_at, "counted_at")):
        return changes
    return [each | {"counted_at": counted} if "level" in each else each for each in changes]


def _change(changes: list[Json], reason: str) -> list[Json]:
    """What could not be changed."""
    access, key, failed = token(), forms.key(request.form), list[Json]()
    for first in range(0, len(changes), AT_ONCE):
        part = changes[first : first + AT_ONCE]
        failed += services().products.change_stocks(access, part, reason, f"{key}-{first}")["failed"]
    dependencies().catalogue.invalidate()
    return failed


def _page(form: forms.Form, productid: str, failed: list[Json] | None = None) -> str:
    product = services().products.product(productid, token()) if productid else None
    return render_template("desk/stock.html", form=form, product=product, failed=failed or [])
