"""Archives of closed years: what there is, and having the worker write, empty or bring one back."""

from typing import Any

from flask import Response

from services.orders.actions import archive_years as act
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, order_response
from services.orders.schemas import answers
from services.orders.schemas import archives as schemas
from shared.couch.deadline import time_limit
from shared.web import Blueprint, audited, json_answer, require_role
from shared.web.idempotency import OPTIONAL_KEY

archives = Blueprint("archives", __name__, url_prefix="/v1/admin", description="Archives of closed years")


@archives.get("/archives")
@require_role("admin", "staff")
@archives.response(200, schemas.Archives)
@time_limit(10)
def listed() -> Response:
    """Where archives lie, and each year that has ended: its orders, its archive, what was done last. One global and one partition query"""
    return json_answer(act.overview(dependencies()))


@archives.post("/archives/<string:year>")
@require_role("admin")
@archives.doc(parameters=[OPTIONAL_KEY])
@archives.arguments(schemas.ArchiveAct)
@archives.response(202, schemas.ArchivedYear)
@archives.alt_response(404, "NOT_FOUND")
@archives.alt_response(409, "CONFLICT")
@audited("archive orders", "year", "act")
def begin(body: dict[str, Any], year: str) -> Response:
    """Have the worker write the archive of a year, take its orders out of the database, or put them back"""
    deps = dependencies()
    return json_answer(act.begin(deps, year, body["act"], actor(), copied=body["copied"]), 202)


@archives.post("/orders/<string:orderid>/restoration")
@require_role("admin", "staff")
@archives.doc(parameters=[OPTIONAL_KEY])
@archives.response(201, answers.Order)
@archives.alt_response(404, "NOT_FOUND")
@archives.alt_response(409, "CONFLICT")
@time_limit(20)
@audited("restore orders", "orderid")
def restore(orderid: str) -> Response:
    """Bring one archived order back, so that it can be paid back, returned or printed; one that is there stays as it is"""
    return order_response(act.restore_order(dependencies(), orderid), 201)
