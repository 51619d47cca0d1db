"""Staff: draft orders, and placing them for customers."""

from typing import Any

from flask import Response, request

from services.orders.actions import draft_placing, reading, refunds
from services.orders.actions import drafts as act
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, order_response
from services.orders.schemas import answers
from services.orders.schemas import drafts as schemas
from shared.couch.deadline import time_limit
from shared.web import (
    Blueprint,
    PageArgs,
    add_log_fields,
    audited,
    client_address,
    current_user,
    etag_of,
    idempotent,
    if_match_header,
    json_answer,
    kept_id,
    list_answer,
    nothing,
    require_role,
    unsign,
)

drafts = Blueprint(
    "drafts", __name__, url_prefix="/v1/admin", description="Orders that staff make for customers"
)

_BOUND = "drafts"
_IF_MATCH = if_match_header(
    "the ETag that was read: 409 with what differs when somebody has changed it since"
)


@drafts.get("/drafts")
@require_role("admin", "staff")
@drafts.arguments(PageArgs, location="query")
@drafts.response(200, schemas.Drafts)
@drafts.alt_response(400, "BAD_REQUEST")
def listed(args: dict[str, Any]) -> Response:
    """All draft orders, the newest first: one partition query"""
    page = act.page(dependencies(), args["limit"], unsign(args["cursor"], _BOUND))
    return json_answer(list_answer([act.summary(each) for each in page.items], page.next, _BOUND))


@drafts.post("/drafts")
@require_role("admin", "staff")
@idempotent
@drafts.arguments(schemas.DraftContent)
@drafts.response(201, schemas.Draft)
@drafts.alt_response(409, "CONFLICT")
@audited("add draft order", "", "userid")
def add(body: dict[str, Any]) -> Response:
    """A new draft order: nothing is reserved, no code is used"""
    draft, answer = act.add(dependencies(), kept_id(), body, _editor())
    headers = {"Location": f"/v1/admin/drafts/{draft['id']}"}
    return json_answer(answer, 201, etag=etag_of(draft["_rev"]), headers=headers)


@drafts.get("/drafts/<string:id>")
@require_role("admin", "staff")
@drafts.response(200, schemas.Draft)
@drafts.alt_response(404, "NOT_FOUND")
def read(id: str) -> Response:
    """A draft order with what it costs now"""
    deps = dependencies()
    draft = act.get(deps, id)
    return json_answer(act.answered(deps, draft, _editor()), etag=etag_of(draft["_rev"]))


@drafts.put("/drafts/<string:id>")
@require_role("admin", "staff")
@drafts.doc(parameters=[_IF_MATCH])
@drafts.arguments(schemas.DraftContent)
@drafts.response(200, schemas.Draft)
@drafts.alt_response(404, "NOT_FOUND")
@drafts.alt_response(409, "CONFLICT")
@audited("change draft order", "id", "userid")
def change(body: dict[str, Any], id: str) -> Response:
    """New content of a draft order that is not placed"""
    deps = dependencies()
    before = act.get(deps, id)
    _check_version(before["_rev"], before, body)
    draft, answer = act.change(deps, before, body, _editor())
    return json_answer(answer, etag=etag_of(draft["_rev"]))


@drafts.delete("/drafts/<string:id>")
@require_role("admin", "staff")
@drafts.response(204)
@drafts.alt_response(404, "NOT_FOUND")
@drafts.alt_response(409, "CONFLICT")
@audited("remove draft order", "id")
def remove(id: str) -> Response:
    """Remove a draft order; an order that it has become stays"""
    deps = dependencies()
    act.remove(deps, act.get(deps, id))
    return nothing()


@drafts.post("/drafts/<string:id>/order")
@require_role("admin", "staff")
@drafts.arguments(schemas.DraftPlacement)
@drafts.response(201, answers.Order)
@drafts.alt_response(402, "PAYMENT_REQUIRED")
@drafts.alt_response(404, "NOT_FOUND")
@drafts.alt_response(409, "CONFLICT")
@time_limit(20)
@audited("place draft order", "id", details=lambda sent: {"kind": sent["payment"]["kind"]})
def place(body: dict[str, Any], id: str) -> Response:
    """Place it, paid already or with a link to the payment page by e-mail; a second time answers the same order"""
    deps = dependencies()
    placed = draft_placing.place_draft(deps, id, body["payment"], body["expected_total"], _editor())
    add_log_fields(orderid=placed.found.order["orderid"])
    return order_response(placed.found, 201)


@drafts.post("/orders/<string:orderid>/refunds/<string:number>/settlement")
@require_role("admin", "staff")
@drafts.arguments(schemas.RefundSettlement)
@drafts.response(201, answers.Order)
@drafts.alt_response(404, "NOT_FOUND")
@drafts.alt_response(409, "CONFLICT")
@audited("record refund", "orderid", "number")
def settle(body: dict[str, str], orderid: str, number: str) -> Response:
    """Staff have paid this refund back, of an order that they took the money for; done twice it is done once"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    wanted = int(number) if number.isdecimal() and len(number) < 9 else 0
    return order_response(refunds.record_refund(deps, found, wanted, body["reference"], actor()), 201)


def _editor() -> act.Editor:
    return act.Editor(actor(), "admin" in current_user().roles, client_address())


def _check_version(rev: str, stored: Any, sent: dict[str, Any]) -> None:
    """Raises DraftChanged unless If-Match, where it is sent, names the stored version."""
    wanted = request.headers.get("If-Match", "*").strip()
    if wanted != "*" and etag_of(rev) not in (tag.strip() for tag in wanted.split(",")):
        raise act.changed(stored, {**sent, "email": sent.get("email", "")})
