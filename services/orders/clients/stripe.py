"""Stripe's public API as a provider: a payment intent per order, created, then confirmed; webhooks with their signature.

Creating and confirming are two calls, so that closing an order can meet the same intent (same idempotency key,
same parameters) and cancel it: Stripe itself decides whether the charge or the cancellation was first. Stripe forgets
an idempotency key after a day or more: what comes later than that is found by the metadata it was made with.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import orjson

from services.orders.clients import signatures
from services.orders.clients.payments import Charge, PaymentClosed, PaymentDeclined, PaymentEvent
from services.orders.clients.signatures import Headers
from services.orders.clients.stripe_api import Json, StripeApi, StripeRefused
from services.orders.clients.stripe_checkout import StripeCheckout
from shared.clock import iso
from shared.errors import BadRequest
from shared.idempotency import fingerprint_of
from shared.money import Money, money


class StripeProvider:
    """The provider `stripe`. `token` is a payment method's id (`pm_...`), made by Stripe's own page in the browser, or saved with a customer.

    `webhook_secrets`: one, or two while the first is being replaced.
    """

    name = "stripe"

    def __init__(self, url: str, api_key: str, webhook_secrets: Sequence[str], tolerance: int) -> None:
        self._api = StripeApi(url, api_key)
        self._secrets, self._tolerance = webhook_secrets, tolerance
        self.hosted = StripeCheckout(self._api)

    def charge(self, orderid: str, total: Money, token: str, customer: str = "") -> Charge:
        intent = self._intent(orderid, total)
        if intent["status"] == "succeeded":
            return _charge(intent)
        if intent["status"] == "canceled":
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        path = f"/v1/payment_intents/{quote(intent['id'], safe='')}"
        if customer:
            self._name_customer(orderid, path, customer)
        confirmed = self._api.post(
            f"{path}/confirm",
            {"payment_method": token, "off_session": "true"},
            f"{orderid}-confirm-{fingerprint_of(token)}",
        )
        if confirmed["status"] != "succeeded":
            raise PaymentDeclined(f"The payment needs more from the customer ({confirmed['status']}).")
        return _charge(confirmed)

    def find(self, orderid: str, total: Money) -> Charge | None:
        paid = (intent for intent in self._intents(orderid, total) if intent["status"] == "succeeded")
        return next((_charge(intent) for intent in paid), None)

    def close(self, orderid: str, total: Money) -> Charge | None:
        ended = [self._cancelled(intent) for intent in self._intents(orderid, total)]
        return next((_charge(intent) for intent in ended if intent["status"] == "succeeded"), None)

    def refund(self, orderid: str, ref: str, key: str, total: Money) -> str:
        for made in self._api.get("/v1/refunds", payment_intent=ref, limit=100)["data"]:
            if made["metadata"].get("reference") == key:
                return str(made["id"])
        body = {
            "payment_intent": ref,
            "amount": str(total["amount"]),
            "metadata[orderid]": orderid,
            "metadata[reference]": key,
        }
        return str(self._api.post("/v1/refunds", body, f"{orderid}-{key}")["id"])

    def event(self, headers: Headers, body: bytes) -> PaymentEvent | None:
        signatures.check(self._secrets, headers.get("Stripe-Signature"), body, self._tolerance)
        try:
            event = orjson.loads(body)
            subject = event["data"]["object"]
            orderid = (subject.get("metadata") or {}).get("orderid")
            session = str(subject["id"]) if subject.get("object") == "checkout.session" else ""
            return PaymentEvent(str(orderid), str(event["type"]), session) if orderid else None
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise BadRequest("This is not a Stripe event.") from None

    def _name_customer(self, orderid: str, path: str, customer: str) -> None:
        """A method that is saved with a customer is charged for that customer alone."""
        try:
            self._api.post(path, {"customer": customer}, f"{orderid}-customer")
        except StripeRefused as refusal:
            raise PaymentDeclined("This card is not kept any more: choose another way to pay.") from refusal

    def _intent(self, orderid: str, total: Money) -> Json:
        """The order's one payment intent: made the first time, met again by its idempotency key ever after."""
        body = {
            "amount": str(total["amount"]),
            "currency": total["currency"].lower(),
            "metadata[orderid]": orderid,
            "payment_method_types[]": "card",
        }
        made = self._api.post("/v1/payment_intents", body, orderid)
        return self._fresh(made) if made.get("_replayed") else made

    def _intents(self, orderid: str, total: Money) -> Iterator[Json]:
        """The intent of today's key, and any that was made under a key which Stripe has forgotten since."""
        known = self._fresh(self._intent(orderid, total))
        yield known
        query = f"metadata['orderid']:'{orderid}'"
        for found in self._api.get("/v1/payment_intents/search", query=query)["data"]:
            if found["id"] != known["id"]:
                yield self._fresh(found)

    def _cancelled(self, intent: Json) -> Json:
        """The intent after all that may still be charged of it was cancelled; `succeeded` when the charge was first."""
        path = f"/v1/payment_intents/{quote(intent['id'], safe='')}/cancel"
        try:
            return self._api.post(path, {}, f"{intent['id']}-cancel")
        except StripeRefused:
            intent = self._fresh(intent)
            if intent["status"] not in ("succeeded", "canceled"):
                raise
            return intent

    def _fresh(self, intent: dict[str, Any]) -> Json:
        return self._api.get(f"/v1/payment_intents/{quote(intent['id'], safe='')}")


def _charge(intent: Json) -> Charge:
    taken = datetime.fromtimestamp(intent["created"], UTC)
    return Charge(intent["id"], money(intent["amount"], intent["currency"].upper()), iso(taken))
