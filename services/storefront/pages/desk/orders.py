"""Orders at the desk: the list with its filters, one order with dispatch and delivery."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import Requester
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.pdf import pdf_response
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules import customs, exchanges, parcels, periods, prices, progress
from services.storefront.rules.messages import message
from services.storefront.rules.payments import MANUAL_PAYMENTS
from services.storefront.rules.refunds import refundable, refundable_amount
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound
from shared.types import Json

STATUSES = (
    "placed",
    "paid",
    "partly_dispatched",
    "dispatched",
    "partly_delivered",
    "delivered",
    "cancelled",
    "returned",
)


MORE_FILTERS = ("product", "from", "to", "open_returns", "waiting", "stall", "stalls")


@desk.get("/orders")
def orders() -> str | BaseResponse:
    if wanted := request.args.get("order", "").strip():
        named = services().orders.all(token(), q=wanted[:200])["items"]
        return redirect(url_for("desk.order", orderid=named[0]["orderid"] if named else wanted))
    args, problem = request.args, ""
    found: Json = {"items": [], "next": None, "complete": True}
    counted: Json = {"counts": {}, "total": 0}
    chosen = {name: args.get(name) for name in ("q", "product", "open_returns", "waiting")}
    chosen["channel"] = _channel(args.get("stall", "").strip(), args.get("stalls", ""))
    try:
        found = services().orders.all(
            token(),
            from_=_day(args.get("from"), "from"),
            to=_after(args.get("to")),
            status=args.get("status"),
            cursor=args.get("cursor"),
            limit=25,
            **chosen,
        )
        counted = services().orders.counts(token(), **chosen)
    except Invalid as error:
        problem = forms.error_text(error)
    return render_template(
        "desk/orders.html",
        found=found,
        statuses=STATUSES,
        counted=counted,
        problem=problem,
        more_filters=any(args.get(name) for name in MORE_FILTERS),
    )


def _day(text: str | None, field: str) -> str | None:
    """Raises Invalid for what is no day."""
    return periods.day(text, field).isoformat() if text else None


def _channel(stall: str, stalls: str) -> str | None:
    """Sold at this stall, or at any."""
    return f"stall:{stall}" if stall else "stall" if stalls else None


def _after(day: str | None) -> str | None:
    """The day after `day`: the API's ranges end before their end, people's include it."""
    return (periods.day(day, "to") + timedelta(days=1)).isoformat() if day else None


@desk.get("/orders/<orderid>")
def order(orderid: str) -> str | tuple[str, int]:
    try:
        return order_page(find_order(orderid))
    except NotFound as error:
        if error.code != "order_archived":
            raise
        return render_template("desk/archived_order.html", orderid=orderid, known=error.extra), 404


@desk.get("/orders/<orderid>/dispatch")
@desk.get("/orders/<orderid>/delivery")
@desk.get("/orders/<orderid>/refunds")
def back_to_order(orderid: str) -> BaseResponse:
    """The addresses that forms go to, opened as pages: a form whose session was lost comes back here."""
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


@desk.post("/orders/<orderid>/delivery")
def delivery(orderid: str) -> BaseResponse:
    try:
        services().orders.act(token(), orderid, "delivery", {})
    except (Conflict, Invalid) as error:
        flash(forms.error_text(error), "bad")
        return redirect(url_for("desk.order", orderid=orderid))
    return done(orderid, _("Delivered."))


@desk.get("/orders/<orderid>/packing-slip.pdf")
def packing_slip(orderid: str) -> Response:
    return pdf_response(services().orders.packing_slip_pdf(token(), orderid, request.args.get("parcel", "")))


def add_errors(form: forms.Form, error: Conflict | Invalid) -> None:
    if isinstance(error, Invalid):
        form.add_errors(error)
    else:
        form.general = message(error)


def done(orderid: str, words: str) -> BaseResponse:
    flash(words, "good")
    return redirect(url_for("desk.order", orderid=orderid))


def find_order(orderid: str) -> dict[str, Any]:
    try:
        return services().orders.order(Requester(token()), orderid)
    except NotFound as error:
        if error.code == "order_archived":
            raise
        raise NotFound(_("There is no order %(number)s.", number=orderid)) from None


def order_page(
    found: dict[str, Any],
    dispatch: forms.Form | None = None,
    refund: forms.Form | None = None,
    recipient: forms.Form | None = None,
    undeclared: Sequence[dict[str, Any]] = (),
) -> str:
    """`undeclared`: products of which a customs declaration needs more."""
    left, orderid = refundable_amount(found), found["orderid"]
    by_hand = forms.Form(forms.DISPATCH, {"courier": _("By hand")})
    whole = forms.Form(forms.REFUND, {"amount": prices.plain(left) if left else ""})
    to = {name: text for name, text in found.get("gift_card_delivery", {}).items() if name != "sent"}
    return render_template(
        "desk/order.html",
        order=found,
        steps=progress.steps(found),
        left=left,
        refundable=refundable(found) and not found.get("archived"),
        gets_emails=bool(found.get("email")) and not found.get("imported"),
        left_to_send=parcels.left_to_send(found),
        ready_to_send=parcels.ready_to_send(found),
        unlabelled=parcels.unlabelled(found),
        undeclared=[(each["productid"], *customs.lacking(each)) for each in undeclared],
        label_statuses={name: _(words) for name, words in parcels.LABEL_STATUSES.items()},
        refundable_parts=parcels.refundable_parts(found),
        dispatch=dispatch or restore(by_hand, url_for("desk.dispatch", orderid=orderid)),
        refund=refund or restore(whole, url_for("desk.refund", orderid=orderid)),
        recipient=recipient
        or restore(
            forms.Form(forms.GIFT_RECIPIENT, to), url_for("desk.correct_gift_recipient", orderid=orderid)
        ),
        order_notes=services().orders.notes(token(), orderid),
        note=restore(forms.Form(forms.NOTE), url_for("desk.add_note", orderid=orderid)),
        placed_by=_placed_by(found),
        manual_payments=MANUAL_PAYMENTS,
        wanted={back["number"]: exchanges.wanted_for(back) for back in found["returns"]},
        buys_labels=bool(dependencies().settings.label_provider),
        refusals={back["number"]: _refusal(orderid, back["number"]) for back in found["returns"]},
    )


def _placed_by(found: dict[str, Any]) -> str:
    """The member of staff who placed it for the customer: their name, or their id once the account is gone."""
    userid = str(found.get("placed_by") or "").removeprefix("user ")
    if not userid:
        return ""
    try:
        return str(services().users.account_of(token(), userid)["name"])
    except NotFound:
        return userid


def _refusal(orderid: str, number: int) -> forms.Form:
    action = url_for("desk.refuse_return", orderid=orderid, number=number)
    return restore(forms.Form(forms.RETURN_REFUSAL), action)
