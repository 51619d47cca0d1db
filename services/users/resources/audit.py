"""For admins: what staff did, in all services."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import orjson
from flask import Response, request

from services.users.actions import audit as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.audit import AuditQuery, parse_span
from shared.couch.deadline import time_limit
from shared.csv_cells import escape_formula
from shared.web import Blueprint, json_answer, list_answer, require_role, text_content, unsign

audit = Blueprint("audit trail", __name__, url_prefix="/v1/admin/audit", description="What staff did")

JSON, CSV = "application/json", "text/csv"
_CSV = {200: {"content": text_content(CSV)}}
_COLUMNS = ("date", "service", "actor", "action", "subject", "details", "request")


@audit.get("")
@require_role("admin")
@audit.arguments(requests.AuditArgs, location="query")
@audit.doc(responses=_CSV)
@audit.response(200, answers.AuditTrail)
@audit.alt_response(400, "BAD_REQUEST")
@audit.alt_response(413, "REQUEST_ENTITY_TOO_LARGE")
@time_limit(30)
def trail(args: dict[str, Any]) -> Response:
    """What staff did, newest first: this month's unless `from`, `to` or `month` say otherwise; with an `actor` (a userid) or a `subject` of any
    time. As CSV all of it. Each service answers from one partition query a month, or for an actor or a subject one of any time"""
    query, bound = _query(args)
    if request.accept_mimetypes.best_match([JSON, CSV], JSON) == CSV:
        rows = _rows(act.whole_trail(dependencies(), query, args["service"]))
        headers = {"Content-Disposition": "attachment; filename=audit.csv"}
        return Response(rows, mimetype=CSV, headers=headers)
    entries, following = act.audit_trail(
        dependencies(), query, args["service"], args["limit"], unsign(args["cursor"], bound)
    )
    return json_answer(list_answer(entries, following, bound))


def _query(args: dict[str, Any]) -> tuple[AuditQuery, list[Any]]:
    """What is asked for, and what a cursor of it is bound to. Raises Invalid."""
    bound = ["audit", *(args[name] for name in ("month", "start", "end", "actor", "subject", "service"))]
    selective = bool(args["actor"] or args["subject"])
    since, until = parse_span(args["start"], args["end"], args["month"], any_time=selective)
    return AuditQuery(since, until, args["actor"], args["subject"]), bound


def _rows(entries: list[dict[str, Any]]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_COLUMNS)
    for entry in entries:
        subject = entry["subject"] or " ".join(entry.get("subjects", ()))
        details = orjson.dumps(entry["details"]).decode() if entry["details"] else ""
        row = {**entry, "subject": subject, "details": details}
        writer.writerow([escape_formula(str(row.get(name, ""))) for name in _COLUMNS])
    yield buffer.getvalue()
