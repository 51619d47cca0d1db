"""Shipping methods, tax rates and promotions at the desk, with their earlier versions, and the tax report."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from flask import Response, flash, redirect, render_template, request
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules import periods, promotions, terms
from services.storefront.rules.messages import message
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, PreconditionFailed
from shared.types import Json


@dataclass(frozen=True)
class Kind:
    """What the desk sets in one way: `path` at the desk, `name` at the orders service."""

    path: str
    name: str
    fields: tuple[forms.Field, ...]
    body: Callable[[dict[str, str]], Json]
    values: Callable[[Json], dict[str, str]]
    template: str
    checked: tuple[str, ...] = ("active",)
    """Boxes that are ticked in the form of a new one."""


METHODS: Final = Kind(
    "shipping",
    "shipping-methods",
    forms.SHIPPING_METHOD,
    terms.method_body,
    terms.method_values,
    "desk/shipping.html",
)
RATES: Final = Kind(
    "taxes",
    "tax-rates",
    forms.TAX_RATE,
    terms.rate_body,
    terms.rate_values,
    "desk/taxes.html",
    ("active", "included"),
)
PROMOTIONS: Final = Kind(
    "promotions",
    "promotions",
    forms.PROMOTION,
    promotions.promotion_body,
    promotions.promotion_values,
    "desk/promotions.html",
    ("active", "combines"),
)


@desk.get("/shipping")
def shipping_methods() -> str:
    """All methods, and the form of the one that `id` names or of a new one."""
    return _show(METHODS)


@desk.post("/shipping")
def save_shipping_method() -> str | BaseResponse:
    return _save(METHODS)


@desk.get("/tax")
@desk.get("/taxes")
def tax_rates() -> str:
    """The tax report of a span, all rates, and the form of the one that `id` names or of a new one."""
    return _show(RATES)


@desk.post("/taxes")
def save_tax_rate() -> str | BaseResponse:
    return _save(RATES)


@desk.get("/promotions")
def all_promotions() -> str:
    """All promotions, and the form of the one that `id` names or of a new one."""
    return _show(PROMOTIONS)


@desk.post("/promotions")
def save_promotion() -> str | BaseResponse:
    return _save(PROMOTIONS)


@desk.post("/promotions/end")
def end_promotion() -> BaseResponse:
    """A last version, which does not run any more: its codes are free for others."""
    id, etag = request.form.get("setting", ""), request.form.get("etag", "")
    orders, page = services().orders, f"/admin/promotions?id={quote(id)}"
    values = promotions.promotion_values(orders.setting(token(), PROMOTIONS.name, id)[0]) | {"active": ""}
    try:
        orders.save_setting(token(), PROMOTIONS.name, id, promotions.promotion_body(values), etag)
        flash(_("Ended. Nobody can use it any more."), "good")
    except (Conflict, Invalid, PreconditionFailed) as error:
        flash(message(error), "bad")
    return redirect(page, 303)


@desk.get("/tax.csv")
def tax_csv() -> Response:
    span = _span()
    answer = services().orders.csv(token(), "tax", from_=span.start, to=span.end)
    headers = {"Content-Disposition": f'attachment; filename="tax-{span.first}-{span.last}.csv"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


def _show(kind: Kind) -> str:
    id = request.args.get("id", "")
    found, etag = services().orders.setting(token(), kind.name, id) if id else (None, "")
    values = kind.values(found) if found else dict.fromkeys(kind.checked, "yes")
    form = restore(forms.Form(kind.fields, values), f"/admin/{kind.path}")
    return _page(kind, form, id, etag)


def _save(kind: Kind) -> str | BaseResponse:
    id, etag = request.form.get("setting", ""), request.form.get("etag", "")
    form = forms.Form(kind.fields).read(request.form)
    if form.is_valid:
        try:
            body, key = kind.body(form.values), forms.key(request.form)
            saved = services().orders.save_setting(token(), kind.name, id, body, etag, key)
            flash(_("Saved. It holds in every part of the shop now."), "good")
            return redirect(f"/admin/{kind.path}?id={saved['id']}")
        except Invalid as error:
            form.add_errors(error)
        except (Conflict, PreconditionFailed) as error:
            form.general = message(error)
    return _page(kind, form, id, etag)


def _page(kind: Kind, form: forms.Form, id: str, etag: str) -> str:
    orders, access = services().orders, token()
    span = _span()
    report = orders.tax(access, from_=span.start, to=span.end) if kind is RATES else []
    return render_template(
        kind.template,
        form=form,
        id=id,
        etag=etag,
        items=orders.settings(access, kind.name),
        versions=orders.versions(access, kind.name, id) if id else [],
        amounts_text=terms.amounts_text,
        summary=promotions.summary,
        uses=orders.promotion_uses(access, id) if kind is PROMOTIONS and id else None,
        report=report,
        span=span,
    )


def _span() -> periods.Span:
    """Of the query; a wrong one is the usual."""
    today = datetime.now(UTC).date()
    first = today.replace(month=1, day=1)
    try:
        return periods.span("month", request.args.get("from") or str(first), request.args.get("to"), today)
    except Invalid:
        return periods.span("month", str(first), None, today)
