"""A local stand-in for Stripe's API as far as an order uses it: it checks keys, forms and idempotency as Stripe does.

Payment methods say what happens: `pm_card_visa` pays, `pm_card_declined` declines, `pm_lost` pays and then breaks the connection.
Checkout Sessions are in `stripe_sessions`, with the page itself at their URL. `lose` breaks the connection of the next requests after
they were done, `away` refuses all for a while.
"""

import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.services.orders.stripe_page import page_of, sent_to
from tests.services.orders.stripe_sessions import THREE_DECIMALS, Sessions
from tests.services.orders.stripe_sessions import refusal as _error

API_KEY = "sk_test_standin"
_CREATED = {"amount", "currency", "metadata[orderid]", "payment_method_types[]"}
MOST_CAPTURES = 50
SMALLEST = {"gbp": 30, "eur": 50, "usd": 50}
_DETACHED = "The provided PaymentMethod was detached from a Customer. It may not be used again."
_CAPTURES = {"capture_method", "payment_method_options[card][request_multicapture]"}


class StripeStandIn:
    """The server and its books: `intents`, `refunds` and every `request` it got."""

    def __init__(self, shortest_session: float = 1800.0, port: int = 0) -> None:
        self.intents: dict[str, dict[str, Any]] = {}
        self.refunds: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str]] = []
        self._answers: dict[str, tuple[str, int, dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self.lose: list[str] = []
        self.lost_next = ""
        self.away = False
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.checkout = Sessions(self.intents, self.url, shortest_session)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def lose_next(self, step: str) -> None:
        """The answer of the next request to pay directly: `payment_intents` makes the intent, `customer` names whose it is, `confirm` pays."""
        self.lost_next = step

    def _is_lost(self, path: str) -> bool:
        parts = path.strip("/").split("/")
        step = parts[3] if len(parts) == 4 else "customer" if len(parts) == 3 else parts[-1]
        if parts[1] != "payment_intents" or step != self.lost_next:
            return False
        self.lost_next = ""
        return True

    def forget_keys(self) -> None:
        """A day passes."""
        self._answers.clear()

    def answer(
        self, method: str, path: str, key: str | None, form: dict[str, str]
    ) -> tuple[int, dict[str, Any], bool]:
        """(status, body, replayed). A key seen before gives the first answer, or 400 when the request is another."""
        with self._lock:
            self.requests.append((method, path))
            asked = json.dumps([method, path, sorted(form.items())])
            if key in self._answers:
                first, status, body = self._answers[key]
                return (status, body, True) if first == asked else (*_error(400, "idempotency_error"), False)
            target = urlsplit(path)
            status, body = self._done(method, target.path, form | dict(parse_qsl(target.query)))
            if key and status != 400:
                self._answers[key] = (asked, status, json.loads(json.dumps(body)))
            return status, body, False

    def _done(self, method: str, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        parts = path.strip("/").split("/")
        if method == "GET" and path == "/v1/payment_intents/search":
            return 200, {"object": "search_result", "data": self._search(form["query"])}
        if method == "GET" and path == "/v1/refunds":
            paid_back = [each for each in self.refunds if each["payment_intent"] == form["payment_intent"]]
            return 200, {"object": "list", "data": paid_back}
        if path.startswith("/v1/checkout/sessions"):
            return self._session(method, parts[3:], form)
        if path.startswith("/v1/customers"):
            return self._customer(method, parts[2:], form)
        if (
            path == "/v1/payment_intents"
            and _CREATED <= set(form) <= _CREATED | _CAPTURES
            and form["currency"].islower()
        ):
            return self._create(form)
        if path == "/v1/refunds" and {"payment_intent", "amount"} <= set(form):
            return self._refund(form)
        intent = self.intents.get(parts[2]) if len(parts) > 2 else None
        if intent is None:
            return _error(404, "invalid_request_error")
        if method == "GET":
            return 200, intent
        if len(parts) == 3:
            return self._update(intent, form)
        if parts[3] == "capture":
            return self._capture(intent, form)
        return self._confirm(intent, form) if parts[3] == "confirm" else self._cancel(intent)

    def _session(self, method: str, place: list[str], form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if not place:
            return self.checkout.create(form)
        session = self.checkout.sessions.get(place[0])
        if session is None:
            return _error(404, "invalid_request_error", "resource_missing")
        if method == "GET":
            return 200, json.loads(json.dumps(self.checkout.shown(session, form)))
        return self.checkout.expire(session, form)

    def _customer(self, method: str, place: list[str], form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        customers = self.checkout.customers
        if not place:
            customer = {
                "id": f"cus_{secrets.token_hex(7)}",
                "email": form["email"],
                "userid": form["metadata[userid]"],
            }
            customers[customer["id"]] = customer
            return 200, customer
        if method == "GET" and place[1:] == ["payment_methods"] and form.get("type") == "card":
            if place[0] not in customers:
                return _error(404, "invalid_request_error", "resource_missing", param="customer")
            return 200, {"object": "list", "data": self.checkout.methods.get(place[0], [])}
        if customers.pop(place[0], None) is None:
            return _error(404, "invalid_request_error", "resource_missing", param="id")
        self.checkout.cards.pop(place[0], None)
        self.checkout.methods.pop(place[0], None)
        return 200, {"id": place[0], "deleted": True}

    def _capture(self, intent: dict[str, Any], form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Without the multicapture feature once; with it until one is final, which may take nothing after another took some."""
        amount, taken = int(form["amount_to_capture"]), intent.get("amount_received", 0)
        card = ((intent.get("latest_charge") or {}).get("payment_method_details") or {}).get("card", {})
        several = card.get("multicapture", {}).get("status") == "available"
        final = form.get("final_capture", "true") == "true"
        if intent["status"] != "requires_capture" or not 0 <= amount <= intent["amount"] - taken:
            return _error(400, "invalid_request_error", "payment_intent_unexpected_state")
        if len(intent.get("captures", ())) >= MOST_CAPTURES:
            return _error(400, "invalid_request_error", "capture_charge_unsupported")
        if (not final and not several) or (not amount and not (final and taken)):
            return _error(400, "invalid_request_error", "parameter_invalid", param="final_capture")
        intent["amount_received"] = taken + amount
        intent.setdefault("captures", []).append(amount)
        if final or intent["amount_received"] == intent["amount"]:
            intent["status"] = "succeeded"
        return 200, intent

    def _search(self, query: str) -> list[dict[str, Any]]:
        intents = self.intents.values()
        return [each for each in intents if query == f"metadata['orderid']:'{each['metadata']['orderid']}'"]

    def _create(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Refuses what is too little, and the last of three decimals, as Stripe does."""
        amount, currency = int(form["amount"]), form["currency"]
        if amount < SMALLEST.get(currency, 1):
            return _error(400, "invalid_request_error", "amount_too_small", param="amount")
        if currency in THREE_DECIMALS and amount % 10:
            return _error(400, "invalid_request_error", "parameter_invalid_integer", param="amount")
        intent = {
            "id": f"pi_{secrets.token_hex(8)}",
            "object": "payment_intent",
            "amount": int(form["amount"]),
            "currency": form["currency"],
            "status": "requires_payment_method",
            "created": int(time.time()),
            "latest_charge": None,
            "capture_method": form.get("capture_method", "automatic"),
            "multicapture": form.get("payment_method_options[card][request_multicapture]"),
            "metadata": {"orderid": form["metadata[orderid]"]},
        }
        self.intents[intent["id"]] = intent
        return 200, intent

    def _confirm(self, intent: dict[str, Any], form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if intent["status"] != "requires_payment_method":
            return _error(400, "invalid_request_error", "payment_intent_unexpected_state")
        if form["payment_method"] == "pm_card_declined":
            return _error(402, "card_error", "card_declined", decline_code="insufficient_funds")
        if known := self._saved(form["payment_method"]):
            if known["customer"] != intent.get("customer"):
                return _error(
                    400, "invalid_request_error", "payment_method_customer_mismatch", param="payment_method"
                )
            if known["behaves"] == "authentication":
                return _error(
                    402, "card_error", "authentication_required", decline_code="authentication_required"
                )
        elif form["payment_method"] in self.checkout.detached:
            return _error(400, "invalid_request_error", message=_DETACHED)
        elif form["payment_method"] not in ("pm_card_visa", "pm_lost"):
            return _error(400, "invalid_request_error", "resource_missing", param="payment_method")
        manual = intent["capture_method"] == "manual"
        self.checkout.charge(intent, manual=manual, asks_for_several=bool(intent["multicapture"]))
        return 200, intent

    def _saved(self, method: str) -> dict[str, Any] | None:
        kept = (each for methods in self.checkout.methods.values() for each in methods)
        return next((each for each in kept if each["id"] == method), None)

    def _update(self, intent: dict[str, Any], form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if set(form) != {"customer"} or form["customer"] not in self.checkout.customers:
            return _error(400, "invalid_request_error", "resource_missing", param="customer")
        intent["customer"] = form["customer"]
        return 200, intent

    def _cancel(self, intent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if intent["status"] in ("succeeded", "canceled"):
            return _error(400, "invalid_request_error", "payment_intent_unexpected_state")
        intent["status"] = "canceled"
        return 200, intent

    def _refund(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        intent = self.intents[form["payment_intent"]]
        if intent["currency"] in THREE_DECIMALS and int(form["amount"]) % 10:
            return _error(400, "invalid_request_error", "parameter_invalid_integer", param="amount")
        is_taken = intent["status"] == "succeeded" or intent.get("amount_received")
        if not is_taken or self._left(intent) < int(form["amount"]):
            return _error(400, "invalid_request_error", "charge_already_refunded")
        refund = {
            "id": f"re_{secrets.token_hex(8)}",
            "amount": int(form["amount"]),
            "payment_intent": form["payment_intent"],
            "metadata": {"orderid": form["metadata[orderid]"], "reference": form["metadata[reference]"]},
        }
        self.refunds.append(refund)
        return 200, refund

    def _left(self, intent: dict[str, Any]) -> int:
        """What of a payment was not paid back yet."""
        paid_back = [each["amount"] for each in self.refunds if each["payment_intent"] == intent["id"]]
        return int(intent.get("amount_received", intent["amount"])) - sum(paid_back)

    def _handler(standin) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def do_DELETE(self) -> None:
                self._serve()

            def _serve(self) -> None:
                if standin.away:
                    self.close_connection = True
                    return
                form = dict(parse_qsl(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()))
                if self.path.startswith("/c/pay/"):
                    self._customer(self.path.removeprefix("/c/pay/"), form)
                    return
                key, allowed = (
                    self.headers.get("Idempotency-Key"),
                    self.headers["Authorization"] == f"Bearer {API_KEY}",
                )
                if not allowed:
                    status, body, replayed = *_error(401, "invalid_request_error"), False
                elif self.command == "POST" and not key and not self.path.endswith(("/expire", "/cancel")):
                    status, body, replayed = *_error(400, "idempotency_error"), False
                else:
                    status, body, replayed = standin.answer(self.command, self.path, key, form)
                if form.get("payment_method") == "pm_lost" and not replayed:
                    self.close_connection = True
                    return
                if self.command == "POST" and standin._is_lost(self.path):
                    self.close_connection = True
                    return
                if self.path in standin.lose:
                    standin.lose.remove(self.path)
                    self.close_connection = True
                    return
                self._send(status, json.dumps(body).encode(), replayed)

            def _customer(self, sessionid: str, form: dict[str, str]) -> None:
                """The page in a browser."""
                checkout = standin.checkout
                if self.command == "GET":
                    page = page_of(checkout.sessions[sessionid]).encode()
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.send_header("Content-Length", str(len(page)))
                    self.end_headers()
                    self.wfile.write(page)
                    return
                target = sent_to(checkout, sessionid, form["how"])
                self.send_response(303)
                self.send_header("Location", target)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _send(self, status: int, body: bytes, replayed: bool) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                if replayed:
                    self.send_header("Idempotent-Replayed", "true")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        return Handler
