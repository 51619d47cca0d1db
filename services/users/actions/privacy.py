"""Everything the shop holds of a person, as one JSON; and its erasure.

An erased account stays as a marker without anything personal, so that its orders (kept by law, made anonymous by the
orders service) have an owner. Documents are overwritten before they are deleted. Each step may be repeated: an
erasure that a crash or an absent service interrupts is finished by the worker.
"""

import logging
from typing import Any

from services.users.actions.accounts import sessions_end, update_user
from services.users.actions.extras import forget_viewed, viewed
from services.users.actions.profile import live_user, profile_of
from services.users.actions.staff import an_admin_stays
from services.users.actions.tools import JobTools, Tools
from services.users.documents import blanked, claim_id
from shared.clock import timestamp
from shared.couch import Doc
from shared.errors import AisleError, Conflict

log = logging.getLogger(__name__)

_SECRETS = ("password", "registration", "_rev")
_ROUNDS = 5


def export(tools: Tools, userid: str) -> dict[str, Any]:
    """All there is of a person. Raises Unavailable while orders or products is away: an export is whole or not at all."""
    docs = tools.store.everything_of(userid)
    live_user(docs)
    return {
        "exported": timestamp(),
        "profile": profile_of(docs),
        "recently_viewed": viewed(tools, userid),
        "orders": tools.orders.of_user(userid),
        "reviews": tools.products.reviews_of(userid),
        "documents": [{key: value for key, value in doc.items() if key not in _SECRETS} for doc in docs],
    }


def erase(tools: Tools, userid: str, *, closed_too: bool = False) -> None:
    """Closes the account for good and removes the person. What cannot be reached now is finished by the worker.

    Raises KeepsOneAdmin for the last admin.
    """
    with an_admin_stays(tools, tools.store.user(userid)):
        update_user(tools, userid, _marked, closed_too=closed_too)
    try:
        finish_erasure(tools, userid)
    except AisleError as error:
        log.warning("an erasure is to be finished by the worker: %s", error)


def finish_erasure(tools: JobTools, userid: str) -> None:
    """The steps after the mark, in any state they were left. Raises Unavailable when orders is away."""
    _remove_documents(tools, userid)
    forget_viewed(tools, userid)
    user = tools.store.user(userid)
    if user is None:
        return
    for claim in user.get("erasure_claims", []):
        _release(tools, claim, userid)
    tools.orders.anonymise(userid)
    if user["erasure"] != "done":
        tools.store.put({**user, "erasure": "done", "erasure_claims": [], "updated": timestamp()})


def finish_erasures(tools: JobTools) -> int:
    """For the worker: how many erasures were finished."""
    finished = 0
    for user in tools.store.unfinished_erasures():
        try:
            finish_erasure(tools, user["userid"])
            finished += 1
        except AisleError as error:
            log.warning("an erasure waits: %s", error)
    return finished


def _marked(user: Doc) -> Doc:
    emails = [user["email"], user.get("pending_email")]
    blank: Doc = {"name": "", "email": "", "password": "", "pending_email": None, "roles": []}
    return {
        **user,
        **blank,
        "active": False,
        "email_verified": False,
        "sessions_from": sessions_end(),
        "erasure": "started",
        "erasure_claims": [claim_id(email) for email in emails if email],
    }


def _remove_documents(tools: JobTools, userid: str) -> None:
    for _ in range(_ROUNDS):
        docs = [doc for doc in tools.store.everything_of(userid) if doc["type"] != "user"]
        if not docs:
            return
        written = tools.store.put_many(blanked(doc) for doc in docs)
        tools.store.put_many({"_id": row.id, "_rev": row.rev, "_deleted": True} for row in written if row.rev)
    raise Conflict("The account's documents keep changing; its erasure is tried again later.")


def _release(tools: JobTools, claim: str, userid: str) -> None:
    doc = tools.store.get(claim)
    if doc is not None and doc["userid"] == userid:
        tools.store.delete(doc)
