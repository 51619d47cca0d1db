"""Registration, verification, password resets, and one's own account."""

from collections.abc import Mapping
from typing import Any

from flask import Response

from services.users.actions import accounts as act
from services.users.actions import registration, verification
from services.users.actions.profile import live_user, profile_of, revisions_shown, whole_profile
from services.users.declarations.accounts import Account
from services.users.documents import REGISTERED_FIELDS
from services.users.resources.context import dependencies, own_userid
from services.users.schemas import answers, requests
from shared.web import (
    Blueprint,
    audited,
    check_if_match,
    client_address,
    current_user,
    etag_of,
    idempotent,
    idempotent_id,
    json_answer,
    not_modified,
    nothing,
    require_user,
    sent_again,
)

accounts = Blueprint("accounts", __name__, description="Registration and profile")


def _changed_fields(sent: Mapping[str, Any]) -> dict[str, Any]:
    """What an audit entry says of a change of one's own account: no name, address or password."""
    return {"fields": sorted(sent.keys() - {"current_password"})}


@accounts.post("/v1/users")
@idempotent
@accounts.arguments(requests.Registration)
@accounts.response(201, answers.Registered)
@accounts.alt_response(409, "CONFLICT")
@accounts.alt_response(429, "TOO_MANY_REQUESTS")
def register(body: dict[str, str]) -> dict[str, Any]:
    """Register; an e-mail with a verification link goes out"""
    deps = dependencies()
    return shown(registration.register(deps, **body, address=client_address(), request=idempotent_id()))


@accounts.post("/v1/users/registrations")
@idempotent
@accounts.arguments(requests.RegistrationRequest)
@accounts.response(202)
@accounts.alt_response(429, "TOO_MANY_REQUESTS")
def request_registration(body: dict[str, str]) -> Response:
    """Register from a page: the answer never says whether there is such an account, an e-mail to the address does"""
    registration.request_registration(dependencies(), **body, address=client_address())
    return json_answer({}, 202)


@accounts.post("/v1/users/verify")
@accounts.arguments(requests.Verification)
@accounts.response(200, answers.Registered)
@accounts.alt_response(400, "BAD_REQUEST")
@accounts.alt_response(403, "FORBIDDEN")
@accounts.alt_response(429, "TOO_MANY_REQUESTS")
def verify(body: dict[str, str]) -> dict[str, Any]:
    """Verify an e-mail address with the token that was sent there

    The token alone activates the password of the registration that caused the e-mail: a program sends it for the person
    who registered in it. A public page sends `password` or `new_password` besides, since the owner of the
    address need not be who registered it.
    """
    token = body.pop("token")
    return shown(verification.verify(dependencies(), token, verification.Proof(**body)))


@accounts.post("/v1/users/verify/resend")
@accounts.arguments(requests.Resend)
@accounts.response(202)
def resend(body: dict[str, str]) -> Response:
    """Send the verification e-mail again (the answer never says whether there is such an account)"""
    registration.resend_verification(dependencies(), **body)
    return json_answer({}, 202)


@accounts.post("/v1/password-resets")
@accounts.arguments(requests.EmailAddress)
@accounts.response(202)
def request_password_reset(body: dict[str, str]) -> Response:
    """Ask for an e-mail to set a new password (the answer never says whether there is such an account)"""
    act.request_password_reset(dependencies(), body["email"])
    return json_answer({}, 202)


@accounts.post("/v1/password-resets/confirm")
@accounts.arguments(requests.NewPassword)
@accounts.response(204)
@accounts.alt_response(400, "BAD_REQUEST")
def confirm_reset(body: dict[str, str]) -> Response:
    """Set a new password with the token of the e-mail; ends every session"""
    act.reset_password(dependencies(), body["token"], body["password"])
    return nothing()


@accounts.get("/v1/users/me")
@require_user
@sent_again()
@accounts.response(200, answers.Me)
def me() -> Response:
    """Everything about oneself, in one partition query"""
    profile, docs = whole_profile(dependencies(), current_user().userid)
    etag = etag_of(*revisions_shown(docs))
    return not_modified(etag) or json_answer(profile, etag=etag)


@accounts.patch("/v1/users/me")
@require_user
@accounts.arguments(requests.MeChange)
@accounts.response(200, answers.Me)
@audited("change own account", own_userid, details=_changed_fields, staff_only=True)
def change_me(changes: dict[str, Any]) -> Response:
    """Change name, e-mail or password"""
    deps = dependencies()
    requester = current_user()
    docs = deps.store.documents_of_account(requester.userid)
    user = live_user(docs)
    only = check_if_match(etag_of(*revisions_shown(docs)))
    changed = act.change_account(deps, requester, changes, user, only=only)
    return json_answer(profile_of([changed if doc["_id"] == user["_id"] else doc for doc in docs]))


def shown(user: Account) -> dict[str, Any]:
    """An account as registration and verification answer it."""
    return REGISTERED_FIELDS.shown(user)
