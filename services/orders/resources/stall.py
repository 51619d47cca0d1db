"""The stall: what staff sold without a network, the days there, and the cash."""

import re
from collections.abc import Mapping
from typing import Any

from flask import Response, request

from services.orders.actions import reading, stall_days, stall_sales
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, order_response
from services.orders.rules.reports import as_csv
from services.orders.rules.stall import oversold_of
from services.orders.schemas import answers
from services.orders.schemas import stall as schemas
from shared.audit import Act
from shared.couch import time_ordered_id
from shared.couch.deadline import time_limit
from shared.errors import NotFound
from shared.web import (
    Blueprint,
    PageArgs,
    add_log_fields,
    audited,
    current_user,
    idempotent_id,
    json_answer,
    list_answer,
    require_role,
    text_content,
    unsign,
)
from shared.web.audit import audit_trail
from shared.web.idempotency import OPTIONAL_KEY, REQUIRED_KEY, required_key

stall = Blueprint(
    "stall",
    __name__,
    url_prefix="/v1/admin/stall",
    description="Sales at a market stall, also without a network",
)
_OVERSOLD, CSV = "stall oversold", "text/csv"


class NoSuchDay(NotFound):
    code, title = "no_such_day", "There is no such day"


def _about_sale(sent: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stall": sent["stall"],
        "sold_by": sent["sold_by"],
        "total": sent["total"],
        "kind": sent["payment"]["kind"],
    }


@stall.post("/sales")
@require_role("admin", "staff")
@stall.doc(parameters=[REQUIRED_KEY])
@stall.arguments(schemas.StallSale)
@stall.response(201, answers.Order)
@stall.alt_response(400, "BAD_REQUEST")
@time_limit(20)
@audited("record stall sale", details=_about_sale)
def sell(body: dict[str, Any]) -> Response:
    """A sale that has happened: an order that is paid and handed over, whatever the stock or the prices are by now. One for each key, whoever sends it and however late"""
    deps = dependencies()
    placed = stall_sales.record_sale(deps, required_key(), body, actor())
    orderid = placed.found.order["orderid"]
    add_log_fields(orderid=orderid)
    lacking = oversold_of(placed.found)
    if lacking and not placed.replayed:
        lines = [[line["name"], line["quantity"]] for line in lacking["lines"]]
        audit_trail().write(Act(current_user().userid, "oversell at stall", orderid, {"lines": lines}))
    headers = {"Location": f"/v1/orders/{orderid}"}
    replayed = {"Idempotency-Replayed": "true"} if placed.replayed else {}
    return json_answer(reading.order_answer(deps, placed.found), 201, headers=headers | replayed)


@stall.get("/sales")
@require_role("admin", "staff")
@stall.arguments(schemas.StallSalesArgs, location="query")
@stall.doc(responses={200: {"content": text_content(CSV)}})
@stall.response(200, schemas.StallSalesList)
@time_limit(20)
def list_sales(args: dict[str, Any]) -> Response:
    """Each sale of some days at all stalls or one, the oldest first, as JSON or CSV, whichever `Accept` prefers: one partition query a day, 31 days at most"""
    found = stall_days.sales(dependencies(), args["first"], args["last"], args["stall"])
    if request.accept_mimetypes.best_match(["application/json", CSV], "application/json") == CSV:
        headers = {"Content-Disposition": "attachment; filename=stall-sales.csv"}
        return Response(as_csv(found), mimetype=CSV, headers=headers)
    return json_answer({"items": found})


@stall.post("/goods")
@require_role("admin", "staff")
@stall.arguments(schemas.StallGoodsArgs)
@stall.response(200, schemas.StallGoodsList)
def goods(body: dict[str, Any]) -> Response:
    """What a stall needs to know of what is sold of a category, not of those below it: prices with the tax, no cost prices; 500 products at most,
    the cheapest; one partition query, nothing is written"""
    found = stall_days.goods(dependencies(), body["category"], body["currency"], body["language"])
    return json_answer({"items": found})


@stall.get("/days/<string:day>")
@require_role("admin", "staff")
@stall.response(200, schemas.StallDay)
@stall.alt_response(404, "NOT_FOUND")
def day(day: str) -> Response:
    """What was sold at the stalls on a day, the takings by person, and the cash that was counted: one partition query. `today` is the day that it is in the shop's time zone"""
    if day != stall_days.TODAY and not re.fullmatch(schemas.DAY, day):
        raise NoSuchDay("Write it like 2026-11-23.")
    return json_answer(stall_days.day(dependencies(), day))


@stall.post("/cash-ups")
@require_role("admin", "staff")
@stall.doc(parameters=[OPTIONAL_KEY])
@stall.arguments(schemas.CashUpContent)
@stall.response(201, schemas.CashUp)
@audited("count cash", "day", "stall", "sold_by", "counted")
def cash_up(body: dict[str, Any]) -> Response:
    """The cash that was counted at the end of a day, kept beside what it should be"""
    id = idempotent_id() or time_ordered_id()
    return json_answer(stall_days.cash_up(dependencies(), id, body, actor()), 201)


@stall.get("/oversold")
@require_role("admin", "staff")
@stall.arguments(PageArgs, location="query")
@stall.response(200, schemas.OversoldSales)
@stall.alt_response(400, "BAD_REQUEST")
def oversold(args: dict[str, Any]) -> Response:
    """Sales of which the stock had too little and that are not settled yet, the newest first: one partition query"""
    page = stall_days.oversold(dependencies(), args["limit"], unsign(args["cursor"], _OVERSOLD))
    return json_answer(list_answer(page.items, page.next, _OVERSOLD))


@stall.post("/oversold/<string:orderid>/settlement")
@require_role("admin", "staff")
@stall.doc(parameters=[OPTIONAL_KEY])
@stall.arguments(schemas.OversoldOutcome)
@stall.response(201, answers.Order)
@stall.alt_response(404, "NOT_FOUND")
@stall.alt_response(409, "CONFLICT")
@audited("settle oversold", "orderid", "outcome")
def settle_oversold(body: dict[str, Any], orderid: str) -> Response:
    """How those were helped whom these pieces lacked: said once, and the sale leaves the list. The same again changes nothing; the stock is left alone"""
    return order_response(stall_sales.settle_oversold(dependencies(), orderid, body["outcome"], actor()), 201)
