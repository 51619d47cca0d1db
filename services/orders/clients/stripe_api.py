"""Calls of Stripe's API: form-encoded requests with an idempotency key, JSON answers, errors as ours."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import orjson

from services.orders.clients.payments import PaymentDeclined, ProviderUnavailable
from shared.couch.deadline import time_for
from shared.couch.http import HttpClient, TransportError
from shared.errors import AisleError

_VERSION = "2024-06-20"
_TIMEOUT_SECONDS = 2.5

Json = dict[str, Any]


class StripeRefused(AisleError):
    """Stripe says that our request is wrong: settings or code, not the customer."""

    code, title = "payment_provider_refused", "The payment provider refused our request"


class MethodNotTaken(PaymentDeclined):
    """Stripe does not know this payment method, or not as one that can be charged: no bank was asked."""


class AmountNotTaken(StripeRefused):
    """Too little, too much, or with decimals that Stripe does not take of this currency: nothing was made."""


class KeyUsedOtherwise(StripeRefused):
    """Something was made under this idempotency key, and with other parameters."""


class StripeApi:
    """One account of Stripe."""

    def __init__(
        self, url: str, api_key: str, timeout: float = _TIMEOUT_SECONDS, probe_url: str | None = None
    ) -> None:
        """`probe_url`: see HttpClient."""
        self._url, self._api_key, self._timeout = url.rstrip("/"), api_key, timeout
        self._http = HttpClient(max_idle=8, probe_url=probe_url)

    def get(self, path: str, **query: Any) -> Json:
        return self._call("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path)

    def post(self, path: str, body: Mapping[str, str], key: str = "") -> Json:
        """With `key`, a repetition gives the first answer, marked `_replayed`. Without, for what may be done twice."""
        headers = {"Idempotency-Key": key} if key else {}
        return self._call("POST", path, urlencode(body).encode(), headers)

    def delete(self, path: str) -> Json:
        return self._call("DELETE", path)

    def _call(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Json:
        sent = {
            "Authorization": f"Bearer {self._api_key}",
            "Stripe-Version": _VERSION,
            "Content-Type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        try:
            answer = self._http.request(method, self._url + path, sent, body, timeout=time_for(self._timeout))
            said: Json = orjson.loads(answer.body)
        except (TransportError, orjson.JSONDecodeError) as error:
            raise ProviderUnavailable(
                "Stripe gave no answer; the payment is looked up before anything else."
            ) from error
        if answer.status >= 400:
            raise _error(answer.status, said.get("error", {}))
        return said | ({"_replayed": True} if answer.headers.get("Idempotent-Replayed") == "true" else {})


def _error(status: int, said: Json) -> AisleError:
    detail = str(said.get("message") or f"Stripe answered {status}.")
    is_declined = status == 402 or said.get("type") == "card_error"
    if is_declined or said.get("param") == "payment_method":
        kind = PaymentDeclined if is_declined else MethodNotTaken
        return kind(detail, decline_code=said.get("decline_code") or said.get("code"))
    if status in (409, 429) or status >= 500:
        return ProviderUnavailable(detail)
    if said.get("type") == "idempotency_error":
        return KeyUsedOtherwise(detail)
    param, code = said.get("param"), said.get("code")
    if param == "amount":
        return AmountNotTaken(detail, param=param, provider_code=code)
    return StripeRefused(_refused(said), param=param, provider_code=code)


def _refused(said: Json) -> str:
    """What goes into logs: Stripe's own message repeats what a customer wrote, such as an e-mail that it does not take."""
    what, why = said.get("param") or "our request", said.get("code") or said.get("type") or "no reason"
    return f"Stripe refused {what}: {why}."
