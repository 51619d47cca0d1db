"""Gift cards and store credit: their balance for whoever has the code or is logged in, and what staff does with them."""

from typing import Any

from flask import Response

from services.orders.actions import gift_cards as act
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor
from services.orders.rules.gift_cards import code_of, new_code
from services.orders.schemas import credits as schemas
from shared.couch import time_ordered_id
from shared.idempotency import fingerprint_of
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    client_address,
    current_user,
    json_answer,
    list_answer,
    require_role,
    require_user,
    unsign,
)
from shared.web.idempotency import OPTIONAL_KEY, request_key

gift_cards = Blueprint("gift cards", __name__, url_prefix="/v1", description="Gift cards and store credit")
_BOUND = ["gift cards"]


@gift_cards.post("/gift-cards/balance")
@gift_cards.arguments(schemas.Code)
@gift_cards.response(200, schemas.Balance)
@gift_cards.alt_response(429, "TOO_MANY_REQUESTS")
def balance(body: dict[str, str]) -> Response:
    """What is left on a gift card: one partition query; wrong codes are counted"""
    return json_answer(act.balance_of_code(dependencies(), body["code"], client_address()).answer())


@gift_cards.get("/store-credit")
@require_user
@gift_cards.response(200, schemas.Balances)
def own_store_credit() -> Response:
    """One's own store credit, by currency: one partition query"""
    items = act.store_credit(dependencies(), current_user().userid)
    return json_answer({"items": items, "next": None})


@gift_cards.get("/admin/gift-cards")
@require_role("admin", "staff")
@gift_cards.arguments(PageArgs, location="query")
@gift_cards.response(200, schemas.GiftCardPage)
@gift_cards.alt_response(400, "BAD_REQUEST")
def list_gift_cards(args: dict[str, Any]) -> Response:
    """All gift cards with their balances, newest first: one global query"""
    page = act.list_gift_cards(dependencies(), args["limit"], unsign(args["cursor"], _BOUND))
    return json_answer(list_answer(page.items, page.next, _BOUND))


@gift_cards.post("/admin/gift-cards")
@require_role("admin", "staff")
@gift_cards.doc(parameters=[OPTIONAL_KEY])
@gift_cards.arguments(schemas.GiftCardContent)
@gift_cards.response(201, schemas.IssuedGiftCard)
@gift_cards.alt_response(409, "CONFLICT")
@audited("issue gift card", "", "value")
def issue(body: dict[str, Any]) -> Response:
    """A new gift card; its code is in this answer (and in the e-mail, where an address is given) and nowhere else"""
    deps, key = dependencies(), request_key()
    code = code_of(deps.settings.secret_key, f"desk {key}") if key else new_code()
    chain = act.issue(deps, code, body["value"], actor(), body["note"], fingerprint_of(body))
    act.send_code(deps, code, chain, body)
    answer = act.card_answer(chain) | {"code": code}
    return json_answer(answer, 201, headers={"Location": f"/v1/admin/gift-cards/{answer['id']}"})


@gift_cards.get("/admin/gift-cards/<string:id>")
@require_role("admin", "staff")
@gift_cards.response(200, schemas.GiftCard)
@gift_cards.alt_response(404, "NOT_FOUND")
def read_gift_card(id: str) -> Response:
    """A gift card with all that happened to it: one partition query"""
    return json_answer(act.gift_card(dependencies(), id))


@gift_cards.put("/admin/gift-cards/<string:id>")
@require_role("admin", "staff")
@gift_cards.doc(parameters=[OPTIONAL_KEY])
@gift_cards.arguments(schemas.Correction)
@gift_cards.response(200, schemas.GiftCard)
@gift_cards.alt_response(404, "NOT_FOUND")
@gift_cards.alt_response(409, "CONFLICT")
@audited("correct gift card", "id", "balance")
def correct(body: dict[str, Any], id: str) -> Response:
    """Set the balance of a gift card, 0 to block it; its history says who and why"""
    reference = request_key() or time_ordered_id()
    return json_answer(act.correct(dependencies(), id, body["balance"], body["note"], actor(), reference))


@gift_cards.get("/admin/store-credit/<string:userid>")
@require_role("admin", "staff")
@gift_cards.response(200, schemas.StoreCredit)
def read_store_credit(userid: str) -> Response:
    """A customer's store credit, with all that happened to it"""
    return json_answer(act.store_credit_history(dependencies(), userid))


@gift_cards.post("/admin/store-credit/<string:userid>")
@require_role("admin", "staff")
@gift_cards.doc(parameters=[OPTIONAL_KEY])
@gift_cards.arguments(schemas.Grant)
@gift_cards.response(201, schemas.StoreCredit)
@gift_cards.alt_response(409, "CONFLICT")
@audited("grant store credit", "userid", "amount")
def grant(body: dict[str, Any], userid: str) -> Response:
    """Give a customer store credit, with the reason"""
    deps, reference = dependencies(), request_key() or time_ordered_id()
    act.grant(deps, userid, body["amount"], body["reason"], actor(), reference)
    return json_answer(act.store_credit_history(deps, userid), 201)
