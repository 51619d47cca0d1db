"""For admins: who is staff, and accounts."""

from collections.abc import Mapping
from typing import Any

from flask import Response

from services.users.actions import privacy
from services.users.actions import staff as act
from services.users.actions.profile import account_answer
from services.users.actions.reauthentication import require_password
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.couch.deadline import time_limit
from shared.user import User
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    current_user,
    json_answer,
    nothing,
    require_role,
    short_list_answer,
)

staff = Blueprint("admin", __name__, url_prefix="/v1/admin", description="Accounts and staff, for admins")


def _userid_of_email(sent: Mapping[str, Any]) -> str:
    """Raises NoSuchUser."""
    return str(act.find_user(dependencies(), sent["email"])["userid"])


def _roles_before_and_after(sent: Mapping[str, Any]) -> dict[str, Any]:
    userid = sent.get("userid") or _userid_of_email(sent)
    before = act.get_user(dependencies(), userid)["roles"]
    return {"before": before, "after": act.complete_roles(sent["roles"])}


def _group_before_and_after(sent: Mapping[str, Any]) -> dict[str, Any]:
    before = act.get_user(dependencies(), sent["userid"]).get("group", "")
    return {"before": before, "after": sent["group"]}


def _step_up(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the admin's own password was sent; a wrong one fails the act."""
    return {"step_up": "password"} if sent.get("password") else {}


@staff.get("/staff")
@require_role("admin")
@staff.arguments(PageArgs, location="query")
@staff.response(200, answers.Accounts)
def list_staff(args: dict[str, Any]) -> Response:
    """Everybody who is more than a customer"""
    return json_answer(short_list_answer(act.list_staff(dependencies()), args, "userid", ["staff"]))


@staff.post("/staff")
@require_role("admin")
@staff.arguments(requests.NewStaff)
@staff.response(200, answers.Account)
@audited("set roles", _userid_of_email, details=_roles_before_and_after)
def add_staff(body: dict[str, Any]) -> Response:
    """Give roles to the account with this e-mail"""
    user = act.find_user(dependencies(), body["email"])
    return json_answer(act.set_roles(dependencies(), user["userid"], body["roles"]))


@staff.put("/staff/<string:userid>")
@require_role("admin")
@staff.arguments(requests.Roles)
@staff.response(200, answers.Account)
@audited("set roles", "userid", details=_roles_before_and_after)
def set_roles(body: dict[str, Any], userid: str) -> Response:
    """Set the roles of an account; they count from its next token on"""
    return json_answer(act.set_roles(dependencies(), userid, body["roles"]))


@staff.put("/users/<string:userid>/group")
@require_role("admin")
@staff.arguments(requests.Group)
@staff.response(200, answers.Account)
@staff.alt_response(404, "NOT_FOUND")
@audited("set group", "userid", details=_group_before_and_after)
def set_group(body: dict[str, Any], userid: str) -> Response:
    """Set the customer group whose prices somebody pays; it counts from their next token on"""
    return json_answer(act.set_group(dependencies(), userid, body["group"]))


@staff.post("/users/lookup")
@require_role("admin", "staff")
@staff.arguments(requests.EmailAddress)
@staff.response(200, answers.Account)
def find_user(body: dict[str, str]) -> Response:
    """Find an account by e-mail (a POST, so that no e-mail gets into the log of a proxy)"""
    return json_answer(act.find_user(dependencies(), body["email"]))


@staff.get("/users/<string:userid>")
@require_role("admin", "staff")
@staff.response(200, answers.Account)
def get_user(userid: str) -> Response:
    """An account"""
    return json_answer(account_answer(act.get_user(dependencies(), userid)))


@staff.delete("/users/<string:userid>")
@require_role("admin")
@staff.arguments(requests.Reauthentication, required=False)
@staff.response(204)
@staff.alt_response(403, "FORBIDDEN")
@staff.alt_response(429, "TOO_MANY_REQUESTS")
@time_limit(30)
@audited("erase", "userid", details=_step_up)
def erase_user(body: dict[str, str], userid: str) -> Response:
    """Erase a person who asked for it; the admin's own `password` is checked when it is sent, and needed for one of the staff"""
    _check_own_password(userid, body.get("password"))
    privacy.erase(dependencies(), userid, allow_closed=True)
    return nothing()


@staff.put("/users/<string:userid>/closure")
@require_role("admin")
@staff.arguments(requests.Closure)
@staff.response(200, answers.Account)
@staff.alt_response(403, "FORBIDDEN")
@staff.alt_response(429, "TOO_MANY_REQUESTS")
@audited("close account", "userid", "reason", details=_step_up)
def close(body: dict[str, str], userid: str) -> Response:
    """Close an account: no login, all sessions end; for one of the staff the admin's own `password` is needed"""
    _require_own_password(userid, body.get("password"))
    return json_answer(act.close_account(dependencies(), userid))


@staff.delete("/users/<string:userid>/closure")
@require_role("admin")
@staff.response(200, answers.Account)
@audited("open account", "userid")
def reopen(userid: str) -> Response:
    """Open a closed account again"""
    return json_answer(act.open_account(dependencies(), userid))


def _check_own_password(userid: str, password: str | None) -> None:
    """Of whoever is logged in, when it is sent. Raises as `_require_own_password`."""
    if password:
        act.get_user(dependencies(), userid)
        require_password(dependencies(), current_user(), password)
    else:
        _require_own_password(userid, password)


def _require_own_password(userid: str, password: str | None) -> None:
    """Staff are not removed with a borrowed session. Raises PasswordRequired, WrongPassword, NoSuchUser."""
    deps = dependencies()
    subject = act.get_user(deps, userid)
    if User(userid, tuple(subject["roles"])).is_privileged:
        require_password(deps, current_user(), password)
