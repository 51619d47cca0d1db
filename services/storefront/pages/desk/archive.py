"""Closed years at the desk: what may be archived, what is, and how far the worker is with it; and one order brought back."""

from functools import partial
from typing import Final

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import attempt
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Conflict, Invalid, NotFound
from shared.types import Json

ACTS: Final = {
    "save": gettext_noop("Write the archive"),
    "remove": gettext_noop("Take the orders out of the database"),
    "restore": gettext_noop("Bring the orders back"),
}
STATES: Final = {
    "queued": gettext_noop("waits for the worker"),
    "running": gettext_noop("under way"),
    "done": gettext_noop("done"),
    "failed": gettext_noop("failed"),
}


@desk.get("/archive")
def archives() -> str:
    found = services().orders.archives(token())
    return render_template(
        "desk/archive.html",
        found=found,
        acts={name: _(words) for name, words in ACTS.items()},
        states={name: _(words) for name, words in STATES.items()},
        names=_names(found["items"]),
        under_way=any(_is_under_way(year) for year in found["items"]),
        is_under_way=_is_under_way,
    )


@desk.get("/archive/<year>")
def back_to_archives(year: str) -> BaseResponse:
    """The address that a form goes to, opened as a page."""
    return redirect(url_for("desk.archives"))


@desk.post("/archive/<year>")
def archive(year: str) -> BaseResponse:
    try:
        services().orders.archive(
            token(),
            year,
            request.form.get("act", ""),
            forms.key(request.form),
            copied="copied" in request.form,
        )
        flash(_("The worker does it now, in pieces: this page says how far it is."), "good")
    except (Conflict, Invalid, NotFound) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("desk.archives"))


@desk.post("/orders/<orderid>/restoration")
def restore_order(orderid: str) -> BaseResponse:
    try:
        services().orders.restore_order(token(), orderid)
        flash(_("The order is back from the archive."), "good")
    except (Conflict, Invalid) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("desk.order", orderid=orderid))


@desk.get("/orders/<orderid>/restoration")
def back_from_restoration(orderid: str) -> BaseResponse:
    """The address that a form goes to, opened as a page."""
    return redirect(url_for("desk.order", orderid=orderid))


def _is_under_way(year: Json) -> bool:
    return bool(year["last"]) and year["last"]["state"] in ("queued", "running")


def _names(years: list[Json]) -> dict[str, str]:
    """Of the people who began something, by who it was; none of who is gone."""
    who = {each["last"]["by"] for each in years if each["last"]}
    found = {each: attempt(partial(_account, each), {"name": ""})()["name"] for each in who}
    return {each: name for each, name in found.items() if name}


def _account(who: str) -> Json:
    return services().users.account_of(token(), who.removeprefix("user "))
