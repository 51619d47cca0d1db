"""Finds documents that two replicas changed apart and settles them by the rules of `merging`, without an operator."""

import logging

from services.users.actions.accounts import end_of_sessions, update_user
from services.users.actions.privacy import finish_erasure
from services.users.dependencies import JobDependencies
from services.users.documents import SEEN, auth_id, claim_id
from services.users.rules.merging import merged, merged_claims
from shared.clock import timestamp
from shared.couch import Change, Doc, split_id
from shared.errors import Unauthorized

log = logging.getLogger(__name__)

_CHECKPOINT = "users-conflicts"
_BATCH = 200


def settle_conflicts(deps: JobDependencies, limit: int = 10_000) -> int:
    """Follows the changes feed from its checkpoint and settles what it finds; how many documents it settled."""
    settled, seen = 0, 0
    kept = deps.store.database.get_local(_CHECKPOINT) or {"since": "0"}
    while seen < limit:
        changes = deps.store.changes(kept["since"], _BATCH)
        settled += sum(settle(deps, row.doc) for row in changes.rows if row.doc and row.doc.get("_conflicts"))
        _erase_resurrected(deps, changes.rows)
        seen += len(changes.rows)
        if changes.last_seq != kept["since"]:
            kept = {**kept, "since": changes.last_seq}
            kept["_rev"] = deps.store.database.put_local(_CHECKPOINT, kept)
        if len(changes.rows) < _BATCH:
            break
    return settled


def settle(deps: JobDependencies, winner: Doc) -> bool:
    """Writes the merged document over the winning revision and removes the others. Whether it was settled now."""
    docid = winner["_id"]
    losers = [deps.store.database.get(docid, rev=rev) for rev in winner["_conflicts"]]
    versions = [winner, *losers]
    displaced: list[str] = []
    if winner["type"] == "claim":
        result, displaced = merged_claims(versions, _owners(deps, versions))
    else:
        result = merged(versions)
    if winner["type"] in ("user", "session"):
        result = {**result, "access_changed": timestamp()}
    result = {**result, "_rev": winner["_rev"]}
    gone = [{"_id": docid, "_rev": doc["_rev"], "_deleted": True} for doc in losers]
    written = deps.store.put_many([result, *gone])
    if any(row.error for row in written):
        log.info("a conflict changed while it was settled; the feed brings it again")
        return False
    for userid in displaced:
        _take_email_away(deps, userid)
    return True


def _owners(deps: JobDependencies, claims: list[Doc]) -> set[str]:
    """Who of those that claim an e-mail has an account with it."""
    users = deps.store.get_many([auth_id(userid) for userid in {doc["userid"] for doc in claims}])
    owning = [
        user for user in users.values() if user["email"] and claim_id(user["email"]) == claims[0]["_id"]
    ]
    return {user["userid"] for user in owning}


def _take_email_away(deps: JobDependencies, userid: str) -> None:
    """The account that lost its e-mail to an earlier claim: closed for login till staff gives it another address."""
    try:
        change = {"email_verified": False, "email_changed": timestamp(), "sessions_from": end_of_sessions()}
        update_user(deps, userid, lambda user: {**user, **change})
    except Unauthorized:
        log.info("the account that lost its claim is closed already")


def _erase_resurrected(deps: JobDependencies, rows: list[Change]) -> None:
    """A replica that had not heard of an erasure brings documents back; they go again."""
    partitions = {split_id(row.id)[0] for row in rows if not row.deleted and not row.id.endswith(":auth")}
    userids = list(
        dict.fromkeys(
            name.removeprefix(kind)
            for kind in ("user", SEEN)
            for name in sorted(partitions)
            if name.startswith(kind)
        )
    )
    users = deps.store.get_many([auth_id(userid) for userid in userids])
    for user in users.values():
        if user.get("erasure") == "done":
            finish_erasure(deps, user["userid"])
