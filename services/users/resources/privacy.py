"""Export and erasure of one's own account."""

from flask import Response

from services.users.actions import privacy as act
from services.users.actions.reauthentication import check_current_password, require_password
from services.users.resources.context import dependencies, own_userid
from services.users.schemas import answers, requests
from shared.couch.deadline import time_limit
from shared.web import Blueprint, audited, current_user, json_answer, nothing, require_user

privacy = Blueprint(
    "privacy", __name__, url_prefix="/v1/users/me", description="Export and erasure of one's own account"
)


@privacy.get("/export")
@require_user
@privacy.response(200, answers.Export)
@time_limit(30)
@audited("export", own_userid, staff_only=True)
def export() -> Response:
    """Everything the shop holds of oneself"""
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return json_answer(act.export(dependencies(), current_user().userid), headers=headers)


@privacy.delete("")
@require_user
@privacy.arguments(requests.Erasure, required=False)
@privacy.response(204)
@privacy.alt_response(403, "FORBIDDEN")
@privacy.alt_response(409, "CONFLICT")
@privacy.alt_response(429, "TOO_MANY_REQUESTS")
@time_limit(30)
@audited("erase", own_userid, staff_only=True)
def erase(body: dict[str, str]) -> Response:
    """Erase oneself; orders stay without a name, the e-mail is free again. Staff and admins send their password"""
    deps, user = dependencies(), current_user()
    if user.is_privileged:
        require_password(deps, user, body.get("current_password"))
    elif "current_password" in body:
        check_current_password(deps, user, body["current_password"])
    act.erase(deps, user.userid)
    return nothing()
