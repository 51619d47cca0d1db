"""Stripe Checkout: one session per order, paid on Stripe's page; the payment intent behind it says what came of it.

A session is made under the order's idempotency key, so that whoever repeats a checkout that died meets the same one.
It has to be ended as a session: Stripe cancels its payment intent itself. Stripe can't look a session up by its metadata;
where the session's id was lost, the same request is made again within its time, and after that the payment intent is searched.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from services.orders.clients.payments import (
    Capture,
    Charge,
    NoSuchPage,
    Outcome,
    PageState,
    PaymentClosed,
    PaymentDeclined,
    PaymentPage,
    ProviderUnavailable,
    SavedMethod,
)
from services.orders.clients.stripe_api import Json, KeyUsedOtherwise, StripeApi, StripeRefused
from services.orders.rules.payment_pages import Purchase
from shared.clock import iso, now
from shared.money import money

SESSIONS, INTENTS, CUSTOMERS = "/v1/checkout/sessions", "/v1/payment_intents", "/v1/customers"
_CHARGE: Final = "payment_intent.latest_charge"
MAX_SAVED: Final = 10
_SHOWN_AGAIN: Final = frozenset({"always", "limited"})
_UNKNOWN: Final = "resource_missing"
_FAILED: Final = frozenset({"requires_payment_method", "canceled"})


class StripeCheckout:
    """A `HostedProvider`."""

    def __init__(self, api: StripeApi) -> None:
        self._api = api

    def open_page(self, purchase: Purchase) -> PaymentPage:
        try:
            session = self._session(purchase)
        except StripeRefused as refusal:
            raise PaymentDeclined(f"This order cannot be paid by card: {refusal.detail}") from refusal
        if session["status"] != "open":
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        return PaymentPage(session["id"], session["url"], _time(session["expires_at"]))

    def outcome(self, purchase: Purchase, ref: str) -> Outcome:
        return _outcome(self._found(ref)) if ref else self._searched(purchase)

    def complete(self, purchase: Purchase, ref: str) -> Outcome:
        """Stripe carries everything out by itself."""
        return self.outcome(purchase, ref)

    def end_page(self, purchase: Purchase, ref: str) -> Outcome:
        session = self._found(ref) if ref else self._made(purchase)
        if session is None:
            return self._searched(purchase)
        if session["status"] == "open":
            with suppress(StripeRefused):  # not open any more, or being paid at this moment
                self._api.post(f"{SESSIONS}/{quote(session['id'], safe='')}/expire", {})
            session = self._found(session["id"])
        if session["status"] == "open":
            raise ProviderUnavailable("The customer is paying just now; the page is ended later.")
        return _outcome(session)

    def capture(self, orderid: str, ref: str, capture: Capture) -> str:
        """One of several is looked for first: Stripe forgets a key after a day, and would take the same part again."""
        path = f"{INTENTS}/{quote(ref, safe='')}"
        intent = {} if capture.is_only else self._api.get(path)
        if not _is_taken(intent, capture):
            body = {"amount_to_capture": str(capture.total["amount"])}
            if not capture.is_only:
                body["final_capture"] = str(capture.final).lower()
            try:
                intent = self._api.post(f"{path}/capture", body, f"{orderid}-{capture.key}")
            except StripeRefused:
                intent = self._api.get(path)
        if _is_taken(intent, capture):
            return str(intent["id"])
        if intent["status"] == "requires_capture":
            raise ProviderUnavailable("Stripe holds the money and did not take it; it is asked again.")
        raise PaymentClosed("The bank does not hold the money any more.")

    def holds(self, ref: str) -> bool:
        return bool(self._api.get(f"{INTENTS}/{quote(ref, safe='')}")["status"] == "requires_capture")

    def release(self, orderid: str, ref: str) -> str | None:
        path = f"{INTENTS}/{quote(ref, safe='')}"
        intent = self._api.get(path)
        if intent["status"] == "requires_capture" and not intent.get("amount_received"):
            with suppress(StripeRefused):  # released or captured meanwhile
                self._api.post(f"{path}/cancel", {})
            intent = self._api.get(path)
        if intent.get("amount_received"):
            return None
        if intent["status"] not in ("canceled", "succeeded"):
            raise ProviderUnavailable(f"The payment is {intent['status']}; it is released later.")
        return str(intent["id"]) if intent["status"] == "canceled" else None

    def add_customer(self, userid: str, email: str, name: str) -> str:
        body = {"email": email, "name": name, "metadata[userid]": userid}
        return str(self._api.post(CUSTOMERS, body, f"customer-{userid}")["id"])

    def saved_methods(self, customer: str) -> tuple[SavedMethod, ...]:
        path = f"{CUSTOMERS}/{quote(customer, safe='')}/payment_methods"
        found = self._api.get(path, type="card", limit=MAX_SAVED)["data"]
        return tuple(_saved(method) for method in found if method.get("allow_redisplay") in _SHOWN_AGAIN)

    def remove_customer(self, ref: str) -> None:
        try:
            self._api.delete(f"{CUSTOMERS}/{quote(ref, safe='')}")
        except StripeRefused as refusal:
            if refusal.extra.get("provider_code") != _UNKNOWN:
                raise

    def _session(self, purchase: Purchase) -> Json:
        """The order's one session: made the first time, met again by its idempotency key for a day."""
        made = self._api.post(SESSIONS, dict(_parameters(purchase)), f"{purchase.orderid}-checkout")
        return self._found(made["id"]) if made.get("_replayed") else made

    def _made(self, purchase: Purchase) -> Json | None:
        """The session whose id was lost; None when its time is up, or when there cannot be one any more."""
        if now() >= purchase.expires:
            return None
        try:
            return self._session(purchase)
        except KeyUsedOtherwise as error:
            raise ProviderUnavailable(
                "This order has a page whose reference was lost; it ends by itself."
            ) from error
        except StripeRefused:
            return None

    def _found(self, ref: str) -> Json:
        try:
            return self._api.get(f"{SESSIONS}/{quote(ref, safe='')}", **{"expand[]": _CHARGE})
        except StripeRefused as refusal:
            if refusal.extra.get("provider_code") != _UNKNOWN:
                raise
            raise NoSuchPage(f"Stripe knows no session {ref}.") from refusal

    def _searched(self, purchase: Purchase) -> Outcome:
        """By the payment intent, which Stripe makes when a customer pays."""
        query = {"query": f"metadata['orderid']:'{purchase.orderid}'", "expand[]": "data.latest_charge"}
        found = [_of_intent(intent) for intent in self._api.get(f"{INTENTS}/search", **query)["data"]]
        known = [outcome for outcome in found if outcome is not None]
        ended = Outcome(PageState.ENDED if now() >= purchase.expires else PageState.OPEN)
        return min(known, key=lambda each: each.state != PageState.PAID, default=ended)


