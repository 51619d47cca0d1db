"""For our other services: stock that is kept for an order."""

from typing import Any

from flask import Response, request

from services.products.actions import query_counts
from services.products.actions import stock as act
from services.products.actions.backorders import waiting_lines
from services.products.actions.browse import offers_in
from services.products.actions.reviews import forget_person, public
from services.products.actions.stall_counts import take_back_counted
from services.products.documents import taxonomy_of
from services.products.resources.context import asked_language, dependencies, price_context, reading
from services.products.rules.ledger import Line
from services.products.schemas import answers, requests
from services.products.schemas.search import RepeatedSearches
from shared.client import ATTEMPT_HEADER
from shared.clock import timestamp
from shared.couch.deadline import time_limit
from shared.web import Blueprint, json_answer, nothing, require_service

internal = Blueprint("internal", __name__, description="Between services")


@internal.post("/v1/internal/reservations")
@require_service
@internal.arguments(requests.Reservation)
@internal.response(201, answers.Reserved)
@internal.alt_response(409, "CONFLICT")
def reserve(body: dict[str, Any]) -> Response:
    """Keep goods for an order, all or none; a second time changes nothing"""
    lines = _lines(body["items"])
    again = body["again"] or ATTEMPT_HEADER in request.headers
    act.reserve(
        dependencies(),
        body["orderid"],
        lines,
        body["expires"],
        timestamp(),
        again=again,
        happened=body["happened"],
    )
    shown = [line.fields | {"quantity": line.quantity} for line in lines]
    return json_answer({"reserved": shown}, 201)


@internal.post("/v1/internal/reservations/<orderid>/extension")
@require_service
@internal.arguments(requests.ReservationExtension)
@internal.response(200, answers.Ended)
def keep_on(body: dict[str, Any], orderid: str) -> Response:
    """Keep reserved goods for longer; never for shorter"""
    act.keep_on(dependencies(), orderid, _lines(body["items"]), body["expires"])
    return json_answer({"orderid": orderid, "outcome": "reserved"})


@internal.post("/v1/internal/reservations/<orderid>/confirmation")
@require_service
@internal.arguments(requests.ReservationConfirmation)
@internal.response(200, answers.Ended)
@internal.alt_response(409, "CONFLICT")
def confirm(body: dict[str, Any], orderid: str) -> Response:
    """The goods are sold"""
    lines, date = _lines(body["items"]), timestamp()
    act.confirm(dependencies(), orderid, lines, date)
    if body["happened"]:
        take_back_counted(dependencies(), orderid, lines, body["happened"], date)
    return json_answer({"orderid": orderid, "outcome": "sold"})


@internal.post("/v1/internal/reservations/<orderid>/release")
@require_service
@internal.arguments(requests.ReservationEnd)
@internal.response(200, answers.Ended)
def release(body: dict[str, Any], orderid: str) -> Response:
    """The goods are given back"""
    act.release(dependencies(), orderid, _lines(body["items"]), body["reference"], timestamp())
    return json_answer({"orderid": orderid, "outcome": "released"})


@internal.post("/v1/internal/waiting")
@require_service
@internal.arguments(requests.OrdersAskedAfter)
@internal.response(200, answers.WaitingOrders)
@time_limit(20)
def waiting(body: dict[str, Any]) -> Response:
    """How many pieces of these orders' lines are sold and not here yet: what comes in is given to the oldest first"""
    asked = {each["orderid"]: _lines(each["items"]) for each in body["orders"]}
    found = waiting_lines(dependencies(), asked)
    shown = [
        {"orderid": orderid, "items": [{"sku": sku, "waiting": count} for sku, count in counts.items()]}
        for orderid, counts in found.items()
    ]
    return json_answer({"orders": shown})


@internal.post("/v1/internal/offers")
@require_service
@internal.arguments(requests.CategoryOffered)
@internal.response(200, answers.Offers)
def offers(body: dict[str, Any]) -> Response:
    """What is sold of one category, each variant by itself; without products nothing. 1 partition query"""
    context, deps = price_context(body["currency"]), reading(asked_language(body["language"] or ""))
    return json_answer({"items": offers_in(deps, taxonomy_of(body["category"]), body["limit"], context)})


@internal.post("/v1/internal/searches")
@require_service
@internal.arguments(RepeatedSearches)
@internal.response(204)
def count_searches(body: dict[str, Any]) -> Response:
    """Searches that were answered from kept pages"""
    for each in body["searches"]:
        query_counts.count_again(dependencies(), each["q"], each["address"])
    return nothing()


@internal.get("/v1/internal/users/<userid>/reviews")
@require_service
@internal.response(200, answers.ReviewList)
@time_limit(30)
def reviews_of_person(userid: str) -> Response:
    """Everything a person wrote, for the export of their data"""
    return json_answer(
        {"items": [public(doc) for doc in dependencies().reviews.of_person(userid)], "next": None}
    )


@internal.post("/v1/internal/users/<userid>/forget")
@require_service
@internal.arguments(requests.ForgottenPerson, required=False)
@internal.response(200, answers.Forgotten)
@time_limit(30)
def forget(body: dict[str, str], userid: str) -> Response:
    """Empty the texts of a person's reviews, whose stars stay, and take searches with their `name` out of what was counted. May be repeated"""
    searches = query_counts.forget_person(dependencies(), body["name"])
    return json_answer({"reviews": forget_person(dependencies(), userid), "searches": searches})


def _lines(items: list[dict[str, Any]]) -> list[Line]:
    """One line for each SKU, so many as were asked in all."""
    wanted: dict[tuple[str, tuple[str, ...], str], int] = {}
    limits: dict[tuple[str, tuple[str, ...], str], int] = {}
    for item in items:
        sku = "" if item["sku"] == item["productid"] else item["sku"]
        key = (item["productid"], tuple(item["taxonomy"]), sku)
        wanted[key] = wanted.get(key, 0) + item["quantity"]
        limits[key] = item["backorder_limit"]
    return [Line(*key[:2], quantity, key[2], limits[key]) for key, quantity in wanted.items()]
