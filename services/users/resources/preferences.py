"""Preferences of the user who asks."""

from typing import Any

from flask import Response

from services.users.actions import preferences as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import Blueprint, current_user, json_answer, require_user

preferences = Blueprint(
    "preferences", __name__, url_prefix="/v1/users/me/preferences", description="What a user prefers"
)


@preferences.get("")
@require_user
@preferences.response(200, answers.Preferences)
def get_preferences() -> Response:
    """Preferences"""
    return json_answer(act.get_preferences(dependencies(), current_user().userid))


@preferences.patch("")
@require_user
@preferences.arguments(requests.PreferencesChange)
@preferences.response(200, answers.Preferences)
def change_preferences(changes: dict[str, Any]) -> Response:
    """Change some preferences"""
    return json_answer(act.change_preferences(dependencies(), current_user().userid, changes))
