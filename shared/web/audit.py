"""The audit trail over HTTP: `audited` above a handler of staff, and what the users service asks each service for its part.

    @admin.post("/orders/<string:orderid>/refunds")
    @require_role("admin", "staff")
    @admin.arguments(requests.RefundRequest)
    @admin.response(201, answers.Order)
    @audited("refund order", "orderid", "amount")
    def refund(body, orderid): ...

It stands right above the handler, so that what is refused by its schema or its role leaves no entry. Texts that staff write
freely are no details: they may name a customer.
"""

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, cast

import marshmallow as ma
from flask import Response, current_app, request

from shared.audit import AUDIT_FIELDS, MAX_SUBJECTS, Act, AuditQuery, AuditTrail, from_milliseconds
from shared.errors import AisleError
from shared.web.answers import json_answer
from shared.web.api import Blueprint, Decorator, Handler, Shape, copy_documentation
from shared.web.auth import current_user, optional_user, require_service
from shared.web.declared import response_schema

log = logging.getLogger(__name__)

Values = Mapping[str, Any]
"""What a request says: its query, its JSON body and its path."""
Subject = str | Callable[[Values], str | list[str]]
"""The name of a value, or what finds the subject among them; a list for an act on several."""
Details = Callable[[Values], dict[str, Any]]
AUDIT_MOMENT = r"^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$"
_INTERNAL_LIMIT = 1000
_TIMES = ma.validate.Range(0, 2**42)
_MILLISECONDS = {"description": "milliseconds since 1970"}


def audited(
    action: str, subject: Subject = "", *names: str, details: Details | None = None, staff_only: bool = False
) -> Decorator:
    """Writes an entry before the handler runs, and another one if it fails. 1 write.

    `names`: the values that the entry keeps as details, beside what `details` finds. `staff_only`: customers send the same
    request for themselves, and leave no entry.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if staff_only and not _is_staff():
                return handler(*args, **kwargs)
            act = _act(action, subject, names, details, {**_sent(), **kwargs})
            trail = audit_trail()
            trail.write(act)
            try:
                return handler(*args, **kwargs)
            except Exception as error:
                _write_failure(trail, act, error)
                raise

        copy_documentation(recorded).setdefault("manual_doc", {})["x-audited"] = action
        return cast(Handler, recorded)

    return decorate


def audit_trail() -> AuditTrail:
    """What `create_service(audit=...)` was given."""
    trail: AuditTrail = current_app.extensions["aisle.audit"]
    return trail


def audit_blueprint() -> Blueprint:
    """GET /v1/internal/audit: this service's part of the trail."""
    internal = Blueprint("audit", __name__, url_prefix="/v1/internal", description="For the other services")

    @internal.get("/audit")
    @require_service
    @internal.arguments(AuditPartArgs, location="query")
    @internal.response(200, AuditPart)
    def part(args: dict[str, Any]) -> Response:
        """What staff did in this service, newest first: one partition query for each month, or for an actor or a subject one of any time"""
        query = AuditQuery(
            from_milliseconds(args["since"]), from_milliseconds(args["until"]), args["actor"], args["subject"]
        )
        items = audit_trail().entries(query, args["limit"], args["before"])
        return json_answer({"items": items, "next": None})

    return internal


class AuditPartArgs(Shape):
    since = ma.fields.Integer(data_key="from", required=True, validate=_TIMES, metadata=_MILLISECONDS)
    until = ma.fields.Integer(data_key="to", required=True, validate=_TIMES, metadata=_MILLISECONDS)
    actor = ma.fields.String(load_default="")
    subject = ma.fields.String(load_default="")
    limit = ma.fields.Integer(load_default=100, validate=ma.validate.Range(1, _INTERNAL_LIMIT))
    before = ma.fields.String(
        load_default=None,
        validate=ma.validate.Regexp(r"^[0-9A-Z]{26}$"),
        metadata={"description": "the `id` of the entry that those wanted are older than"},
    )


class AuditPart(Shape):
    items = ma.fields.List(
        ma.fields.Nested(
            response_schema("AuditPartEntry", AUDIT_FIELDS, {"id": ma.fields.String(required=True)})
        ),
        required=True,
    )
    next = ma.fields.String(allow_none=True, required=True)


def _is_staff() -> bool:
    user = optional_user()
    return user is not None and user.is_privileged


def _sent() -> dict[str, Any]:
    body = request.get_json(silent=True) if request.is_json else None
    return {**request.args.to_dict(), **(body if isinstance(body, dict) else {})}


def _act(
    action: str, subject: Subject, names: tuple[str, ...], details: Details | None, values: Values
) -> Act:
    found = {name: values[name] for name in names if values.get(name) is not None}
    if details is not None:
        found |= details(values)
    about = subject(values) if callable(subject) else str(values.get(subject, ""))
    if isinstance(about, str):
        return Act(current_user().userid, action, about[:200], found)
    several = tuple(dict.fromkeys(about))
    only = several[0] if len(several) == 1 else ""
    return Act(current_user().userid, action, only, found, () if only else several[:MAX_SUBJECTS])


def _write_failure(trail: AuditTrail, act: Act, error: Exception) -> None:
    """What cannot be written down now is logged: the act has its entry, and was not done."""
    try:
        trail.write_failure(act, str(getattr(error, "code", None) or "internal_error"))
    except AisleError as unwritten:
        log.warning("the failure of %s is not in the audit trail: %s", act.action, unwritten)
