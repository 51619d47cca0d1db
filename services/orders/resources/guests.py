"""For admins: what is done for somebody who ordered without an account."""

from flask import Response

from services.orders.actions import privacy
from services.orders.resources.context import dependencies
from services.orders.schemas import answers
from services.orders.schemas import privacy as schemas
from shared.couch.deadline import time_limit
from shared.web import Blueprint, audited, json_answer, require_role

guests = Blueprint("guests", __name__, url_prefix="/v1/admin/guests", description="People without an account")


@guests.post("/erasure")
@require_role("admin")
@guests.arguments(schemas.GuestEmail)
@guests.response(200, answers.Anonymised)
@time_limit(30)
@audited("erase guest")
def erase(body: dict[str, str]) -> Response:
    """Erase who asked for it out of the orders that were made as a guest with this e-mail; may be repeated"""
    return json_answer({"orders": privacy.anonymise_guest(dependencies(), body["email"])})


@guests.post("/export")
@require_role("admin")
@guests.arguments(schemas.GuestEmail)
@guests.response(200, schemas.ExportedOrders)
@guests.alt_response(413, "REQUEST_ENTITY_TOO_LARGE")
@time_limit(30)
@audited("export guest")
def export(body: dict[str, str]) -> Response:
    """Every order that was made as a guest with this e-mail, for who asked for their data; after an erasure there is none"""
    headers = {"Content-Disposition": 'attachment; filename="guest.json"'}
    return json_answer(privacy.export_guest(dependencies(), body["email"]), headers=headers)
