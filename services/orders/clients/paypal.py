"""PayPal's Orders API as a provider: the customer approves on PayPal's page, and the shop then captures or authorises.

Nothing is charged that the shop does not ask for: an order that was approved and never completed costs nobody anything, so that ending
a page needs no call. The request id is the shop's order id, so that an order is captured once whoever completes it.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Self

import orjson

from services.orders.clients.payments import (
    Capture,
    Charge,
    FailedRefund,
    Outcome,
    PageState,
    PaymentClosed,
    PaymentDeclined,
    PaymentEvent,
    PaymentPage,
    ProviderUnavailable,
    RefundFailed,
    SavedMethod,
)
from services.orders.clients.paypal_api import Json, PayPalApi, PayPalRefused
from services.orders.clients.signatures import BadSignature, Headers
from services.orders.rules.payment_pages import Purchase
from shared.clock import iso, now
from shared.errors import BadRequest
from shared.money import MINOR_UNITS, Money, money

ORDERS, PAYMENTS = "/v2/checkout/orders", "/v2/payments"
WITHOUT_DECIMALS: Final = frozenset({"HUF", "TWD"})
"""Currencies whose hundredths PayPal does not take."""
_SIGNED: Final = {
    "auth_algo": "PAYPAL-AUTH-ALGO",
    "cert_url": "PAYPAL-CERT-URL",
    "transmission_id": "PAYPAL-TRANSMISSION-ID",
    "transmission_sig": "PAYPAL-TRANSMISSION-SIG",
    "transmission_time": "PAYPAL-TRANSMISSION-TIME",
}
_FAILED: Final = frozenset({"FAILED", "CANCELLED"})
"""States of a refund whose money never arrives."""
_STATES: Final = {"PENDING": PageState.PROCESSING, "COMPLETED": PageState.PAID, "CREATED": PageState.PAID}


class PayPalProvider:
    """The provider `paypal`: a `Provider` without tokens, and its own `HostedProvider`."""

    name = "paypal"

    def __init__(self, url: str, client_id: str, secret: str, webhook_id: str) -> None:
        self._api, self._webhook_id = PayPalApi(url, client_id, secret), webhook_id

    @property
    def hosted(self) -> Self:
        return self

    def step(self, currency: str) -> int:
        return 1

    def charge(self, orderid: str, total: Money, token: str, customer: str = "") -> Charge:
        raise PaymentDeclined("PayPal is paid on its own page: leave the token out.")

    def find(self, orderid: str, total: Money) -> Charge | None:
        return None

    def close(self, orderid: str, total: Money) -> Charge | None:
        return None

    def open_page(self, purchase: Purchase) -> PaymentPage:
        try:
            made = self._api.post(ORDERS, _order(purchase), f"{purchase.orderid}-order")
        except PayPalRefused as refusal:
            raise PaymentDeclined(f"This order cannot be paid with PayPal: {refusal.detail}") from refusal
        links = {link["rel"]: link["href"] for link in made["links"]}
        if "payer-action" not in links:
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        return PaymentPage(made["id"], links["payer-action"], iso(purchase.expires))

    def outcome(self, purchase: Purchase, ref: str) -> Outcome:
        return self._read(purchase, ref)[0]

    def complete(self, purchase: Purchase, ref: str) -> Outcome:
        """A request's id is answered as the first time, also where it was declined: who has chosen another way to pay since, and approved
        it, is asked for under another id."""
        verb = "capture" if purchase.captures else "authorize"
        request, declined = f"{purchase.orderid}-{verb}", None
        for _ in range(2):
            outcome, known = self._read(purchase, ref)
            if known.get("status") != "APPROVED":
                return declined if declined and outcome.state is PageState.OPEN else outcome
            try:
                self._api.post(f"{ORDERS}/{ref}/{verb}", {}, request)
                break
            except PaymentDeclined as refusal:
                declined = Outcome(PageState.OPEN, detail=refusal.detail)
                request = f"{purchase.orderid}-{verb}-{_approval(known)}"
            except PayPalRefused as refusal:
                if refusal.extra.get("issue") not in ("ORDER_ALREADY_CAPTURED", "ORDER_ALREADY_AUTHORIZED"):
                    raise ProviderUnavailable(refusal.detail) from refusal
                break
        outcome = self._read(purchase, ref)[0]
        return declined if declined and outcome.state is PageState.OPEN else outcome

    def end_page(self, purchase: Purchase, ref: str) -> Outcome:
        """What the customer has approved is carried out; what is approved later never is, as the order has ended here."""
        outcome = self.complete(purchase, ref) if ref else Outcome(PageState.ENDED)
        return (
            outcome if outcome.state is not PageState.OPEN else Outcome(PageState.ENDED, None, outcome.detail)
        )

    def capture(self, orderid: str, ref: str, capture: Capture) -> str:
        """PayPal keeps the ids of these requests for longer than it keeps money reserved. Nothing is taken by ending an authorisation."""
        path = f"{PAYMENTS}/authorizations/{ref}"
        try:
            if not capture.total["amount"]:
                self._api.post(f"{path}/void", {})
                return ref
            body = {"amount": _amount(capture.total), "final_capture": capture.final}
            return str(self._api.post(f"{path}/capture", body, f"{orderid}-{capture.key}")["id"])
        except PayPalRefused as refusal:
            if self.holds(ref):
                raise ProviderUnavailable(refusal.detail) from refusal
            if not capture.total["amount"]:
                return ref
            raise PaymentClosed("PayPal does not hold the money any more.") from refusal

    def holds(self, ref: str) -> bool:
        known = self._api.get(f"{PAYMENTS}/authorizations/{ref}")
        return known["status"] in ("CREATED", "PARTIALLY_CAPTURED")

    def release(self, orderid: str, ref: str) -> str | None:
        known = self._api.get(f"{PAYMENTS}/authorizations/{ref}")
        if known["status"] == "CREATED":
            try:
                self._api.post(f"{PAYMENTS}/authorizations/{ref}/void", {})
            except PayPalRefused:
                known = self._api.get(f"{PAYMENTS}/authorizations/{ref}")
        return None if known["status"] in ("CAPTURED", "PARTIALLY_CAPTURED") else ref

    def refund(self, orderid: str, ref: str, key: str, total: Money) -> str:
        """Of the captures in their turn, as PayPal refunds each by itself; what was refunded before is found at the order."""
        known = self._api.get(f"{PAYMENTS}/captures/{ref}")
        order = self._api.get(f"{ORDERS}/{known['supplementary_data']['related_ids']['order_id']}")
        payments = order["purchase_units"][0]["payments"]
        made = payments.get("refunds", [])
        done = [each for each in made if each.get("custom_id") == key]  # what failed is not tried again
        left = total["amount"] - sum(_money(each["amount"])["amount"] for each in done)
        captures = [each for each in payments["captures"] if each["status"] != "DECLINED"]
        for capture in captures:
            rest = _money(capture["amount"])["amount"] - _refunded(made, capture["id"])
            part = left if len(captures) == 1 else min(left, rest)
            if part > 0:
                body = {"amount": _amount(money(part, total["currency"])), "custom_id": key}
                request = f"{orderid}-{key}" if len(captures) == 1 else f"{orderid}-{key}-{capture['id']}"
                done.append(self._api.post(f"{PAYMENTS}/captures/{capture['id']}/refund", body, request))
                left -= part
        if left > 0:
            raise ProviderUnavailable("PayPal has not taken enough yet to pay this back.")
        if failed := [each for each in done if each.get("status") in _FAILED]:
            raise RefundFailed([_failed(each) for each in failed])
        return str(done[0]["id"])

    def add_customer(self, userid: str, email: str, name: str) -> str:
        """PayPal knows its own customers."""
        return ""

    def saved_methods(self, customer: str) -> tuple[SavedMethod, ...]:
        return ()

    def remove_customer(self, ref: str) -> None:
        """None was ever added."""

    def event(self, headers: Headers, body: bytes) -> PaymentEvent | None:
        """PayPal itself says whether it has signed this; the event is sent on byte by byte, as the signature is of its bytes."""
        known = {name: headers.get(header) for name, header in _SIGNED.items()}
        if not self._webhook_id or not all(known.values()):
            raise BadSignature("This is not signed as PayPal signs.")
        asked = (
            orjson.dumps({**known, "webhook_id": self._webhook_id})[:-1] + b',"webhook_event":' + body + b"}"
        )
        try:
            event = orjson.loads(body)
            said = self._api.post("/v1/notifications/verify-webhook-signature", asked)
            if said.get("verification_status") != "SUCCESS":
                raise BadSignature("PayPal has not signed this.")
            return self._failed_refund(event) if "REFUND" in event["event_type"] else _event(event)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, PayPalRefused):
            raise BadRequest("This is not an event of PayPal.") from None

    def _failed_refund(self, event: Json) -> PaymentEvent | None:
        """Of all that happens to refunds only that one has failed; its capture knows the order."""
        refund = self._api.get(f"{PAYMENTS}/refunds/{event['resource']['id']}")
        if refund.get("status") not in _FAILED or not refund.get("custom_id"):
            return None
        capture = self._api.get(f"{PAYMENTS}/captures/{_capture_of(refund)}")
        orderid = capture.get("custom_id")
        failed = _failed(refund)
        return PaymentEvent(str(orderid), str(event["event_type"]), "", failed) if orderid else None

    def _read(self, purchase: Purchase, ref: str) -> tuple[Outcome, Json]:
        """What has become of the page, and the order as PayPal has it; {} of one that it does not know any more."""
        ended = PageState.ENDED if now() >= purchase.expires else PageState.OPEN
        if not ref:
            return Outcome(ended), {}
        try:
            order = self._api.get(f"{ORDERS}/{ref}")
        except PayPalRefused as refusal:
            if not refusal.extra.get("is_unknown"):
                raise ProviderUnavailable(refusal.detail) from refusal
            return Outcome(PageState.ENDED), {}
        payments = order["purchase_units"][0].get("payments", {})
        made = [*payments.get("authorizations", ()), *payments.get("captures", ())]
        if made:
            return _outcome(made[0]), order
        return Outcome(PageState.ENDED if order["status"] == "VOIDED" else ended), order


def _approval(order: Json) -> str:
    """Tells a customer's approvals of an order apart: the same for all who read this one."""
    return hashlib.sha256(orjson.dumps(order, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _outcome(made: Json) -> Outcome:
    """Of a capture or an authorisation; refunded money was paid once, captured money is not reserved any more."""
    status = made["status"]
    state = PageState.PAID if "REFUNDED" in status or "CAPTURED" in status else _STATES.get(status)
    if state is None:
        return Outcome(PageState.ENDED, detail="PayPal declined the payment.")
    if state is PageState.PROCESSING:
        return Outcome(state)
    reserved = "expiration_time" in made
    total = _money(made["amount"])
    before = _time(made["expiration_time"]) if reserved else ""
    return Outcome(
        state, Charge(made["id"], total, _time(made["create_time"]), not reserved, before, reserved)
    )


def _refunded(refunds: Sequence[Json], captureid: str) -> int:
    """What was paid back of a capture."""
    return sum(
        _money(each["amount"])["amount"]
        for each in refunds
        if each.get("status") not in _FAILED and _capture_of(each) == captureid
    )


def _capture_of(refund: Json) -> str:
    """To which a refund links as `up`."""
    links = (str(link["href"]) for link in refund.get("links", ()) if link["rel"] == "up")
    return next(links, "").rpartition("/")[2]


def _failed(refund: Json) -> FailedRefund:
    return FailedRefund(str(refund["custom_id"]), str(refund["id"]), _money(refund["amount"]))


def _order(purchase: Purchase) -> Json:
    """An order of PayPal's, always the same for an order of ours."""
    currency = purchase.total["currency"]
    context = {
        "return_url": purchase.paid_url,
        "cancel_url": purchase.cancelled_url,
        "user_action": "PAY_NOW",
        "shipping_preference": "NO_SHIPPING",
    }
    items = [
        {
            "name": line.name,
            "quantity": str(line.quantity),
            "unit_amount": _amount(money(line.unit_price, currency)),
        }
        for line in purchase.lines
    ]
    total = _amount(purchase.total)
    unit = {
        "custom_id": purchase.orderid,
        "invoice_id": purchase.orderid,
        "amount": {**total, "breakdown": {"item_total": total}},
        "items": items,
    }
    return {
        "intent": "CAPTURE" if purchase.captures else "AUTHORIZE",
        "purchase_units": [unit],
        "payment_source": {"paypal": {"experience_context": context}},
    }


def _event(event: Json) -> PaymentEvent | None:
    resource: Any = event["resource"]
    unit = resource["purchase_units"][0] if "purchase_units" in resource else resource
    related = resource.get("supplementary_data", {}).get("related_ids", {}).get("order_id", "")
    session = resource["id"] if "purchase_units" in resource else related
    orderid = unit.get("custom_id")
    return PaymentEvent(str(orderid), str(event["event_type"]), str(session)) if orderid else None


def _amount(total: Money) -> dict[str, str]:
    """Raises PaymentDeclined for hundredths of a currency that PayPal takes without."""
    currency, amount = total["currency"], total["amount"]
    digits = MINOR_UNITS.get(currency, 2)
    whole, fraction = divmod(amount, 10**digits)
    if currency in WITHOUT_DECIMALS:
        if fraction:
            raise PaymentDeclined(f"PayPal takes {currency} without decimals.")
        digits = 0
    value = f"{whole}.{fraction:0{digits}d}" if digits else str(whole)
    return {"currency_code": currency, "value": value}


def _money(amount: dict[str, str]) -> Money:
    currency = amount["currency_code"]
    whole, _, fraction = amount["value"].partition(".")
    digits = MINOR_UNITS.get(currency, 2)
    return money(int(whole + fraction.ljust(digits, "0")[:digits]), currency)


def _time(text: str) -> str:
    return iso(datetime.fromisoformat(text))
