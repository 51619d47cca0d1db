"""Calls of PayPal's REST API: JSON with an access token, a request id that makes a repetition harmless, errors as ours."""

import base64
import logging
import threading
import time
from typing import Any

import orjson

from services.orders.clients.payments import PaymentDeclined, ProviderUnavailable
from shared.couch.deadline import time_for
from shared.couch.http import HttpClient, Response, TransportError
from shared.errors import AisleError

log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 4.0
_EARLY_SECONDS = 60
_DECLINED = frozenset(
    {"INSTRUMENT_DECLINED", "PAYER_CANNOT_PAY", "PAYER_ACCOUNT_RESTRICTED", "TRANSACTION_REFUSED"}
)

Json = dict[str, Any]


class PayPalRefused(AisleError):
    """PayPal can't do what we asked; `issue` says why."""

    code, title = "payment_provider_refused", "The payment provider refused our request"


class PayPalApi:
    """One account of PayPal."""

    def __init__(self, url: str, client_id: str, secret: str) -> None:
        self._url = url.rstrip("/")
        self._login = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
        self._http = HttpClient(max_idle=8)
        self._lock = threading.Lock()
        self._token, self._good_until = "", 0.0

    def get(self, path: str) -> Json:
        return self.call("GET", path)

    def post(self, path: str, body: Json | bytes, key: str = "") -> Json:
        """`key` is the request's id: with the same one it is done once, and answered as the first time."""
        headers = {"Prefer": "return=representation"} | ({"PayPal-Request-Id": key} if key else {})
        return self.call("POST", path, body if isinstance(body, bytes) else orjson.dumps(body), headers)

    def call(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Json:
        answer = self._sent(method, path, body, headers or {})
        if answer.status == 401:
            self._good_until = 0.0
            answer = self._sent(method, path, body, headers or {})
        return _read(answer)

    def _sent(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Response:
        sent = {"Authorization": f"Bearer {self._access()}", "Content-Type": "application/json", **headers}
        return self._request(method, path, body, sent)

    def _access(self) -> str:
        """The access token, asked for anew before its time is up."""
        with self._lock:
            if time.monotonic() >= self._good_until:
                headers = {
                    "Authorization": f"Basic {self._login}",
                    "Content-Type": "application/x-www-form-urlencoded",
                }
                said = _read(
                    self._request("POST", "/v1/oauth2/token", b"grant_type=client_credentials", headers)
                )
                self._token = str(said["access_token"])
                self._good_until = time.monotonic() + int(said["expires_in"]) - _EARLY_SECONDS
            return self._token

    def _request(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Response:
        try:
            return self._http.request(
                method, self._url + path, headers, body, timeout=time_for(_TIMEOUT_SECONDS)
            )
        except TransportError as error:
            raise ProviderUnavailable(
                "PayPal gave no answer; the payment is looked up before anything else."
            ) from error


def _read(answer: Response) -> Json:
    if answer.status == 204:
        return {}
    try:
        said: Json = orjson.loads(answer.body)
    except orjson.JSONDecodeError as error:
        raise ProviderUnavailable("PayPal gave no answer that can be read.") from error
    if answer.status < 400:
        return said
    issues = [str(each.get("issue")) for each in said.get("details", ())] or [str(said.get("name"))]
    detail = str(said.get("message") or f"PayPal answered {answer.status}.")
    if answer.status in (409, 429) or answer.status >= 500:
        raise ProviderUnavailable(detail)
    if _DECLINED.intersection(issues):
        raise PaymentDeclined("PayPal declined the payment.", decline_code=issues[0])
    if answer.status in (401, 403):
        log.error("PayPal does not accept the shop's credentials, or does not let it do this: %s", issues[0])
        raise ProviderUnavailable("PayPal does not let the shop ask this just now.")
    raise PayPalRefused(detail, issue=issues[0], is_unknown=answer.status == 404)
