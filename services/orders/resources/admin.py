"""Staff: lists, dispatch and delivery by hand, refunds, open attempts, dead letters, order history import."""

from collections.abc import Iterator
from typing import Any

import orjson
from flask import Response, request
from werkzeug.exceptions import UnsupportedMediaType

from services.orders.actions import (
    captures,
    desk_orders,
    imports,
    line_refunds,
    parcels,
    reading,
    refunds,
    summaries,
)
from services.orders.actions import dead_letters as act
from services.orders.actions.sweep import open_attempts_span
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, order_response
from services.orders.rules.periods import span
from services.orders.schemas import answers, desk, requests
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.money import Money, money
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    json_answer,
    lines_of,
    list_answer,
    require_role,
    short_list_answer,
    text_content,
    unsign,
)
from shared.web.idempotency import OPTIONAL_KEY, keyed_request

admin = Blueprint("admin", __name__, url_prefix="/v1/admin", description="For staff and admins")

MAX_LINE_BYTES, MAX_IMPORT_BYTES = 1_000_000, 2**40
NDJSON = "application/x-ndjson"
LINES = (NDJSON, "text/plain")
REFUND_DEFAULTS = {"to": "original", "notify": True}


@admin.get("/orders")
@require_role("admin", "staff")
@admin.arguments(desk.OrdersArgs, location="query")
@admin.response(200, desk.DeskOrderPage)
@admin.alt_response(400, "BAD_REQUEST")
def list_orders(args: dict[str, Any]) -> Response:
    """Orders placed in [from, to), newest first, by any of these together: one global query, and a full page while there is one"""
    deps = dependencies()
    bound = [
        "orders",
        *(args[name] for name in ("start", "end", "status", "q", "product", "open_returns", "waiting")),
    ]
    bound += [args[name] for name in ("customer", "channel") if args[name]]
    after = unsign(args["cursor"], bound)
    filters = _filters(args)
    page = desk_orders.list_orders(deps, filters, args["limit"], after)
    missing = 0 if filters.are_dates_alone else summaries.unlisted(deps.summaries.state())
    answer = list_answer(page.items, page.next, bound)
    return json_answer({**answer, "complete": missing == 0, "unlisted": missing})


@admin.get("/orders/counts")
@require_role("admin", "staff")
@admin.arguments(desk.OrderCountArgs, location="query")
@admin.response(200, desk.OrderCounts)
def count_orders(args: dict[str, Any]) -> Response:
    """How many orders there are of each status: one global query"""
    counts = desk_orders.count_orders(
        dependencies(), _filters({**args, "start": None, "end": None, "status": None})
    )
    return json_answer({"total": counts.pop("", 0), "counts": counts})


@admin.get("/orders/spend")
@require_role("admin", "staff")
@admin.arguments(desk.SpendArgs, location="query")
@admin.response(200, desk.SpendByCurrency)
def spend(args: dict[str, str]) -> Response:
    """What a customer, or a guest by e-mail, has paid and got back, by currency: one global query. A moment behind the orders themselves"""
    items = desk_orders.spend(dependencies(), customer=args["customer"], email=args["email"])
    return json_answer({"items": items, "next": None})


@admin.get("/attempts")
@require_role("admin", "staff")
@admin.arguments(PageArgs, location="query")
@admin.response(200, desk.OrderPage)
@admin.alt_response(400, "BAD_REQUEST")
def open_attempts(args: dict[str, Any]) -> Response:
    """Checkout attempts without an outcome yet; reconciliation ends each of them"""
    return _open(args, unpaid=True)


@admin.get("/unfinished")
@require_role("admin", "staff")
@admin.arguments(PageArgs, location="query")
@admin.response(200, desk.OrderPage)
@admin.alt_response(400, "BAD_REQUEST")
def unfinished(args: dict[str, Any]) -> Response:
    """Orders on which the worker, a courier or a provider still has something to do"""
    return _open(args, unpaid=False)


@admin.get("/authorizations")
@require_role("admin", "staff")
@admin.arguments(desk.AuthorizationArgs, location="query")
@admin.response(200, desk.Authorizations)
def list_authorizations(args: dict[str, Any]) -> Response:
    """Money that is reserved and not taken yet, soonest to expire first: dispatch these orders, or cancel them"""
    listed = captures.authorizations(dependencies(), args["days"])
    return json_answer({"items": listed, "next": None})


