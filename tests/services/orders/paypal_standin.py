"""A local stand-in for PayPal's Orders v2 and Payments v2 API as far as an order uses it: access tokens, request ids, sums, states, webhooks.

`approve` is what a customer does on PayPal's page; `declines` makes the next capture fail, `pends` leaves it pending until `settle`.
`fails` makes refunds fail; `fail` one that was made. `lose` breaks the connection of the next request to a path after it was done. `forbids` refuses all that the shop asks. A request id that was
declined is declined again, as PayPal answers the same id the same.
"""

import base64
import json
import secrets
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CLIENT_ID, SECRET, WEBHOOK_ID = "client", "secret", "WH1"
Json = dict[str, Any]
Answer = tuple[int, Json]


class PayPalStandIn:
    """The server and its books."""

    def __init__(self) -> None:
        self.orders: dict[str, Json] = {}
        self.tokens: set[str] = set()
        self.declines = self.pends = self.forbids = self.fails = False
        self.lose: list[str] = []
        self._answers: dict[str, Answer] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def of(self, orderid: str) -> list[Json]:
        return [each for each in self.orders.values() if unit(each)["custom_id"] == orderid]

    def approve(self, order: Json) -> None:
        order["status"], order["update_time"] = "APPROVED", datetime.now(UTC).isoformat()

    def settle(self, order: Json, *, arrived: bool) -> None:
        unit(order)["payments"]["captures"][0]["status"] = "COMPLETED" if arrived else "DECLINED"

    def fail(self, order: Json) -> Json:
        """The last refund's money has come back to the shop: the refund."""
        refund: Json = unit(order)["payments"]["refunds"][-1]
        refund["status"] = "FAILED"
        return refund

    def event(self, kind: str, resource: Json) -> tuple[dict[str, str], bytes]:
        """A webhook's headers and body."""
        body = json.dumps(
            {"id": secrets.token_hex(8), "event_type": kind, "resource": resource}, indent=1
        ).encode()
        headers = {
            "PAYPAL-AUTH-ALGO": "SHA256withRSA",
            "PAYPAL-CERT-URL": "https://api.paypal.com/cert",
            "PAYPAL-TRANSMISSION-ID": secrets.token_hex(8),
            "PAYPAL-TRANSMISSION-SIG": f"signed {json.dumps(json.loads(body), sort_keys=True)}"[:400]
            .encode()
            .hex(),
            "PAYPAL-TRANSMISSION-TIME": _now(),
        }
        return headers, body

    def answer(self, method: str, path: str, key: str, body: Any) -> Answer:
        with self._lock:
            if self.forbids:
                return _error(403, "PERMISSION_DENIED")
            if key and key in self._answers:
                status, said = self._answers[key]
                return (200 if status < 400 else status), said
            status, said = self._done(method, path.strip("/").split("/"), body)
            if key and (status < 400 or "INSTRUMENT_DECLINED" in str(said)):
                self._answers[key] = status, json.loads(json.dumps(said))
            return status, said

    def _done(self, method: str, path: list[str], body: Any) -> Answer:
        if path == ["v1", "notifications", "verify-webhook-signature"]:
            return 200, {"verification_status": "SUCCESS" if self._is_signed(body) else "FAILURE"}
        if path[:3] == ["v2", "checkout", "orders"]:
            return self._order(method, path[3:], body)
        found = {each["id"]: (order, each) for order in self.orders.values() for each in _made(order)}
        if path[3] not in found:
            return _error(404, "RESOURCE_NOT_FOUND")
        order, made = found[path[3]]
        related = {"supplementary_data": {"related_ids": {"order_id": order["id"]}}}
        return (200, {**made, **related}) if method == "GET" else self._act(order, made, path[4], body)

    def _is_signed(self, body: Json) -> bool:
        signed = f"signed {json.dumps(body['webhook_event'], sort_keys=True)}"[:400].encode().hex()
        return bool(body["webhook_id"] == WEBHOOK_ID and body["transmission_sig"] == signed)

    def _order(self, method: str, place: list[str], body: Any) -> Answer:
        if not place:
            return self._create(body)
        order = self.orders.get(place[0])
        if order is None:
            return _error(404, "RESOURCE_NOT_FOUND")
        if method == "GET":
            return 200, order
        if order["status"] == "COMPLETED":
            return _error(422, "ORDER_ALREADY_CAPTURED")
        if order["status"] != "APPROVED":
            return _error(422, "ORDER_NOT_APPROVED")
        if self.declines:
            order["status"] = "PAYER_ACTION_REQUIRED"
            return _error(422, "INSTRUMENT_DECLINED")
        if place[1] != {"CAPTURE": "capture", "AUTHORIZE": "authorize"}[order["intent"]]:
            return _error(422, "ACTION_DOES_NOT_MATCH_INTENT")
        self._pay(order)
        return 201, order

    def _create(self, body: Json) -> Answer:
        wanted = body["purchase_units"][0]
        amount, items = wanted["amount"], wanted["items"]
        total = sum(Decimal(each["unit_amount"]["value"]) * int(each["quantity"]) for each in items)
        if not (total == Decimal(amount["value"]) == Decimal(amount["breakdown"]["item_total"]["value"])):
            return _error(422, "ITEM_TOTAL_MISMATCH")
        if not body["payment_source"]["paypal"]["experience_context"]["return_url"].startswith("http"):
            return _error(422, "RETURN_URL_REQUIRED")
        orderid = secrets.token_hex(8).upper()
        order = {
            "id": orderid,
            "intent": body["intent"],
            "status": "PAYER_ACTION_REQUIRED",
            "purchase_units": [{**wanted, "payments": {}}],
            "links": [
                {"rel": "self", "href": f"{self.url}/v2/checkout/orders/{orderid}"},
                {"rel": "payer-action", "href": f"{self.url}/checkoutnow?token={orderid}"},
            ],
        }
        self.orders[orderid] = order
        return 201, order

    def _pay(self, order: Json) -> None:
        bought = unit(order)
        made = {
            "id": secrets.token_hex(8).upper(),
            "custom_id": bought["custom_id"],
            "amount": {name: bought["amount"][name] for name in ("currency_code", "value")},
            "create_time": _now(),
        }
        order["status"] = "COMPLETED"
        if order["intent"] == "CAPTURE":
            bought["payments"] = {"captures": [{**made, "status": "PENDING" if self.pends else "COMPLETED"}]}
        else:
            until = {"expiration_time": _now(timedelta(days=29)), "status": "CREATED"}
            bought["payments"] = {"authorizations": [{**made, **until}]}

    def _act(self, order: Json, made: Json, verb: str, body: Json) -> Answer:
        payments = unit(order)["payments"]
        if verb == "refund":
            up = f"{self.url}/v2/payments/captures/{made['id']}"
            links = [{"rel": "self", "href": f"{up}/self"}, {"rel": "up", "href": up}]
            refund = {"id": secrets.token_hex(8).upper(), "links": links, **body}
            refund["status"] = "FAILED" if self.fails else "COMPLETED"
            earlier = [
                each
                for each in payments.get("refunds", ())
                if each["links"][1]["href"] == up and each["status"] != "FAILED"
            ]
            refunded = sum(Decimal(each["amount"]["value"]) for each in earlier)
            if refunded + Decimal(body["amount"]["value"]) > Decimal(made["amount"]["value"]):
                return _error(422, "REFUND_AMOUNT_EXCEEDED")
            payments.setdefault("refunds", []).append(refund)
            return 201, refund
        if made["status"] not in ("CREATED", "PARTIALLY_CAPTURED"):
            return _error(422, f"AUTHORIZATION_{made['status']}")
        if verb == "void":
            made["status"] = "VOIDED"
            return 204, {}
        taken = sum(Decimal(each["amount"]["value"]) for each in payments.get("captures", ()))
        taken += Decimal(body["amount"]["value"])
        if taken > Decimal(made["amount"]["value"]):
            return _error(422, "MAX_CAPTURE_AMOUNT_EXCEEDED")
        whole = body["final_capture"] or taken == Decimal(made["amount"]["value"])
        made["status"] = "CAPTURED" if whole else "PARTIALLY_CAPTURED"
        capture = {
            **made,
            "id": secrets.token_hex(8).upper(),
            "status": "COMPLETED",
            "amount": body["amount"],
        }
        del capture["expiration_time"]
        payments.setdefault("captures", []).append(capture)
        return 201, capture

    def _handler(standin) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def _serve(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                login = base64.b64encode(f"{CLIENT_ID}:{SECRET}".encode()).decode()
                given = self.headers.get("Authorization", "")
                if self.path == "/v1/oauth2/token":
                    token = secrets.token_hex(8)
                    standin.tokens.add(token)
                    good = given == f"Basic {login}" and sent == b"grant_type=client_credentials"
                    said = {"access_token": token, "token_type": "Bearer", "expires_in": 32400}
                    self._send(*((200, said) if good else _error(401, "invalid_client")))
                elif given.removeprefix("Bearer ") not in standin.tokens:
                    self._send(*_error(401, "invalid_token"))
                else:
                    key = self.headers.get("PayPal-Request-Id", "")
                    self._send(*standin.answer(self.command, self.path, key, json.loads(sent or b"null")))

            def _send(self, status: int, said: Json) -> None:
                if self.path in standin.lose:
                    standin.lose.remove(self.path)
                    self.close_connection = True
                    return
                body = b"" if status == 204 else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        return Handler


def unit(order: Json) -> Json:
    found: Json = order["purchase_units"][0]
    return found


def _made(order: Json) -> list[Json]:
    payments = unit(order)["payments"]
    kinds = ("captures", "authorizations", "refunds")
    return [each for kind in kinds for each in payments.get(kind, ())]


def _now(later: timedelta = timedelta()) -> str:
    return (datetime.now(UTC) + later).strftime("%Y-%m-%dT%H:%M:%SZ")


def _error(status: int, issue: str) -> Answer:
    return status, {
        "name": "UNPROCESSABLE_ENTITY",
        "message": f"stand-in: {issue}",
        "details": [{"issue": issue}],
    }
