"""Staff: the e-mails of an order, as they went out and as they read."""

from typing import Any

from flask import Response

from services.orders.actions import gift_recipients, reading
from services.orders.actions import order_emails as act
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, order_response
from services.orders.schemas import answers
from services.orders.schemas import emails as schemas
from shared.web import Blueprint, PageArgs, audited, json_answer, require_role, short_list_answer
from shared.web.idempotency import OPTIONAL_KEY, idempotent_id

emails = Blueprint("emails", __name__, url_prefix="/v1/admin/orders", description="E-mails about orders")


@emails.get("/<string:orderid>/emails")
@require_role("admin", "staff")
@emails.arguments(PageArgs, location="query")
@emails.response(200, schemas.SentEmails)
@emails.alt_response(400, "BAD_REQUEST")
@emails.alt_response(404, "NOT_FOUND")
def listed(args: dict[str, Any], orderid: str) -> Response:
    """What went out about an order, the latest first: one partition query"""
    items = act.sent_emails(reading.any_order(dependencies(), orderid))
    return json_answer(short_list_answer(items, args, "date", ["emails", orderid]))


@emails.post("/<string:orderid>/emails")
@require_role("admin", "staff")
@emails.doc(parameters=[OPTIONAL_KEY])
@emails.arguments(schemas.EmailKind)
@emails.response(201, schemas.SentEmail)
@emails.alt_response(404, "NOT_FOUND")
@emails.alt_response(409, "CONFLICT")
@audited("send e-mail again", "orderid", "kind")
def send_again(body: dict[str, str], orderid: str) -> Response:
    """Send one again, with what the order holds now"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    sent = act.send_again(deps, found, body["kind"], actor(), idempotent_id())
    return json_answer(
        {"kind": sent["kind"], "date": sent["date"], "result": act.SENT, "by": sent["by"]}, 201
    )


@emails.put("/<string:orderid>/gift-recipient")
@require_role("admin", "staff")
@emails.doc(parameters=[OPTIONAL_KEY])
@emails.arguments(schemas.GiftRecipientCorrection)
@emails.response(200, answers.Order)
@emails.alt_response(404, "NOT_FOUND")
@emails.alt_response(409, "CONFLICT")
@audited("correct recipient of order", "orderid")
def correct_recipient(body: dict[str, str], orderid: str) -> Response:
    """Name who gets the order's gift cards; the codes, where they are out, are sent to that address, too"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    found = gift_recipients.correct(deps, found, body["email"], body["name"], actor(), idempotent_id())
    return order_response(found)


@emails.get("/<string:orderid>/emails/<string:kind>")
@require_role("admin", "staff")
@emails.arguments(schemas.PreviewArgs, location="query")
@emails.response(200, schemas.EmailPreview)
@emails.alt_response(404, "NOT_FOUND")
def preview(args: dict[str, str], orderid: str, kind: str) -> Response:
    """What an e-mail of this order reads like, in a language"""
    deps = dependencies()
    email = act.composed(deps, reading.any_order(deps, orderid), kind, args["language"])
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
