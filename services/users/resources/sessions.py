"""Log in, refresh, log out, and the public keys that tokens verify with."""

from typing import Any

from flask import Response

from services.users.actions import sessions as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import (
    Blueprint,
    client_address,
    current_user,
    is_service_call,
    json_answer,
    nothing,
    require_user,
)

sessions = Blueprint("sessions", __name__, description="Logging in and out")


@sessions.post("/v1/sessions")
@sessions.arguments(requests.Login)
@sessions.response(200, answers.SessionTokens)
@sessions.alt_response(401, "UNAUTHORIZED")
@sessions.alt_response(429, "TOO_MANY_REQUESTS")
def log_in(body: dict[str, str]) -> Response:
    """Log in; unknown e-mail, wrong password and unverified account answer alike"""
    return _tokens(act.log_in(dependencies(), **body, address=client_address()))


@sessions.post("/v1/sessions/refresh")
@sessions.arguments(requests.RefreshToken)
@sessions.response(200, answers.SessionTokens)
@sessions.alt_response(401, "UNAUTHORIZED")
@sessions.alt_response(410, "GONE")
def refresh(body: dict[str, str]) -> Response:
    """Exchange a refresh token for the next; using one twice ends the session"""
    return _tokens(act.refresh(dependencies(), body["refresh_token"], by_service=is_service_call()))


@sessions.delete("/v1/sessions")
@require_user
@sessions.arguments(requests.LogoutArgs, location="query")
@sessions.response(204)
def log_out(args: dict[str, bool]) -> Response:
    """Log out: this session, or all with `everywhere`"""
    user = current_user()
    if args["everywhere"]:
        act.end_all_sessions(dependencies(), user.userid)
    else:
        act.end_session(dependencies(), user.userid, user.session, "logged out")
    return nothing()


@sessions.get("/.well-known/jwks.json")
@sessions.response(200, description="RFC 7517")
def jwks() -> Response:
    """The keys that access tokens verify with"""
    deps = dependencies()
    return json_answer(deps.keys.jwks(), headers={"Cache-Control": "public, max-age=300"})


def _tokens(tokens: dict[str, Any]) -> Response:
    return json_answer(tokens, headers={"Cache-Control": "no-store"})
