"""Customers and guests: order, look at orders, cancel, send back."""

from typing import Any

from flask import Response, request

from services.orders.actions import (
    cancellation,
    checkout,
    hosted_payments,
    line_cancellations,
    reading,
    return_requests,
    saved_methods,
)
from services.orders.actions.emails import guest_emails_are_limited
from services.orders.actions.intents import Buyer, quote_answer
from services.orders.resources.context import dependencies
from services.orders.resources.requester import order_response, reader, requested_order, return_response
from services.orders.rules.archive import is_archived
from services.orders.schemas import answers, desk, offers, requests
from shared.couch.deadline import time_limit
from shared.errors import Invalid, Unauthorized
from shared.web import (
    Blueprint,
    add_log_fields,
    audited,
    client_address,
    current_user,
    depends_on_more,
    json_answer,
    list_answer,
    optional_user,
    require_user,
    sent_again,
    unsign,
)
from shared.web.idempotency import OPTIONAL_KEY, REQUIRED_KEY, keyed_request, required_key

orders = Blueprint("orders", __name__, url_prefix="/v1/orders", description="Orders of customers and guests")


@orders.post("")
@orders.doc(parameters=[REQUIRED_KEY], security=[{"user": []}, {}])
@orders.arguments(requests.OrderRequest)
@orders.response(201, answers.Order)
@orders.alt_response(400, "BAD_REQUEST")
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(402, "PAYMENT_REQUIRED")
@orders.alt_response(409, "CONFLICT")
@orders.alt_response(429, "TOO_MANY_REQUESTS")
@time_limit(20)
def place(body: dict[str, Any]) -> Response:
    """Order: reserved, charged and written in one call; the same key again answers the same order"""
    deps = dependencies()
    key = required_key()
    placed = checkout.place_order(deps, _buyer(body), key, body)
    answer = reading.order_answer(deps, placed.found)
    add_log_fields(orderid=answer["orderid"])
    headers = {"Location": f"/v1/orders/{answer['orderid']}"}
    return json_answer(
        answer, 201, headers=headers | ({"Idempotency-Replayed": "true"} if placed.replayed else {})
    )


@orders.post("/quote")
@orders.doc(security=[{"user": []}, {}])
@orders.arguments(requests.QuoteRequest)
@orders.response(200, offers.Quote)
@orders.alt_response(409, "CONFLICT")
@orders.alt_response(429, "TOO_MANY_REQUESTS")
def price(body: dict[str, Any]) -> Response:
    """What these would cost, with discounts, delivery and tax: one look-up, nothing is written"""
    user, network = optional_user(), client_address()
    buyer = Buyer(user.userid, group=user.group, network=network) if user else Buyer(None, network=network)
    return json_answer(quote_answer(dependencies(), body, buyer))


@orders.get("")
@require_user
@sent_again()
@orders.arguments(requests.HistoryArgs, location="query")
@orders.response(200, desk.OrderPage)
@orders.alt_response(400, "BAD_REQUEST")
def history(args: dict[str, Any]) -> Response:
    """One's own orders, newest first: one global query"""
    userid = current_user().userid
    bound = ["history", userid] if args["failed"] else ["history", userid, "ordered"]
    after = unsign(args["cursor"], bound)
    page = reading.history(dependencies(), userid, args["limit"], after, failed=args["failed"])
    return json_answer(list_answer(page.items, page.next, bound))


@orders.get("/payment-methods")
@require_user
@orders.response(200, answers.SavedMethods)
def payment_methods() -> Response:
    """Cards that one keeps at the payment providers, for the next order: one partition query"""
    return json_answer({"items": saved_methods.saved_methods(dependencies(), current_user().userid)})


@orders.get("/<string:orderid>")
@sent_again(
    lambda: (optional_user(), request.headers.get(requests.ORDER_TOKEN)),
    given=lambda: (dependencies().terms,),
)
@orders.doc(security=[{"user": []}, {}])
@orders.arguments(requests.TokenHeader, location="headers")
@orders.response(200, answers.Order)
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(404, "NOT_FOUND")
def get_order(headers: dict[str, str], orderid: str) -> Response:
    """One order with all that happened to it: one partition query"""
    found = requested_order(headers, orderid, from_archive=True)
    if is_archived(found):
        depends_on_more()  # the archive's file
    return order_response(found)


