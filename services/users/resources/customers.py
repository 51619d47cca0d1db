"""For staff: customers, what is noted on them, the e-mails that they got, and all there is of one who asks for it."""

from typing import Any

from flask import Response

from services.users.actions import account_emails, privacy
from services.users.actions import customers as act
from services.users.resources.context import actor, dependencies
from services.users.schemas import answers
from services.users.schemas import customers as schemas
from shared.couch.deadline import time_limit
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    json_answer,
    list_answer,
    require_role,
    short_list_answer,
    unsign,
)
from shared.web.idempotency import OPTIONAL_KEY, idempotent_id

customers = Blueprint(
    "customers", __name__, url_prefix="/v1/admin/customers", description="Customers, for staff and admins"
)


@customers.get("")
@require_role("admin", "staff")
@customers.arguments(schemas.CustomersArgs, location="query")
@customers.response(200, schemas.Customers)
@customers.alt_response(400, "BAD_REQUEST")
def list_customers(args: dict[str, Any]) -> Response:
    """Accounts that are not erased, newest first, by what they are found by and by group: one global query, and a full page while there is one"""
    bound = ["customers", args["q"], args["group"]]
    page = act.list_customers(
        dependencies(), args["q"], args["group"], args["limit"], unsign(args["cursor"], bound)
    )
    return json_answer(list_answer(page.items, page.next, bound))


@customers.get("/<string:userid>")
@require_role("admin", "staff")
@customers.response(200, schemas.Customer)
@customers.alt_response(404, "NOT_FOUND")
def customer(userid: str) -> Response:
    """A customer with addresses, preferences and notes: one partition query. Of an erased one nothing is left but that"""
    return json_answer(act.customer(dependencies(), userid))


@customers.get("/<string:userid>/notes")
@require_role("admin", "staff")
@customers.arguments(PageArgs, location="query")
@customers.response(200, schemas.Notes)
@customers.alt_response(400, "BAD_REQUEST")
@customers.alt_response(404, "NOT_FOUND")
def list_notes(args: dict[str, Any], userid: str) -> Response:
    """What was noted on a customer, the latest first: one partition query"""
    items = act.notes_of(dependencies(), userid)
    return json_answer(short_list_answer(items, args, "id", ["customer notes", userid]))


@customers.post("/<string:userid>/notes")
@require_role("admin", "staff")
@customers.doc(parameters=[OPTIONAL_KEY])
@customers.arguments(schemas.NoteContent)
@customers.response(201, schemas.Note)
@customers.alt_response(404, "NOT_FOUND")
@audited("add customer note", "userid")
def add_note(body: dict[str, str], userid: str) -> Response:
    """Note something for the others who work here; it is in the export of the customer's data, and goes with them"""
    return json_answer(act.add_note(dependencies(), userid, body["text"], actor(), idempotent_id()), 201)


@customers.get("/<string:userid>/emails")
@require_role("admin", "staff")
@customers.arguments(PageArgs, location="query")
@customers.response(200, schemas.SentEmails)
@customers.alt_response(400, "BAD_REQUEST")
@customers.alt_response(404, "NOT_FOUND")
def list_emails(args: dict[str, Any], userid: str) -> Response:
    """Which e-mails about the account went out within a year, the latest first: one partition query. Those of orders are with the orders"""
    items = account_emails.emails_of(dependencies(), userid)
    return json_answer(short_list_answer(items, args, "id", ["customer emails", userid]))


@customers.post("/<string:userid>/emails")
@require_role("admin", "staff")
@customers.doc(parameters=[OPTIONAL_KEY])
@customers.arguments(schemas.EmailKind)
@customers.response(201, schemas.SentEmail)
@customers.alt_response(404, "NOT_FOUND")
@customers.alt_response(409, "CONFLICT")
@customers.alt_response(429, "TOO_MANY_REQUESTS")
@audited("send account e-mail", "userid", "kind")
def send_email_again(body: dict[str, str], userid: str) -> Response:
    """Send a verification, a new password's or a new address's e-mail again, with a new link; within the limit of the address"""
    sent = account_emails.send_again(dependencies(), userid, body["kind"], actor(), idempotent_id())
    return json_answer(sent, 201)


@customers.get("/<string:userid>/emails/<string:kind>")
@require_role("admin", "staff")
@customers.arguments(schemas.PreviewArgs, location="query")
@customers.response(200, schemas.EmailPreview)
@customers.alt_response(404, "NOT_FOUND")
def preview_email(args: dict[str, str], userid: str, kind: str) -> Response:
    """What an e-mail reads like to this customer, in a language; its link opens nothing"""
    deps = dependencies()
    email = account_emails.preview(deps, userid, kind, args["language"])
    return json_answer(
        {
            "to": email.to,
            "subject": email.subject,
            "text": email.plain,
            "html": email.html,
            "language": email.language,
            "languages": list(deps.languages),
        }
    )


@customers.post("/<string:userid>/export")
@require_role("admin")
@customers.response(200, answers.Export)
@customers.alt_response(404, "NOT_FOUND")
@time_limit(30)
@audited("export customer", "userid")
def export(userid: str) -> Response:
    """Everything the shop holds of a customer who asked for it, closed accounts too"""
    headers = {"Content-Disposition": 'attachment; filename="customer.json"'}
    return json_answer(privacy.export(dependencies(), userid, allow_closed=True), headers=headers)
