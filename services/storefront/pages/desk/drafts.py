"""Draft orders at the desk: made for a customer on the phone, reckoned, and placed with a payment link or paid already."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import address_forms, forms
from services.storefront.clients import Requester, without_empty
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import done
from services.storefront.pages.saved_forms import restored, updated
from services.storefront.pages.visitor import token
from services.storefront.rules.draft_rows import (
    discount_of,
    discount_text,
    items_of,
    rows_of,
    typed_rows,
    with_product,
)
from services.storefront.rules.messages import message
from services.storefront.rules.payments import MANUAL_PAYMENTS
from services.storefront.translation import gettext as _
from shared.addresses import PARTS
from shared.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound, PaymentRequired, TooManyRequests
from shared.types import Json

NEW: Json = {
    "id": "",
    "state": "open",
    "userid": None,
    "email": "",
    "name": "",
    "items": [],
    "discount": None,
    "address": None,
    "shipping": "",
    "codes": [],
    "gift_cards": [],
    "currency": "",
    "language": "",
    "note": "",
    "quote": None,
    "problem": None,
}
FOUND = 8
REFUSALS = (BadRequest, Conflict, Forbidden, Invalid, NotFound, PaymentRequired, TooManyRequests)


@dataclass
class DraftForm:
    """What the page of a draft shows: its fields, the address in its country's form, and its lines."""

    fields: forms.Form
    address: forms.Form
    rows: list[Json]
    shipping: str = ""
    currency: str = ""
    language: str = ""
    kept_cards: list[str] = field(default_factory=list)
    etag: str = ""

    @classmethod
    def of(cls, draft: Json, email: str, etag: str) -> "DraftForm":
        values = {
            "email": email,
            "codes": ", ".join(draft["codes"]),
            "off": discount_text(draft["discount"]),
            "off_reason": draft["discount"]["reason"] if draft["discount"] else "",
            "note": draft["note"],
        }
        address = draft["address"] if isinstance(draft["address"], dict) else {}
        shown = _address_form(address)
        shown.values |= {"name": draft["name"], **{name: str(value) for name, value in address.items()}}
        cards = [each["id"] for each in draft["gift_cards"]]
        return cls(
            forms.Form(forms.DRAFT, values),
            shown,
            rows_of(draft),
            draft["shipping"],
            draft["currency"],
            draft["language"],
            cards,
            etag,
        )

    @classmethod
    def sent(cls, values: Mapping[str, str], *, check: bool = True) -> "DraftForm":
        """As it was typed; without `check` it is only shown again."""
        address, fields = _address_form(values), forms.Form(forms.DRAFT)
        for form in (address, fields):
            form.read(values) if check else form.restore(values)
        return cls(
            fields,
            address,
            typed_rows(values),
            values.get("shipping", "")[:40],
            values.get("currency", "")[:3],
            values.get("language", "")[:20],
            [name.removeprefix("card-") for name in values if name.startswith("card-")],
            values.get("etag", "")[:200],
        )

    @property
    def is_valid(self) -> bool:
        return self.fields.is_valid and self.address.is_valid

    def body(self, sent: Mapping[str, str]) -> Json:
        """As the service takes it. Raises Invalid."""
        values, currency = self.fields.values, sent.get("reckoned", "") or self.currency or _own_currency()
        items = items_of(sent, currency)
        if sku := sent.get("add", ""):
            items = with_product(items, sku)
        parts = {name: self.address.values[name] for name in PARTS if self.address.values.get(name)}
        has_address = bool(parts.keys() - {"country"})
        name = self.address.values.get("name", "")
        return {
            **_customer(values["email"], name),
            "items": items,
            "discount": discount_of(values["off"], values["off_reason"], currency),
            "address": {"name": name, **parts} if has_address else None,
            "codes": forms.split_list(values["codes"]),
            "gift_cards": [*self.kept_cards, *forms.split_list(values["gift_code"])],
            **without_empty(
                shipping=self.shipping, currency=self.currency, language=self.language, note=values["note"]
            ),
        }

    def refuse(self, error: Exception) -> None:
        if isinstance(error, Invalid):
            self.fields.add_errors(error)
        elif isinstance(error, Conflict) and error.code == "draft_changed":
            self.fields.general = _(
                "Somebody else has changed this draft. Open it in another window to see what they wrote; what you typed is here, and replaces it when you save again."
            )
        elif isinstance(error, REFUSALS):
            self.fields.general = message(error)


@desk.get("/drafts")
def drafts() -> str:
    cursor = request.args.get("cursor", "")
    found = services().orders.drafts(token(), cursor)
    return render_template("desk/drafts.html", drafts=found["items"], next=found["next"], later=bool(cursor))


@desk.get("/orders/new")
def new_draft() -> str:
    action = url_for("desk.add_draft")
    values = restored(action)
    form = DraftForm.sent(values, check=False) if values else DraftForm.of(NEW, "", "")
    return _page(NEW, form, action)


@desk.post("/drafts")
def add_draft() -> str | BaseResponse:
    form, action = DraftForm.sent(request.form), url_for("desk.add_draft")
    if "update" in request.form:
        return _shown_again(NEW, action)
    if form.is_valid:
        try:
            made = services().orders.add_draft(token(), form.body(request.form), forms.key(request.form))
            return _to(made["id"])
        except REFUSALS as error:
            form.refuse(error)
    return _page(NEW, form, action)


@desk.get("/drafts/<id>")
def draft(id: str) -> str:
    found, etag = services().orders.draft(token(), id)
    action = url_for("desk.change_draft", id=id)
    values = restored(action)
    form = DraftForm.sent(values, check=False) if values else DraftForm.of(found, _email_of(found), etag)
    return _page(found, form, action)


