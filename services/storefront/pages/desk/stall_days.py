"""A day at the stalls: takings, cash that was counted, sales, and what the stock had too little of."""

import re
from datetime import timedelta
from typing import Final

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import add_errors
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import logged_in, token
from services.storefront.rules import periods, prices
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid
from shared.money import money
from shared.types import Json

_DAY: Final = re.compile(r"20\d\d-\d\d-\d\d")
TODAY: Final = "today"
"""In the shop's time zone, as the orders service says."""
DAYS: Final = 31
"""Of a stall's sales in one file."""


@desk.get("/stall")
def stall_today() -> BaseResponse | str:
    """`day` leads to that day's page; without one it is today's."""
    asked = request.args.get("day", "")
    if _DAY.fullmatch(asked):
        return redirect(url_for("desk.stall_day", day=asked))
    return _page(TODAY, None)


@desk.get("/stall/days/<day>")
def stall_day(day: str) -> str:
    return _page(day, None)


@desk.post("/stall/days/<day>/cash-ups")
def cash_up(day: str) -> BaseResponse | str:
    found = services().orders.stall_day(token(), day)
    form = forms.Form(_fields(found)).read(request.form)
    if form.is_valid:
        try:
            done = services().orders.cash_up(token(), _content(form, day), forms.key(request.form))
            flash(_said(done), "good" if not done["difference"] else "warn")
            return redirect(url_for("desk.stall_day", day=day))
        except (Conflict, Invalid) as error:
            add_errors(form, error)
    return _page(day, form)


@desk.get("/stall/days/<day>/sales.csv")
def stall_csv(day: str) -> Response:
    """The sales of a day, or with `stall` those of one stall in the month up to it."""
    stall = request.args.get("stall", "")
    last = periods.day(day, "day")
    first = last - timedelta(days=DAYS - 1) if stall else last
    answer = services().orders.stall_sales_csv(token(), first.isoformat(), last.isoformat(), stall)
    headers = {"Content-Disposition": f'attachment; filename="stall-{first}-{last}.csv"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


@desk.post("/stall/oversold/<orderid>/settlement")
def settle_oversold(orderid: str) -> BaseResponse:
    day = request.form.get("day", "")
    try:
        services().orders.settle_oversold(token(), orderid, request.form.get("outcome", ""))
        flash(_("Settled."), "good")
    except (Conflict, Invalid) as error:
        flash(forms.error_text(error), "bad")
    if not _DAY.fullmatch(day):
        return redirect(url_for("desk.stall_today", _anchor="oversold"))
    return redirect(url_for("desk.stall_day", day=day, _anchor="oversold"))


def _page(day: str, form: forms.Form | None) -> str:
    found = services().orders.stall_day(token(), day)
    day = found["day"]
    page = services().orders.oversold(token(), request.args.get("cursor", ""))
    people = _people(found)
    return render_template(
        "desk/stall.html",
        day=day,
        found=found,
        people=people,
        form=form or restore(forms.Form(_fields(found)), url_for("desk.cash_up", day=day)),
        oversold=page["items"],
        next=page["next"],
        later=url_for("desk.stall_day", day=day, cursor=page["next"]),
    )


def _people(found: Json) -> dict[str, str]:
    """What who sold is called, by userid: admins see the names of the shop's people, staff their own."""
    ids = sorted({each["sold_by"] for each in (*found["takings"], *found["cash_ups"])})
    me = logged_in()
    known = {me.userid: me.name} if me else {}
    if me and "admin" in me.roles and set(ids) - set(known):
        known |= {each["userid"]: each["name"] for each in services().users.staff(token())["items"]}
    return {each: known.get(each) or each for each in ids}


def _fields(found: Json) -> tuple[forms.Field, ...]:
    """The form, with the people who sold on that day, or whoever counts."""
    people = _people(found)
    me = logged_in()
    options = tuple(people.items()) or (((me.userid, me.name),) if me else ())
    return tuple(
        forms.Field("sold_by", _("Whose till"), "select", options=options) if each.name == "sold_by" else each
        for each in forms.CASH_UP
    )


def _content(form: forms.Form, day: str) -> Json:
    currency = form.values["currency"].strip().upper()
    amounts = {
        name: prices.parse(form.values[name], currency, name)
        for name in ("opening", "paid_out", "counted")
        if form.values[name]
    }
    return {
        "day": day,
        "stall": form.values["stall"],
        "sold_by": form.values["sold_by"],
        "note": form.values["note"],
        **amounts,
    }


def _said(done: Json) -> str:
    if not done["difference"]:
        return _("The cash is right.")
    off = money(abs(done["difference"]), done["counted"]["currency"])
    if done["difference"] < 0:
        return _("%(amount)s are missing.", amount=prices.shown(off))
    return _("%(amount)s too much.", amount=prices.shown(off))
