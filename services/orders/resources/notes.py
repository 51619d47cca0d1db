"""Staff: notes on orders."""

from typing import Any

from flask import Response

from services.orders.actions import notes as act
from services.orders.actions import reading
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor
from services.orders.schemas import notes as schemas
from shared.web import Blueprint, PageArgs, audited, json_answer, require_role, short_list_answer
from shared.web.idempotency import OPTIONAL_KEY, idempotent_id

notes = Blueprint("notes", __name__, url_prefix="/v1/admin/orders", description="Notes of staff on orders")


@notes.post("/<string:orderid>/notes")
@require_role("admin", "staff")
@notes.doc(parameters=[OPTIONAL_KEY])
@notes.arguments(schemas.NoteContent)
@notes.response(201, schemas.Note)
@notes.alt_response(404, "NOT_FOUND")
@audited("add note", "orderid")
def add(body: dict[str, str], orderid: str) -> Response:
    """Note something for the others who work here; the customer does not see it"""
    deps = dependencies()
    note = act.add_note(deps, reading.any_order(deps, orderid), body["text"], actor(), idempotent_id())
    return json_answer(act.note_answer(note), 201)


@notes.get("/<string:orderid>/notes")
@require_role("admin", "staff")
@notes.arguments(PageArgs, location="query")
@notes.response(200, schemas.Notes)
@notes.alt_response(400, "BAD_REQUEST")
@notes.alt_response(404, "NOT_FOUND")
def listed(args: dict[str, Any], orderid: str) -> Response:
    """What was noted on an order, the latest first: one partition query"""
    items = [
        act.note_answer(note) for note in reading.any_order(dependencies(), orderid, from_archive=True).notes
    ]
    return json_answer(short_list_answer(items, args, "id", ["notes", orderid]))