@orders.get("/<string:orderid>/items")
@orders.doc(security=[{"user": []}, {}])
@orders.arguments(requests.TokenHeader, location="headers")
@orders.response(200, answers.Lines)
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(404, "NOT_FOUND")
def get_line_items(headers: dict[str, str], orderid: str) -> Response:
    """Only an order's line items: one partition query"""
    return json_answer(
        {"items": reading.read_lines(dependencies(), orderid, reader(headers["token"])), "next": None}
    )


@orders.post("/<string:orderid>/payment")
@orders.doc(security=[{"user": []}, {}])
@orders.arguments(requests.TokenHeader, location="headers")
@orders.response(200, answers.Order)
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(404, "NOT_FOUND")
@time_limit(10)
def refresh_payment(headers: dict[str, str], orderid: str) -> Response:
    """Ask the provider what became of the payment page: what the customer's return to the shop does; any number of times"""
    deps = dependencies()
    found, problem = hosted_payments.after_payment_page(deps, requested_order(headers, orderid))
    answer = reading.order_answer(deps, found, for_staff=reader(headers["token"]).is_staff)
    if problem and answer["payment_page"]:
        answer["payment_page"]["problem"] = problem
    return json_answer(answer)


@orders.post("/<string:orderid>/payment/cancellation")
@orders.doc(security=[{"user": []}, {}])
@orders.arguments(requests.TokenHeader, location="headers")
@orders.response(200, answers.Order)
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(404, "NOT_FOUND")
@time_limit(10)
@audited("end payment page", "orderid", staff_only=True)
def cancel_payment(headers: dict[str, str], orderid: str) -> Response:
    """End the payment page of an order that is not paid: nothing is charged, the goods go back; a payment that was first stays"""
    return order_response(hosted_payments.give_up_payment(dependencies(), requested_order(headers, orderid)))


@orders.post("/<string:orderid>/cancellation")
@orders.doc(parameters=[OPTIONAL_KEY], security=[{"user": []}, {}])
@orders.arguments(requests.TokenHeader, location="headers")
@orders.arguments(requests.CancellationRequest)
@orders.response(201, answers.Order)
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(404, "NOT_FOUND")
@orders.alt_response(409, "CONFLICT")
@audited("cancel order", "orderid", "items", staff_only=True)
def cancel(headers: dict[str, str], body: dict[str, Any], orderid: str) -> Response:
    """Cancel before dispatch, the whole order or `items`: what was paid for it is paid back; done twice it is done once"""
    deps, found = dependencies(), requested_order(headers, orderid)
    if "items" not in body:
        return order_response(cancellation.cancel_order(deps, found, _requester(), body["reason"]), 201)
    request = keyed_request([orderid, body])
    found = line_cancellations.cancel_lines(deps, found, body["items"], _requester(), body["reason"], request)
    return order_response(found, 201)


@orders.post("/<string:orderid>/returns")
@orders.doc(parameters=[OPTIONAL_KEY], security=[{"user": []}, {}])
@orders.arguments(requests.TokenHeader, location="headers")
@orders.arguments(requests.ReturnRequest)
@orders.response(201, answers.OrderReturn)
@orders.alt_response(401, "UNAUTHORIZED")
@orders.alt_response(404, "NOT_FOUND")
@orders.alt_response(409, "CONFLICT")
@audited("request return", "orderid", "items", staff_only=True)
def request_return(headers: dict[str, str], body: dict[str, Any], orderid: str) -> Response:
    """Ask to send goods back after delivery; they are paid back once the shop has received them"""
    found, request = requested_order(headers, orderid), keyed_request([orderid, body])
    back = return_requests.request_return(
        dependencies(),
        found,
        body,
        request,
        _requester(),
        at_any_time=reader(headers["token"]).is_staff,
    )
    return return_response(*back)


def _requester() -> str:
    """Who cancels an order or sends something of it back, as its documents name them."""
    user = optional_user()
    return f"user {user.userid}" if user else "guest"


def _buyer(body: dict[str, Any]) -> Buyer:
    user = optional_user()
    if user is not None:
        return Buyer(user.userid, group=user.group, network=client_address())
    if "email" not in body:
        raise Unauthorized("Log in, or give an email to order as a guest.")
    if "address" not in body:
        raise Invalid("A guest gives an address.", errors={"address": ["Needed for guests."]})
    network = client_address()
    limited = guest_emails_are_limited(dependencies(), network)
    return Buyer(None, body["email"], body.get("name", ""), mail_limited=limited, network=network)
