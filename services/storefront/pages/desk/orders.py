"""Orders at the desk: the list with its filters, one order with dispatch, delivery and refund."""

from datetime import timedelta

from flask import Response, flash, redirect, render_template, request, url_for

from services.storefront import forms
from services.storefront.clients import Asking
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules import periods, prices, progress
from shared.errors import Conflict, Invalid, NotFound

STATUSES = ("placed", "paid", "dispatched", "delivered", "cancelled", "returned")


@desk.get("/orders")
def orders() -> str | Response:
    if wanted := request.args.get("order", "").strip():
        return redirect(url_for("desk.order", orderid=wanted))
    args, problem, found = request.args, "", {"items": [], "next": None}
    try:
        found = services().orders.all(
            token(),
            from_=args.get("from"),
            to=_after(args.get("to")),
            status=args.get("status"),
            cursor=args.get("cursor"),
            limit=25,
        )
    except Invalid as error:
        problem = forms.complaint(error)
    return render_template(
        "desk/orders.html", orders=found["items"], next=found["next"], statuses=STATUSES, problem=problem
    )


def _after(day: str | None) -> str | None:
    """The day after `day`: the API's ranges end before their end, people's include it."""
    return (periods.day(day, "to") + timedelta(days=1)).isoformat() if day else None


@desk.get("/orders/<orderid>")
def order(orderid: str) -> str:
    return _page(orderid)


@desk.post("/orders/<orderid>/dispatch")
def dispatch(orderid: str) -> str | Response:
    form = forms.Form(forms.DISPATCH).read(request.form)
    if form.ok:
        try:
            services().orders.act(token(), orderid, "dispatch", form.values)
            return _done(orderid, "Dispatched.")
        except (Conflict, Invalid) as error:
            _blame(form, error)
    return _page(orderid, dispatch=form)


@desk.post("/orders/<orderid>/delivery")
def delivery(orderid: str) -> Response:
    try:
        services().orders.act(token(), orderid, "delivery", {})
    except (Conflict, Invalid) as error:
        flash(forms.complaint(error), "bad")
        return redirect(url_for("desk.order", orderid=orderid))
    return _done(orderid, "Delivered.")


@desk.post("/orders/<orderid>/refunds")
def refund(orderid: str) -> str | Response:
    form = forms.Form(forms.REFUND).read(request.form)
    if form.ok:
        try:
            amount = prices.read(form.values["amount"], request.form["currency"], "amount")
            services().orders.act(
                token(),
                orderid,
                "refunds",
                {"amount": amount, "reason": form.values["reason"]},
                forms.key(request.form),
            )
            return _done(orderid, "Refunded.")
        except (Conflict, Invalid) as error:
            _blame(form, error)
    return _page(orderid, refund=form)


def _blame(form: forms.Form, error: Conflict | Invalid) -> None:
    if isinstance(error, Invalid):
        form.blame(error)
    else:
        form.general = error.detail


def _done(orderid: str, message: str) -> Response:
    flash(message, "good")
    return redirect(url_for("desk.order", orderid=orderid))


def _page(orderid: str, dispatch: forms.Form | None = None, refund: forms.Form | None = None) -> str:
    try:
        found = services().orders.order(Asking(token()), orderid)
    except NotFound:
        raise NotFound(f"There is no order {orderid}.") from None
    return render_template(
        "desk/order.html", order=found, steps=progress.steps(found), dispatch=dispatch or forms.Form(forms.DISPATCH, {"courier": "By hand"}),
        refund=refund or forms.Form(forms.REFUND),
    )  # fmt: skip
