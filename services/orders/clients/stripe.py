"""Stripe's public API as a provider: a payment intent per order, created, then confirmed; webhooks with their signature.

Creating and confirming are two calls, so that closing an order can meet the same intent (same idempotency key,
same parameters) and cancel it. Both are asked under one key: Stripe does whichever is first and refuses the other, also where money
is only reserved, which Stripe would let us cancel. It forgets an idempotency key after a day or more: what comes later than that is
found by the metadata it was made with.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

import orjson

from services.orders.clients import signatures
from services.orders.clients.payments import (
    CardNotSaved,
    Charge,
    PaymentClosed,
    PaymentDeclined,
    PaymentEvent,
    ProviderUnavailable,
)
from services.orders.clients.signatures import Headers
from services.orders.clients.stripe_api import (
    AmountNotTaken,
    Json,
    KeyUsedOtherwise,
    MethodNotTaken,
    StripeApi,
    StripeRefused,
)
from services.orders.clients.stripe_checkout import StripeCheckout, charge_of
from shared.errors import BadRequest
from shared.money import Money, card_step

Way = Mapping[str, str]

_TAKEN: Final = frozenset({"succeeded", "requires_capture"})
_ENDED: Final = frozenset({*_TAKEN, "canceled"})
_EXPANDED: Final[Way] = {"expand[]": "latest_charge"}
_RESERVED: Final[Way] = {"capture_method": "manual"}
_IN_PARTS: Final[Way] = {**_RESERVED, "payment_method_options[card][request_multicapture]": "if_available"}
_WAYS: Final[tuple[Way, ...]] = ({}, _RESERVED, _IN_PARTS)
"""To take an intent's money: at once, once it is asked for, or then in parts."""


class StripeProvider:
    """The provider `stripe`. `token` is a payment method's id (`pm_...`), made by Stripe's own page in the browser, or saved with a customer.

    `webhook_secrets`: one, or two while the first is being replaced. `captures` and `several_captures`: see Purchase.
    """

    name = "stripe"

    def __init__(
        self,
        url: str,
        api_key: str,
        webhook_secrets: Sequence[str],
        tolerance: int,
        *,
        captures: bool = True,
        several_captures: bool = False,
    ) -> None:
        self._api = StripeApi(url, api_key)
        self._secrets, self._tolerance = webhook_secrets, tolerance
        self._way = {} if captures else _IN_PARTS if several_captures else _RESERVED
        self.hosted = StripeCheckout(self._api)

    def step(self, currency: str) -> int:
        return card_step(currency)

    def charge(self, orderid: str, total: Money, token: str, customer: str = "") -> Charge:
        try:
            intent = self._intent(orderid, total)
        except AmountNotTaken as refusal:
            raise PaymentDeclined(f"This order cannot be paid by card: {refusal.detail}") from refusal
        if intent["status"] in _TAKEN:
            return charge_of(intent)
        if intent["status"] == "canceled":
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        path = f"/v1/payment_intents/{quote(intent['id'], safe='')}"
        if customer:
            self._name_customer(orderid, path, customer)
        asked = {"payment_method": token, "off_session": "true", **_EXPANDED}
        try:
            confirmed = self._api.post(f"{path}/confirm", asked, _end_key(intent))
        except KeyUsedOtherwise as first:
            raise PaymentClosed("This order was closed before it was paid; place it again.") from first
        except (MethodNotTaken, StripeRefused) as refusal:
            if customer and not self._keeps(customer, token):
                raise CardNotSaved from refusal
            raise
        if confirmed["status"] not in _TAKEN:
            raise PaymentDeclined(f"The payment needs more from the customer ({confirmed['status']}).")
        return charge_of(confirmed)

    def find(self, orderid: str, total: Money) -> Charge | None:
        paid = (intent for intent in self._intents(orderid, total) if intent["status"] in _TAKEN)
        return next((charge_of(intent) for intent in paid), None)

    def close(self, orderid: str, total: Money) -> Charge | None:
        ended = [self._cancelled(intent) for intent in self._intents(orderid, total)]
        return next((charge_of(intent) for intent in ended if intent["status"] in _TAKEN), None)

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
            raise CardNotSaved from refusal

    def _keeps(self, customer: str, method: str) -> bool:
        """Of a card that was taken off a customer Stripe's refusal names no reason that could be told from others."""
        try:
            return method in {saved.id for saved in self.hosted.saved_methods(customer)}
        except StripeRefused:
            return False

    def _intent(self, orderid: str, total: Money) -> Json:
        """The order's one payment intent: made the first time, met again by its idempotency key ever after."""
        body = {
            "amount": str(total["amount"]),
            "currency": total["currency"].lower(),
            "metadata[orderid]": orderid,
            "payment_method_types[]": "card",
        }
        for way in (self._way, *_WAYS):
            with suppress(KeyUsedOtherwise):  # made before the shop's settings were changed
                made = self._api.post("/v1/payment_intents", {**body, **way}, orderid)
                return self._fresh(made) if made.get("_replayed") else made
        raise KeyUsedOtherwise("This order's payment was made for another sum.")

    def _intents(self, orderid: str, total: Money) -> Iterator[Json]:
        """The intent of today's key, and any that was made under a key which Stripe has forgotten since; none of an amount that it refuses."""
        try:
            known = self._fresh(self._intent(orderid, total))
        except AmountNotTaken:
            return
        yield known
        query = f"metadata['orderid']:'{orderid}'"
        for found in self._api.get("/v1/payment_intents/search", query=query)["data"]:
            if found["id"] != known["id"]:
                yield self._fresh(found)

    def _cancelled(self, intent: Json) -> Json:
        """The intent after all that may still be charged of it was cancelled; as it is when the charge was first."""
        path = f"/v1/payment_intents/{quote(intent['id'], safe='')}/cancel"
        for key in (_end_key(intent), f"{intent['id']}-cancel"):
            if intent["status"] in _ENDED:
                return intent
            with suppress(StripeRefused):  # confirmed first: paid, or declined
                return self._api.post(path, _EXPANDED, key)
            intent = self._fresh(intent)
        if intent["status"] not in _ENDED:
            raise ProviderUnavailable("Stripe is at work on this payment; it is closed later.")
        return intent

    def _fresh(self, intent: dict[str, Any]) -> Json:
        return self._api.get(f"/v1/payment_intents/{quote(intent['id'], safe='')}", **_EXPANDED)


def _end_key(intent: Json) -> str:
    """Under which an intent is confirmed or cancelled, whichever is first."""
    return f"{intent['id']}-end"
