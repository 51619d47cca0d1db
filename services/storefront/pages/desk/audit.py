"""What staff did, with filters, and as a file."""

from datetime import timedelta

from flask import Response, render_template, request

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules import audit as words
from services.storefront.rules import periods
from shared.errors import Invalid
from shared.types import Json


@desk.get("/audit")
def audit() -> str:
    access, users, problem = token(), services().users, ""
    found: Json = {"items": [], "next": None}
    people = users.staff(access)["items"]
    try:
        found = users.audit(access, **_filters(), cursor=request.args.get("cursor", ""))
    except Invalid as error:
        problem = forms.error_text(error)
    return render_template(
        "desk/audit.html",
        people=people,
        names={each["userid"]: each["name"] for each in people},
        entries=found["items"],
        next=found["next"],
        problem=problem,
        action_label=words.action_label,
        details=words.details,
        subjects=words.subjects,
    )


@desk.get("/audit.csv")
def audit_csv() -> Response:
    answer = services().users.audit_csv(token(), **_filters())
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


def _filters() -> dict[str, str]:
    """As the API takes them: its span ends before its end, people's includes it. Raises Invalid."""
    args = request.args
    last = args.get("to", "")
    return {
        "from_": args.get("from", ""),
        "to": (periods.day(last, "to") + timedelta(days=1)).isoformat() if last else "",
        "actor": args.get("actor", ""),
        "subject": args.get("subject", "").strip(),
    }