def _parameters(purchase: Purchase) -> Iterator[tuple[str, str]]:
    """What a session is made of; always the same for an order."""
    currency = purchase.total["currency"].lower()
    yield from {
        "mode": "payment",
        "client_reference_id": purchase.orderid,
        "metadata[orderid]": purchase.orderid,
        "payment_intent_data[metadata][orderid]": purchase.orderid,
        "success_url": purchase.paid_url,
        "cancel_url": purchase.cancelled_url,
        "expires_at": str(int(purchase.expires.timestamp())),
        "expand[]": _CHARGE,
    }.items()
    for place, line in enumerate(purchase.lines):
        yield f"line_items[{place}][quantity]", str(line.quantity)
        yield f"line_items[{place}][price_data][currency]", currency
        yield f"line_items[{place}][price_data][unit_amount]", str(line.unit_price)
        yield f"line_items[{place}][price_data][product_data][name]", line.name
    if not purchase.captures:
        yield "payment_intent_data[capture_method]", "manual"
        if purchase.several_captures:
            yield "payment_method_options[card][request_multicapture]", "if_available"
    if purchase.customer:
        yield "customer", purchase.customer
        yield "saved_payment_method_options[allow_redisplay_filters][0]", "always"
        yield "saved_payment_method_options[allow_redisplay_filters][1]", "limited"
        yield "saved_payment_method_options[payment_method_remove]", "enabled"
    elif purchase.email:
        yield "customer_email", purchase.email
    if purchase.saves_card and purchase.customer:
        yield "payment_intent_data[setup_future_usage]", "on_session"


def _saved(method: Json) -> SavedMethod:
    card = method["card"]
    expires = f"{card['exp_year']}-{card['exp_month']:02d}"
    return SavedMethod(str(method["id"]), str(card["brand"]), str(card["last4"]), expires)


def _outcome(session: Json) -> Outcome:
    if session["payment_status"] == "no_payment_required":
        total = money(session["amount_total"], session["currency"].upper())
        return Outcome(PageState.PAID, Charge(session["id"], total, _time(session["created"])))
    intent = session.get("payment_intent") or {}
    known = _of_intent(intent, completed=session["status"] == "complete") if intent else None
    if known is not None:
        return known
    state = PageState.OPEN if session["status"] == "open" else PageState.ENDED
    return Outcome(state, detail=str((intent.get("last_payment_error") or {}).get("message") or ""))


def _of_intent(intent: Json, *, completed: bool = False) -> Outcome | None:
    """PAID or PROCESSING; None for an intent that may still be paid or has failed. `completed`: the customer has done
    everything on the page, so that what still `requires_action` is a voucher to be paid elsewhere."""
    status = intent["status"]
    if status in ("succeeded", "requires_capture"):
        return Outcome(PageState.PAID, charge_of(intent))
    if status == "processing" or (completed and status not in _FAILED):
        return Outcome(PageState.PROCESSING)
    return None


def charge_of(intent: Json) -> Charge:
    """What was charged or reserved by an intent, whose `latest_charge` is expanded."""
    charge = intent.get("latest_charge")
    known = charge if isinstance(charge, dict) else {}
    captured = intent["status"] == "succeeded"
    card = (known.get("payment_method_details") or {}).get("card") or {}
    before = card.get("capture_before")
    return Charge(
        intent["id"],
        money(intent["amount"], intent["currency"].upper()),
        _time(known.get("created") or intent["created"]),
        captured,
        "" if captured or not before else _time(before),
        (card.get("multicapture") or {}).get("status") == "available",
    )


def _is_taken(intent: Json, capture: Capture) -> bool:
    """Whether this and all captures before it are done."""
    status = intent.get("status")
    if capture.is_only:
        return status == "succeeded"
    done = intent.get("amount_received", 0) >= capture.before + capture.total["amount"]
    return done and (status == "succeeded" or (status == "requires_capture" and not capture.final))


def _time(seconds: int) -> str:
    return iso(datetime.fromtimestamp(seconds, UTC))
