"""Everything the shop holds of a person, as one JSON; and its erasure.

An erased account stays as a marker without anything personal, so that its orders (kept by law, made anonymous by the
orders service) have an owner. Documents are overwritten before they are deleted. Each step may be repeated: an
erasure that a crash or an absent service interrupts is finished by the worker.
"""

import logging
from typing import Any

from services.users.actions import recently_viewed
from services.users.actions.accounts import end_of_sessions, update_user
from services.users.actions.profile import live_user, present_user, profile_of
from services.users.actions.staff import keep_one_admin
from services.users.declarations.accounts import Account
from services.users.dependencies import Dependencies, JobDependencies
from services.users.documents import blanked, claim_id, digest_of_claim, email_digest
from shared.clock import timestamp
from shared.errors import AisleError, Conflict

log = logging.getLogger(__name__)

_SECRETS = ("password", "registration", "_rev")
_MAX_ROUNDS = 5


def export(deps: Dependencies, userid: str, *, allow_closed: bool = False) -> dict[str, Any]:
    """All there is of a person, notes of staff too. Raises Unavailable while orders or products is away: an export is whole or not at all."""
    docs = deps.store.documents_of_account(userid)
    user = present_user(docs) if allow_closed else live_user(docs)
    docs += deps.store.stock_alerts_of(email_digest(user["email"]))
    return {
        "exported": timestamp(),
        "profile": profile_of(docs, user),
        "recently_viewed": recently_viewed.viewed_products(deps, userid),
        **deps.orders.of_user(userid),
        "reviews": deps.products.reviews_of(userid),
        "documents": [{key: value for key, value in doc.items() if key not in _SECRETS} for doc in docs],
    }


def erase(deps: Dependencies, userid: str, *, allow_closed: bool = False) -> None:
    """Closes the account for good and removes the person. What cannot be reached now is finished by the worker.

    Raises LastAdmin for the last admin.
    """
    with keep_one_admin(deps, deps.store.user(userid)):
        update_user(deps, userid, _marked_as_erased, allow_closed=allow_closed)
    try:
        finish_erasure(deps, userid)
    except AisleError as error:
        log.warning("an erasure is to be finished by the worker: %s", error)


def finish_erasure(deps: JobDependencies, userid: str) -> None:
    """The steps after the mark, in any state they were left. Raises Unavailable when orders is away."""
    _remove_documents(deps, userid)
    recently_viewed.clear(deps, userid)
    user = deps.store.user(userid)
    if user is None:
        return
    for claim in user.get("erasure_claims", []):
        _release(deps, claim, userid)
        _remove_stock_alerts(deps, claim)
    deps.orders.anonymise(userid, user.get("erasure_email", ""))
    deps.products.forget(userid, user.get("erasure_name", ""))
    if user["erasure"] != "done":
        done: Account = {**user, "erasure": "done", "erasure_claims": [], "updated": timestamp()}
        done.pop("erasure_email", None)
        done.pop("erasure_name", None)
        deps.store.put(done)
    deps.store.compact()


def finish_erasures(deps: JobDependencies) -> int:
    """For the worker: how many erasures were finished."""
    finished = 0
    for user in deps.store.unfinished_erasures():
        try:
            finish_erasure(deps, user["userid"])
            finished += 1
        except AisleError as error:
            log.warning("an erasure waits: %s", error)
    return finished


def _marked_as_erased(user: Account) -> Account:
    emails = [user["email"], user.get("pending_email")]
    return {
        **user,
        "name": "",
        "email": "",
        "password": "",
        "pending_email": None,
        "roles": [],
        "active": False,
        "email_verified": False,
        "sessions_from": end_of_sessions(),
        "erasure": "started",
        "erasure_claims": [claim_id(email) for email in emails if email],
        "erasure_email": user["email"] if user["email_verified"] else "",
        "erasure_name": user["name"],
    }


def _remove_documents(deps: JobDependencies, userid: str) -> None:
    for _ in range(_MAX_ROUNDS):
        docs = [doc for doc in deps.store.documents_of(userid) if doc["type"] != "user"]
        if not docs:
            return
        written = deps.store.put_many(blanked(doc) for doc in docs)
        deps.store.put_many({"_id": row.id, "_rev": row.rev, "_deleted": True} for row in written if row.rev)
    raise Conflict("The account's documents keep changing; its erasure is tried again later.")


def _remove_stock_alerts(deps: JobDependencies, claim: str) -> None:
    """Of the address that this claim was for."""
    alerts = deps.store.stock_alerts_of(digest_of_claim(claim))
    if alerts:
        written = deps.store.put_many(blanked(doc) for doc in alerts)
        deps.store.put_many({"_id": row.id, "_rev": row.rev, "_deleted": True} for row in written if row.rev)


def _release(deps: JobDependencies, claim: str, userid: str) -> None:
    doc = deps.store.get(claim)
    if doc is not None and doc["userid"] == userid:
        deps.store.delete(doc)