@admin.post("/orders/<string:orderid>/dispatch")
@require_role("admin", "staff")
@admin.doc(parameters=[OPTIONAL_KEY])
@admin.arguments(requests.DispatchRequest)
@admin.response(201, answers.Order)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(409, "CONFLICT")
@admin.alt_response(422, "UNPROCESSABLE_ENTITY")
@audited("dispatch order", "orderid", "courier", "courierid", "items", "tracking_url")
def dispatch(body: dict[str, Any], orderid: str) -> Response:
    """Hand an order to a courier, all that is left of it or `items`; the same parcel twice is one"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    found = parcels.dispatch_order(
        deps,
        found,
        body["courier"],
        body["courierid"],
        actor(),
        items=body.get("items"),
        tracking_url=body.get("tracking_url", ""),
    )
    return order_response(found, 201)


@admin.post("/orders/<string:orderid>/delivery")
@require_role("admin", "staff")
@admin.doc(parameters=[OPTIONAL_KEY])
@admin.response(201, answers.Order)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(409, "CONFLICT")
@audited("mark order delivered", "orderid")
def deliver(orderid: str) -> Response:
    """The parcel arrived, the only one that is on its way"""
    deps = dependencies()
    found = parcels.deliver_order(deps, reading.any_order(deps, orderid))
    return order_response(found, 201)


@admin.post("/orders/<string:orderid>/parcels/<string:number>/delivery")
@require_role("admin", "staff")
@admin.doc(parameters=[OPTIONAL_KEY])
@admin.response(201, answers.Order)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(409, "CONFLICT")
@audited("mark parcel delivered", "orderid", "number")
def deliver_parcel(orderid: str, number: str) -> Response:
    """One of several parcels arrived"""
    deps = dependencies()
    found = parcels.deliver_order(deps, reading.any_order(deps, orderid), number=number)
    return order_response(found, 201)


@admin.post("/orders/<string:orderid>/refunds")
@require_role("admin", "staff")
@admin.doc(parameters=[OPTIONAL_KEY])
@admin.arguments(requests.RefundRequest)
@admin.response(201, answers.Order)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(409, "CONFLICT")
@audited("refund order", "orderid", "amount", "items", "to", "notify")
def refund(body: dict[str, Any], orderid: str) -> Response:
    """Pay back an amount, or what was paid for `items`: to gift cards and store credit what they paid, the rest to the card or to store credit"""
    deps = dependencies()
    found, to_store_credit = reading.any_order(deps, orderid), body["to"] == "store_credit"
    chosen = {
        name: value
        for name, value in body.items()
        if name not in REFUND_DEFAULTS or value != REFUND_DEFAULTS[name]
    }
    request, notify = keyed_request([orderid, chosen]), body["notify"]
    if "items" in body:
        found = line_refunds.refund_items(
            deps,
            found,
            body["items"],
            body["reason"],
            request,
            to_store_credit=to_store_credit,
            notify=notify,
        )
    else:
        total = _money(body["amount"], found.order["total"]["currency"])
        found = refunds.refund_order(
            deps, found, total, body["reason"], request, to_store_credit=to_store_credit, notify=notify
        )
    return order_response(found, 201)


@admin.get("/dead-letters")
@require_role("admin", "staff")
@admin.arguments(PageArgs, location="query")
@admin.response(200, answers.DeadLetters)
@admin.alt_response(400, "BAD_REQUEST")
def dead_letters(args: dict[str, Any]) -> Response:
    """Jobs that were given up, oldest first"""
    listed = act.list_dead_letters(dependencies())
    return json_answer(short_list_answer(listed, args, "id", ["dead letters"]))


@admin.post("/dead-letters/<string:dead_letter_id>/retry")
@require_role("admin", "staff")
@admin.doc(parameters=[OPTIONAL_KEY])
@admin.response(202, answers.DeadLetter)
@admin.alt_response(404, "NOT_FOUND")
@audited("retry job", "dead_letter_id")
def retry_dead_letter(dead_letter_id: str) -> Response:
    """Send a job again"""
    return json_answer(act.retry(dependencies(), dead_letter_id, actor()), 202)


@admin.post("/orders/import")
@require_role("admin")
@admin.arguments(requests.ImportArgs, location="query")
@admin.doc(
    parameters=[OPTIONAL_KEY],
    requestBody={"required": True, "content": text_content(*LINES)},
)
@admin.response(200, answers.ImportResult)
@admin.alt_response(415, "UNSUPPORTED_MEDIA_TYPE")
@time_limit(NO_LIMIT)
@audited("import orders", "", "from_line")
def import_history(args: dict[str, Any]) -> Response:
    """Order history, a JSON order per line, of any length; with `Accept: application/x-ndjson` progress is streamed. An item may say what one
    piece `cost` the shop, as its `unitPrice`: the margin report counts it"""
    if request.mimetype not in LINES:
        raise UnsupportedMediaType(f"Send the lines as {NDJSON}.")
    request.max_content_length = MAX_IMPORT_BYTES
    lines = lines_of(request.stream, MAX_LINE_BYTES)
    results = imports.import_orders(dependencies(), lines, args["from_line"])
    if request.accept_mimetypes.best_match(["application/json", NDJSON]) == NDJSON:
        return Response(_progress(results), mimetype=NDJSON)
    return json_answer(list(results)[-1].answer())


def _progress(results: Iterator[imports.ImportResult]) -> Iterator[bytes]:
    """A line after each bulk without the failures, and the whole result as the last line."""
    for result in results:
        last = result
        yield orjson.dumps({**result.answer(), "failed": None, "done": False}) + b"\n"
    yield orjson.dumps({**last.answer(), "done": True}) + b"\n"


def _filters(args: dict[str, Any]) -> desk_orders.Filters:
    return desk_orders.Filters(
        span(args["start"], args["end"]),
        status=args["status"] or "",
        q=args["q"] or "",
        product=args["product"] or "",
        open_returns=args["open_returns"],
        waiting=args["waiting"],
        channel=args["channel"],
        customer=args.get("customer", ""),
    )


def _open(args: dict[str, Any], *, unpaid: bool) -> Response:
    bound = ["open", unpaid]
    after = unsign(args["cursor"], bound)
    page = reading.open_orders(dependencies(), open_attempts_span(), args["limit"], after, unpaid=unpaid)
    return json_answer(list_answer(page.items, page.next, bound))


def _money(amount: Any, currency: str) -> Money:
    return (
        money(amount["amount"], amount["currency"]) if isinstance(amount, dict) else money(amount, currency)
    )
