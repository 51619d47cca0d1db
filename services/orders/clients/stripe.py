"""Stripe's public API as a provider: a payment intent per order, created, then confirmed; webhooks with their signature.

Creating and confirming are two calls, so that closing an order can meet the same intent (same idempotency key,
same parameters) and cancel it: Stripe itself decides whether the charge or the cancellation was first. Stripe forgets
an idempotency key after a day or more: what comes later than that is found by the metadata it was made with.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from services.orders.clients import signatures
from services.orders.clients.payments import (
    Charge,
    PaymentClosed,
    PaymentDeclined,
    PaymentEvent,
    ProviderUnavailable,
)
from services.orders.clients.signatures import Headers
from shared.clock import iso
from shared.couch.deadline import time_for
from shared.couch.http import HttpClient, TransportError
from shared.errors import AisleError, BadRequest
from shared.idempotency import fingerprint_of
from shared.money import Money, money

_VERSION = "2024-06-20"
_TIMEOUT_SECONDS = 2.5


class StripeRefused(AisleError):
    """Stripe says that our request is wrong: settings or code, not the customer."""

    code, title = "payment_provider_refused", "The payment provider refused our request"


class StripeProvider:
    """The provider `stripe`. `token` is a payment method's id (`pm_...`), made by Stripe's own page in the browser."""

    name = "stripe"

    def __init__(self, url: str, api_key: str, webhook_secret: str, tolerance: int) -> None:
        self._url, self._api_key = url.rstrip("/"), api_key
        self._secret, self._tolerance = webhook_secret, tolerance
        self._http = HttpClient(max_idle=8)

    def charge(self, orderid: str, total: Money, token: str) -> Charge:
        intent = self._intent(orderid, total)
        if intent["status"] == "succeeded":
            return _charge(intent)
        if intent["status"] == "canceled":
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        path = f"/v1/payment_intents/{quote(intent['id'], safe='')}/confirm"
        confirmed = self._post(
            path,
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
        listed = self._call("GET", f"/v1/refunds?{urlencode({'payment_intent': ref, 'limit': 100})}")["data"]
        for made in listed:
            if made["metadata"].get("reference") == key:
                return str(made["id"])
        body = {
            "payment_intent": ref,
            "amount": str(total["amount"]),
            "metadata[orderid]": orderid,
            "metadata[reference]": key,
        }
        return str(self._post("/v1/refunds", body, f"{orderid}-{key}")["id"])

    def event(self, headers: Headers, body: bytes) -> PaymentEvent | None:
        signatures.check(self._secret, headers.get("Stripe-Signature"), body, self._tolerance)
        try:
            event = orjson.loads(body)
            orderid = event["data"]["object"].get("metadata", {}).get("orderid")
            return PaymentEvent(str(orderid), str(event["type"])) if orderid else None
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise BadRequest("This is not a Stripe event.") from None

    def _intent(self, orderid: str, total: Money) -> dict[str, Any]:
        """The order's one payment intent: made the first time, met again by its idempotency key ever after."""
        body = {
            "amount": str(total["amount"]),
            "currency": total["currency"].lower(),
            "metadata[orderid]": orderid,
            "payment_method_types[]": "card",
        }
        made = self._post("/v1/payment_intents", body, orderid)
        return self._fresh(made) if made.get("_replayed") else made

    def _intents(self, orderid: str, total: Money) -> Iterator[dict[str, Any]]:
        """The intent of today's key, and any that was made under a key which Stripe has forgotten since."""
        known = self._fresh(self._intent(orderid, total))
        yield known
        query = urlencode({"query": f"metadata['orderid']:'{orderid}'"})
        for found in self._call("GET", f"/v1/payment_intents/search?{query}")["data"]:
            if found["id"] != known["id"]:
                yield self._fresh(found)

    def _cancelled(self, intent: dict[str, Any]) -> dict[str, Any]:
        """The intent after all that may still be charged of it was cancelled; `succeeded` when the charge was first."""
        path = f"/v1/payment_intents/{quote(intent['id'], safe='')}/cancel"
        try:
            return self._post(path, {}, f"{intent['id']}-cancel")
        except StripeRefused:
            intent = self._fresh(intent)
            if intent["status"] not in ("succeeded", "canceled"):
                raise
            return intent

    def _fresh(self, intent: dict[str, Any]) -> dict[str, Any]:
        return self._call("GET", f"/v1/payment_intents/{quote(intent['id'], safe='')}")

    def _post(self, path: str, body: dict[str, str], key: str) -> dict[str, Any]:
        return self._call("POST", path, urlencode(body).encode(), {"Idempotency-Key": key})

    def _call(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        sent = {
            "Authorization": f"Bearer {self._api_key}",
            "Stripe-Version": _VERSION,
            "Content-Type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        try:
            answer = self._http.request(
                method, self._url + path, sent, body, timeout=time_for(_TIMEOUT_SECONDS)
            )
            said: dict[str, Any] = orjson.loads(answer.body)
        except (TransportError, orjson.JSONDecodeError) as error:
            raise ProviderUnavailable(
                "Stripe gave no answer; the payment is looked up before anything else."
            ) from error
        if answer.status >= 400:
            raise _error(answer.status, said.get("error", {}))
        return said | ({"_replayed": True} if answer.headers.get("Idempotent-Replayed") == "true" else {})


def _error(status: int, said: dict[str, Any]) -> AisleError:
    detail = str(said.get("message") or f"Stripe answered {status}.")
    if status == 402 or said.get("type") == "card_error" or said.get("param") == "payment_method":
        return PaymentDeclined(detail, decline_code=said.get("decline_code") or said.get("code"))
    if status in (409, 429) or status >= 500:
        return ProviderUnavailable(detail)
    return StripeRefused(detail)


def _charge(intent: dict[str, Any]) -> Charge:
    taken = datetime.fromtimestamp(intent["created"], UTC)
    return Charge(intent["id"], money(intent["amount"], intent["currency"].upper()), iso(taken))
