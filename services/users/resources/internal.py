"""What the other services ask; they show the service secret."""

from typing import Any

from flask import Response

from services.users.actions import basket as baskets
from services.users.actions import profile
from services.users.actions.revocations import StoredSessions
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.user import User
from shared.web import Blueprint, json_answer, nothing, require_service, sessions

internal = Blueprint("internal", __name__, url_prefix="/v1/internal", description="For the other services")


@internal.get("/users/<string:userid>/checkout")
@require_service
@internal.arguments(requests.CheckoutArgs, location="query")
@internal.response(200, answers.Checkout)
def checkout(args: dict[str, Any], userid: str) -> Response:
    """Who buys and where to: one partition query, and a read of an address that is named and not listed yet"""
    return json_answer(profile.checkout(dependencies(), userid, args["address_id"]))


@internal.post("/users/<string:userid>/basket/clear")
@require_service
@internal.arguments(requests.Bought)
@internal.response(204)
def clear_basket(body: dict[str, Any], userid: str) -> Response:
    """Take products bought at that moment out of the basket; may be repeated"""
    baskets.remove_bought(dependencies(), userid, body["productids"], body["date"], body["quantities"])
    return nothing()


@internal.get("/sessions/revocations")
@require_service
@internal.response(200, answers.RevocationList)
def revocations() -> Response:
    """Sessions that ended and roles that changed while access tokens made before may still be valid"""
    return json_answer(sessions().revocations().as_json())


@internal.get("/sessions/<string:session>")
@require_service
@internal.arguments(requests.SessionArgs, location="query")
@internal.response(200, answers.SessionState)
def session_state(args: dict[str, Any], session: str) -> Response:
    """Whether a session lives, and the roles of its account at this moment: 2 reads"""
    known = User(args["userid"], session="" if session == "-" else session, session_started=args["started"])
    roles = StoredSessions(dependencies()).roles_now(known)
    return json_answer({"live": roles is not None, "roles": list(roles or ())})
