"""Checkout Sessions of the stand-in for Stripe: made, paid, declined, ended, as the published API has them.

`pay` is what a customer does on the page: `card` pays, `declined` declines, `action` asks for 3-D Secure (`authenticate` ends it),
`processing` is a bank debit (`settle` ends it). With `multicapture` the account may take reserved money in parts. Every change is an event in `events`, in Stripe's order.
"""

import re
import secrets
import time
from typing import Any

Json = dict[str, Any]
Answer = tuple[int, Json]

DAY = 86_400
THREE_DECIMALS = ("bhd", "jod", "kwd", "omr", "tnd")
_KNOWN = re.compile(
    r"mode|client_reference_id|metadata\[orderid\]|success_url|cancel_url|expires_at|expand\[\]|customer|customer_email"
    r"|payment_intent_data\[(metadata\]\[orderid|capture_method|setup_future_usage)\]"
    r"|payment_method_options\[card\]\[request_multicapture\]"
    r"|saved_payment_method_options\[(payment_method_remove|allow_redisplay_filters\]\[\d)\]"
    r"|line_items\[\d+\]\[(quantity|price_data\]\[(currency|unit_amount|product_data\]\[name))\]"
)
EXPANDED = "payment_intent.latest_charge"


def refusal(status: int, kind: str, code: str = "", **more: str) -> Answer:
    return status, {"error": {"type": kind, "code": code, "message": f"stand-in: {code or kind}", **more}}


def invalid(param: str) -> Answer:
    return refusal(400, "invalid_request_error", "parameter_invalid", param=param)


