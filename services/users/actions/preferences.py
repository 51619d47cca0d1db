"""A user's preferences: one document."""

from typing import Any

from services.users.actions.accounts import update_user
from services.users.dependencies import Dependencies
from services.users.documents import PREFERENCE_FIELDS, PREFERENCES, user_document
from shared.clock import timestamp
from shared.couch import UpdateConflict

_MAX_ATTEMPTS = 5


def get_preferences(deps: Dependencies, userid: str) -> dict[str, Any]:
    """All preferences, with the shop's defaults where none was chosen. 1 read."""
    doc = deps.store.of_user(userid, "preferences")
    return PREFERENCE_FIELDS.shown(doc["values"] if doc else {})


def change_preferences(deps: Dependencies, userid: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Changes those named and answers all."""
    docid = user_document(userid, "preferences")
    for _ in range(_MAX_ATTEMPTS):
        doc = deps.store.get(docid)
        values = (doc["values"] if doc else {}) | changes
        new = PREFERENCES.new(docid, userid=userid, values=values, updated=timestamp())
        if deps.store.try_put({**new, "_rev": doc["_rev"]} if doc else new):
            if "language" in changes:
                _set_language(deps, userid, changes["language"])
            return PREFERENCE_FIELDS.shown(values)
    raise UpdateConflict("The preferences change too quickly; try again.")


def _set_language(deps: Dependencies, userid: str, language: str) -> None:
    """What e-mails are in from now on: the account keeps it, which is read whenever one is written."""
    update_user(deps, userid, lambda user: {**user, "language": language, "updated": timestamp()})
