"""Staff: notes on products."""

from typing import Any

from flask import Response

from services.products.actions import notes as act
from services.products.resources.context import dependencies
from services.products.schemas import notes as schemas
from shared.clock import timestamp
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    current_user,
    idempotent_id,
    json_answer,
    require_role,
    short_list_answer,
)
from shared.web.idempotency import OPTIONAL_KEY

notes = Blueprint(
    "notes", __name__, url_prefix="/v1/admin/products", description="Notes of staff on products"
)


@notes.post("/<productid>/notes")
@require_role("admin", "staff")
@notes.doc(parameters=[OPTIONAL_KEY])
@notes.arguments(schemas.NoteContent)
@notes.response(201, schemas.Note)
@notes.alt_response(404, "NOT_FOUND")
@audited("add product note", "productid")
def add(body: dict[str, str], productid: str) -> Response:
    """Note something on a product for the others who work here; it stays with the product when that moves to another category"""
    actor = f"user {current_user().userid}"
    note = act.add_note(dependencies(), productid, body["text"], actor, timestamp(), idempotent_id())
    return json_answer(note, 201)


@notes.get("/<productid>/notes")
@require_role("admin", "staff")
@notes.arguments(PageArgs, location="query")
@notes.response(200, schemas.Notes)
@notes.alt_response(400, "BAD_REQUEST")
@notes.alt_response(404, "NOT_FOUND")
def listed(args: dict[str, Any], productid: str) -> Response:
    """What was noted on a product, the latest first: one global query finds it, one partition query reads them"""
    items = act.notes_of(dependencies(), productid, timestamp())
    return json_answer(short_list_answer(items, args, "id", ["product notes", productid]))
