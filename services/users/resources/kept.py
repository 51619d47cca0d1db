"""The categories that the person who asks keeps on their devices."""

from typing import Any

from flask import Response

from services.users.actions import kept as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import (
    Blueprint,
    PageArgs,
    current_user,
    json_answer,
    nothing,
    require_user,
    short_list_answer,
)

kept = Blueprint(
    "kept", __name__, url_prefix="/v1/users/me/kept", description="Categories that a user's devices keep"
)


@kept.get("")
@require_user
@kept.arguments(PageArgs, location="query")
@kept.response(200, answers.KeptCategories)
@kept.alt_response(400, "BAD_REQUEST")
def show(args: dict[str, Any]) -> Response:
    """The categories that are kept, by name"""
    userid = current_user().userid
    items = act.kept(dependencies(), userid)
    return json_answer(short_list_answer(items, args, "id", ["kept", userid]))


@kept.put("")
@require_user
@kept.arguments(requests.KeptCategory)
@kept.response(200, answers.KeptCategory)
@kept.alt_response(409, "CONFLICT")
def keep(content: dict[str, Any]) -> Response:
    """Keep a category, or a whole subtree, for when there is no network"""
    return json_answer(act.keep(dependencies(), current_user().userid, content))


@kept.delete("/<string:key>")
@require_user
@kept.response(204)
def remove(key: str) -> Response:
    """Keep a category no longer"""
    act.stop_keeping(dependencies(), current_user().userid, key)
    return nothing()