@desk.post("/drafts/<id>")
def change_draft(id: str) -> str | BaseResponse:
    form, action = DraftForm.sent(request.form), url_for("desk.change_draft", id=id)
    if "update" in request.form:
        return _shown_again(services().orders.draft(token(), id)[0], action)
    if form.is_valid:
        try:
            services().orders.change_draft(token(), id, form.body(request.form), form.etag)
            return _to(id)
        except REFUSALS as error:
            form.refuse(error)
    found, etag = services().orders.draft(token(), id)
    form.etag = etag
    return _page(found, form, action)


@desk.post("/drafts/<id>/removal")
def remove_draft(id: str) -> BaseResponse:
    try:
        services().orders.remove_draft(token(), id)
    except Conflict as error:
        flash(message(error), "bad")
        return redirect(url_for("desk.draft", id=id))
    flash(_("The draft is removed."), "good")
    return redirect(url_for("desk.drafts"))


@desk.post("/drafts/<id>/order")
def place_draft(id: str) -> BaseResponse:
    """Pressed twice it is one order."""
    sent = request.form
    body: Json = {
        "payment": {
            "kind": sent.get("kind", ""),
            **without_empty(reference=sent.get("reference", "").strip()[:200]),
        },
    }
    if sent.get("total_amount", "").isdecimal():
        body["expected_total"] = {
            "amount": int(sent["total_amount"]),
            "currency": sent.get("total_currency", ""),
        }
    if body["payment"]["kind"] == "link":
        body["payment"] = {"kind": "link"}
    try:
        order = services().orders.place_draft(token(), id, body)
    except REFUSALS as error:
        flash(message(error, _names(id) if error.code == "out_of_stock" else None), "bad")
        return redirect(url_for("desk.draft", id=id))
    words = (
        _("The order is placed. The customer gets an e-mail with the link to pay.")
        if order.get("payment_page")
        else _("The order is placed and paid.")
    )
    return done(order["orderid"], words)


@desk.post("/orders/<orderid>/payment/cancellation")
def cancel_payment_link(orderid: str) -> BaseResponse:
    order = services().orders.end_payment(Requester(token()), orderid)
    words = _("It is cancelled, and the goods are for sale again.")
    return done(
        orderid, words if order["status"] == "cancelled" else _("It was paid before it was cancelled.")
    )


@desk.post("/orders/<orderid>/refunds/<int:number>/settlement")
def record_refund(orderid: str, number: int) -> BaseResponse:
    body = {"reference": request.form.get("reference", "").strip()[:200]}
    services().orders.act(token(), orderid, f"refunds/{number}/settlement", body)
    return done(orderid, _("Recorded as paid back."))


@desk.get("/drafts/<id>/order")
@desk.get("/drafts/<id>/removal")
def back_to_draft(id: str) -> BaseResponse:
    """The addresses that forms go to, opened as pages: a form whose session was lost comes back here."""
    return redirect(url_for("desk.draft", id=id, form=request.args.get("form")))


@desk.get("/orders/<orderid>/payment/cancellation")
@desk.get("/orders/<orderid>/refunds/<int:number>/settlement")
def back_to_payment(orderid: str, number: int = 0) -> BaseResponse:
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


def _to(id: str) -> BaseResponse:
    """The draft's page, with what is searched for or picked."""
    wanted = without_empty(
        q=request.form.get("q", "").strip()[:200] if "search" in request.form else "",
        pick=request.form.get("pick", "")[:200],
    )
    return redirect(
        url_for("desk.draft", id=id, **wanted) + ("#goods" if wanted or "add" in request.form else "")
    )


def _shown_again(found: Json, action: str) -> str:
    """In another country's form: nothing is saved."""
    updated(request.form)
    return _page(found, DraftForm.sent(request.form, check=False), action)


def _address_form(values: Mapping[str, Any]) -> forms.Form:
    """No field is required: a draft may have a part of an address."""
    methods = dependencies().shipping_methods.get()
    country = address_forms.country_of(values, methods["country"])
    form = address_forms.address_form(country, methods["countries"])
    return forms.Form(tuple(replace(each, required=False) for each in form.fields), form.values)


def _customer(email: str, name: str) -> Json:
    """The account with this e-mail, or a guest."""
    if not email:
        return {"name": name}
    with suppress(NotFound):
        return {"userid": services().users.account(token(), email)["userid"]}
    return {"email": email, "name": name}


def _names(id: str) -> dict[str, str]:
    """The goods of a draft by SKU, as customers know them."""
    found, _etag = services().orders.draft(token(), id)
    lines = found["quote"]["items"] if found["quote"] else []
    return {line.get("sku") or line["productid"]: line["name"] for line in lines}


def _email_of(found: Json) -> str:
    if not found["userid"]:
        return str(found["email"])
    try:
        return str(services().users.account_of(token(), found["userid"])["email"])
    except NotFound:
        return ""


def _own_currency() -> str:
    return next(iter(dependencies().settings.currencies), "GBP")


def _page(found: Json, form: DraftForm, action: str) -> str:
    settings = dependencies().settings
    q, pick = request.args.get("q", ""), request.args.get("pick", "")
    return render_template(
        "desk/draft.html",
        draft=found,
        form=form,
        action=action,
        q=q,
        goods=_goods(q, form.currency) if q else [],
        picked=services().products.product(pick, token()) if pick else None,
        currencies=settings.currencies,
        payments=MANUAL_PAYMENTS,
    )


def _goods(q: str, currency: str) -> list[Json]:
    asked = without_empty(q=q, limit=FOUND, analytics="false", currency=currency)
    return list(services().products.search(asked)["items"])