class Sessions:
    """Sessions by id, over the same `intents` that the rest of the stand-in has."""

    def __init__(self, intents: dict[str, Json], url: str, shortest_seconds: float) -> None:
        self.intents, self.url, self.shortest = intents, url, shortest_seconds
        self.sessions: dict[str, Json] = {}
        self.customers: dict[str, Json] = {}
        self.cards: dict[str, int] = {}
        self.methods: dict[str, list[Json]] = {}
        self.detached: set[str] = set()
        self.events: list[Json] = []
        self.multicapture = False

    def create(self, form: dict[str, str]) -> Answer:
        """POST /v1/checkout/sessions, refusing what Stripe refuses."""
        if unknown := [name for name in form if not _KNOWN.fullmatch(name)]:
            return refusal(400, "invalid_request_error", "parameter_unknown", param=unknown[0])
        lines, problem = _lines(form)
        if problem:
            return invalid(problem)
        lifetime = int(form["expires_at"]) - time.time()
        if not self.shortest <= lifetime <= DAY:
            return invalid("expires_at")
        currency = form["line_items[0][price_data][currency]"]
        if currency in THREE_DECIMALS and sum(lines) % 10:
            return invalid("line_items")
        customer = form.get("customer")
        if customer and (customer not in self.customers or "customer_email" in form):
            return refusal(400, "invalid_request_error", "resource_missing", param="customer")
        if not customer and any(name.startswith("saved_payment") for name in form):
            return invalid("saved_payment_method_options")
        session = {
            "id": f"cs_test_{secrets.token_hex(12)}",
            "object": "checkout.session",
            "mode": form["mode"],
            "status": "open",
            "payment_status": "unpaid",
            "payment_intent": None,
            "amount_total": sum(lines),
            "currency": currency,
            "customer": customer,
            "created": int(time.time()),
            "expires_at": int(form["expires_at"]),
            "success_url": form["success_url"],
            "cancel_url": form["cancel_url"],
            "metadata": {"orderid": form["metadata[orderid]"]},
            "intent_data": {
                "metadata": {"orderid": form["payment_intent_data[metadata][orderid]"]},
                "capture_method": form.get("payment_intent_data[capture_method]", "automatic_async"),
                "setup_future_usage": form.get("payment_intent_data[setup_future_usage]"),
                "multicapture": form.get("payment_method_options[card][request_multicapture]"),
            },
        }
        session["url"] = f"{self.url}/c/pay/{session['id']}"
        self.sessions[session["id"]] = session
        return 200, self.shown(session, form)

    def shown(self, session: Json, form: dict[str, str]) -> Json:
        """With the payment intent itself only for who asks to have it expanded; the URL only while it is open."""
        self._expire_by_time(session)
        intent = self.intents.get(session["payment_intent"] or "")
        whole = intent if intent and form.get("expand[]") == EXPANDED else session["payment_intent"]
        url = session["url"] if session["status"] == "open" else None
        return {**session, "payment_intent": whole, "url": url}

    def expire(self, session: Json, form: dict[str, str]) -> Answer:
        """POST .../expire: only of an open session nobody is paying in at this moment."""
        self._expire_by_time(session)
        intent = self.intents.get(session["payment_intent"] or "", {})
        if session["status"] != "open" or intent.get("status") == "processing":
            return refusal(400, "invalid_request_error")
        self._end(session)
        return 200, self.shown(session, form)

    def pay(self, sessionid: str, how: str = "card") -> Json:
        """What a customer does on the page; the session."""
        session = self.sessions[sessionid]
        self._expire_by_time(session)
        if session["status"] != "open":
            return session
        intent = self.intents.get(session["payment_intent"] or "") or self._intent(session)
        if how == "declined":
            intent["last_payment_error"] = {"code": "card_declined", "message": "Your card was declined."}
            self._tell("payment_intent.payment_failed", intent)
        elif how == "action":
            intent["status"] = "requires_action"
            self._tell("payment_intent.requires_action", intent)
        elif how == "processing":
            intent["status"], session["status"] = "processing", "complete"
            self._tell("checkout.session.completed", session)
        else:
            self._succeed(session, intent)
            self._tell("checkout.session.completed", session)
        return session

    def authenticate(self, sessionid: str, *, passed: bool) -> None:
        """3-D Secure ends."""
        session = self.sessions[sessionid]
        self.intents[session["payment_intent"]]["status"] = "requires_payment_method"
        self.pay(sessionid, "card" if passed else "declined")

    def settle(self, sessionid: str, *, arrived: bool) -> None:
        """The money of a bank debit arrives, or not."""
        session = self.sessions[sessionid]
        intent = self.intents[session["payment_intent"]]
        if arrived:
            self._succeed(session, intent)
            self._tell("checkout.session.async_payment_succeeded", session)
        else:
            intent["status"] = "requires_payment_method"
            intent["last_payment_error"] = {"code": "debit_failed", "message": "The account is empty."}
            self._tell("checkout.session.async_payment_failed", session)

    def keep(self, customer: str, behaves: str = "visa", shown: str = "limited") -> str:
        """A card is saved with a customer; `behaves`: visa pays, `authentication` wants the customer to confirm. Its id."""
        method = {
            "id": f"pm_{secrets.token_hex(8)}",
            "object": "payment_method",
            "type": "card",
            "customer": customer,
            "allow_redisplay": shown,
            "card": {"brand": "visa", "last4": "4242", "exp_month": 3, "exp_year": 2031},
            "behaves": behaves,
        }
        self.methods.setdefault(customer, []).append(method)
        return str(method["id"])

    def detach(self, customer: str, method: str) -> None:
        """The customer takes a card off their account with Stripe."""
        self.methods[customer] = [each for each in self.methods[customer] if each["id"] != method]
        self.detached.add(method)

    def of(self, orderid: str) -> list[Json]:
        return [each for each in self.sessions.values() if each["metadata"]["orderid"] == orderid]

    def charge(self, intent: Json, *, manual: bool, asks_for_several: bool) -> None:
        """The card pays: `manual` reserves."""
        charge: Json = {"id": f"ch_{secrets.token_hex(8)}", "created": int(time.time())}
        card: Json = {"brand": "visa"}
        if manual:
            several = self.multicapture and asks_for_several
            card["capture_before"] = int(time.time()) + 7 * DAY
            card["multicapture"] = {"status": "available" if several else "unavailable"}
        charge["payment_method_details"] = {"type": "card", "card": card}
        intent["latest_charge"], intent["last_payment_error"] = charge, None
        intent["status"] = "requires_capture" if manual else "succeeded"
        intent["amount_received"] = 0 if manual else intent["amount"]

    def _succeed(self, session: Json, intent: Json) -> None:
        manual = session["intent_data"]["capture_method"] == "manual"
        several = session["intent_data"]["multicapture"] == "if_available"
        self.charge(intent, manual=manual, asks_for_several=several)
        session["status"] = "complete"
        session["payment_status"] = "unpaid" if manual else "paid"
        if session["customer"] and session["intent_data"]["setup_future_usage"]:
            self.cards[session["customer"]] = self.cards.get(session["customer"], 0) + 1
            self.keep(session["customer"])

    def _intent(self, session: Json) -> Json:
        """Made when a customer first tries to pay, as Stripe does."""
        intent = {
            "id": f"pi_{secrets.token_hex(8)}",
            "object": "payment_intent",
            "amount": session["amount_total"],
            "currency": session["currency"],
            "status": "requires_payment_method",
            "created": int(time.time()),
            "latest_charge": None,
            "last_payment_error": None,
            "metadata": session["intent_data"]["metadata"],
        }
        self.intents[intent["id"]] = intent
        session["payment_intent"] = intent["id"]
        return intent

    def _end(self, session: Json) -> None:
        session["status"] = "expired"
        if intent := self.intents.get(session["payment_intent"] or ""):
            intent["status"] = "canceled"
        self._tell("checkout.session.expired", session)

    def _expire_by_time(self, session: Json) -> None:
        if session["status"] == "open" and session["expires_at"] <= time.time():
            self._end(session)

    def _tell(self, kind: str, subject: Json) -> None:
        event = {
            "id": f"evt_{secrets.token_hex(8)}",
            "object": "event",
            "type": kind,
            "created": int(time.time()),
        }
        self.events.append({**event, "data": {"object": dict(subject)}})


def _lines(form: dict[str, str]) -> tuple[list[int], str]:
    """What each line costs, and the name of a parameter that is wrong."""
    costs: list[int] = []
    while f"line_items[{len(costs)}][quantity]" in form:
        prefix = f"line_items[{len(costs)}]"
        data = f"{prefix}[price_data]"
        currency, name = form.get(f"{data}[currency]", ""), form.get(f"{data}[product_data][name]")
        if not currency.islower() or currency != form["line_items[0][price_data][currency]"] or not name:
            return [], prefix
        quantity, price = int(form[f"{prefix}[quantity]"]), int(form[f"{data}[unit_amount]"])
        if quantity < 1 or price < 0:
            return [], prefix
        costs.append(quantity * price)
    named = sum(name.endswith("[quantity]") for name in form)
    wrong = not costs or len(costs) > 100 or len(costs) != named or form["mode"] != "payment"
    return costs, "line_items" if wrong else ""
