"""A customer's own data as a database that PouchDB syncs with: what is there, what changed, and how far a device is.

Each request reads the customer's partition once, and writes only when it has something to tell that was not told before.
"""

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from services.users.actions.sessions import check_not_erased, check_session
from services.users.actions.sync_documents import ACCOUNT, ORDER_PREFIX, ORDER_TYPE, PROFILE, shown_documents
from services.users.declarations.sync import STATE_KEY, SYNC_STATE, Branch, Entry, SyncState
from services.users.dependencies import Dependencies
from services.users.documents import SESSION, USER, is_blank, user_document
from services.users.rules.errors import BadRefreshToken
from services.users.rules.sync_revisions import (
    Told,
    holds,
    knows,
    observed,
    parsed,
    revision,
)
from shared.clock import timestamp
from shared.couch import Doc, UpdateConflict, split_id
from shared.errors import Unavailable
from shared.replication import database_information, digest_of
from shared.sessions import SessionEnded
from shared.user import User

log = logging.getLogger(__name__)

MAX_ATTEMPTS: Final = 5
SHOWN_ORDERS: Final = 50
_ORDERS_DEADLINE: Final = 1.5

Orders = Callable[[], list[Doc]]
"""The customer's newest orders, as the orders service answers them to the customer. Raises Unavailable."""


@dataclass(frozen=True)
class Snapshot:
    """A customer's documents by key, what devices see of them by id, and what is told of that, which `stored` may not hold yet."""

    userid: str
    documents: dict[str, Doc]
    shown: dict[str, Doc]
    told: Told
    stored: SyncState | None
    unseen: tuple[str, ...]
    """What the ids of documents begin with that could not be looked at."""

    @property
    def is_stored(self) -> bool:
        return self.stored is not None and self.stored["sequence"] == self.told.sequence

    def with_told(self, told: Told) -> "Snapshot":
        return replace(self, told=told)


def own_orders(deps: Dependencies, token: str) -> Orders:
    """Asks the orders service as the customer whose access token this is: 1 global query there."""
    return lambda: deps.orders.of_customer(token, SHOWN_ORDERS, _ORDERS_DEADLINE)


def read(deps: Dependencies, user: User, orders: Orders | None = None) -> Snapshot:
    """What there is and what is told of it. 1 partition query, and what `orders` asks; without those, or while they cannot be had, they stay as told.
    On a cluster 1 read more where there is something new to tell.

    Whose session it is stands there too, so one that has ended reads nothing more at once. Raises SessionEnded, AccountErased, and Unavailable
    while the node that lists the documents is behind.
    """
    for _ in range(MAX_ATTEMPTS):
        snapshot, before = _listed(deps, user, orders)
        if snapshot.told is before or _is_up_to_date(deps, snapshot, before):
            return snapshot
    raise _behind()


def _listed(deps: Dependencies, user: User, orders: Orders | None) -> tuple[Snapshot, Told]:
    """What the partition's list shows, and what was told before."""
    userid = user.userid
    docs = deps.store.documents_of(userid)
    _check_asker(deps, docs, user)
    stored = SYNC_STATE.typed(next((doc for doc in docs if doc["type"] == SYNC_STATE.name), None))
    if stored is not None and is_blank(stored):
        stored = None
    before = _told(stored)
    shown = shown_documents(docs)
    unseen: tuple[str, ...] = (ORDER_PREFIX,)
    if orders is not None:
        try:
            shown |= {
                f"{ORDER_PREFIX}{order['orderid']}": {"type": ORDER_TYPE, **order} for order in orders()
            }
            unseen = ()
        except Unavailable as error:
            log.info("orders stay as devices know them: %s", error)
    documents = {split_id(doc["_id"])[1]: doc for doc in docs}
    told = observed(before, digests(shown), unseen)
    return Snapshot(userid, documents, shown, told, stored, unseen), before


def _is_up_to_date(deps: Dependencies, snapshot: Snapshot, before: Told) -> bool:
    """Whether what is new in the list is so on most nodes. A list is one node's copy: one that is behind would have devices delete what
    was written last, or put back what was there before."""
    if deps.store.database.has_one_copy:
        return True
    new = [docid for docid, entry in snapshot.told.entries.items() if entry is not before.entries.get(docid)]
    keys = [ACCOUNT if docid == PROFILE else docid for docid in new if not docid.startswith(ORDER_PREFIX)]
    listed = {key: doc["_rev"] for key in keys if (doc := snapshot.documents.get(key)) and not is_blank(doc)}
    found = deps.store.get_many([user_document(snapshot.userid, key) for key in keys])
    return listed == {split_id(docid)[1]: doc["_rev"] for docid, doc in found.items()}


def check_told(deps: Dependencies, snapshot: Snapshot) -> None:
    """Before a revision is called missing: what most nodes say was told. 1 read on a cluster. Raises Unavailable while the node that lists the
    documents is behind; a device would never ask for that revision again."""
    if not deps.store.database.has_one_copy:
        stored = SYNC_STATE.typed(deps.store.of_user(snapshot.userid, STATE_KEY))
        if stored is not None and stored["sequence"] > snapshot.told.sequence:
            raise _behind()


def _behind() -> Unavailable:
    return Unavailable("This node of the database is behind; try again.", retry_after=1)


def read_told(deps: Dependencies, user: User, orders: Orders | None = None) -> Snapshot:
    """`read`, and what is told is stored, so that it is the same for everybody who asks later. 1 write when there was something new."""
    for _ in range(MAX_ATTEMPTS):
        snapshot = read(deps, user, orders)
        if snapshot.is_stored or store(deps, snapshot):
            return snapshot
    raise UpdateConflict("The data changes too quickly; try again.")


def store(deps: Dependencies, snapshot: Snapshot) -> bool:
    """Whether what is told could be stored: nobody else has told something meanwhile, at another node of a cluster either."""
    told = snapshot.told
    doc = SYNC_STATE.build(
        user_document(snapshot.userid, STATE_KEY),
        userid=snapshot.userid,
        epoch=told.epoch,
        sequence=told.sequence,
        entries=dict(told.entries),
        updated=timestamp(),
    )
    if snapshot.stored:
        doc = {**doc, "_rev": snapshot.stored["_rev"]}
    return deps.store.try_put(doc, exclusive=True)


def _check_asker(deps: Dependencies, docs: Iterable[Doc], user: User) -> None:
    account = next(iter(USER.among(docs)), None)
    check_not_erased(account)
    there = [each for each in SESSION.among(docs) if not is_blank(each)]
    session = next((each for each in there if each["session"] == user.session), None)
    try:
        check_session(deps, account, session, user.session_started)
    except BadRefreshToken:
        raise SessionEnded("Log in again.") from None


def digests(shown: Mapping[str, Doc]) -> dict[str, str]:
    return {docid: digest_of(content) for docid, content in shown.items()}


def _told(stored: SyncState | None) -> Told:
    if stored is None:
        return Told(secrets.token_hex(6), 0, {})
    return Told(stored["epoch"], stored["sequence"], stored["entries"])


# What devices ask.


@dataclass(frozen=True)
class ChangesQuery:
    """`all_leaves`: the branches that have ended, too (style=all_docs), so that devices that have them end them."""

    since: str = "0"
    limit: int | None = None
    all_leaves: bool = False
    include_docs: bool = False
    descending: bool = False


def changes(snapshot: Snapshot, query: ChangesQuery) -> dict[str, Any]:
    """What changed since then, as CouchDB says it. Raises ValueError for a `since` that is none."""
    told = snapshot.told
    since = told.since(query.since)
    later = [(entry["seq"], docid) for docid, entry in told.entries.items() if entry["seq"] > since]
    later.sort(reverse=query.descending)
    listed = later if query.limit is None else later[: max(query.limit, 1)]
    last = listed[-1][0] if len(listed) < len(later) else told.sequence
    rows = [_change(snapshot, docid, query) for _, docid in listed]
    return {"results": rows, "last_seq": told.named(last), "pending": len(later) - len(listed)}


def _change(snapshot: Snapshot, docid: str, query: ChangesQuery) -> dict[str, Any]:
    entry = snapshot.told.entries[docid]
    leaves = [revision(entry)]
    if query.all_leaves:
        leaves += [revision(branch) for branch in entry.get("closed", ())]
    row: dict[str, Any] = {
        "seq": snapshot.told.named(entry["seq"]),
        "id": docid,
        "changes": [{"rev": rev} for rev in leaves],
    }
    if entry.get("deleted"):
        row["deleted"] = True
    if query.include_docs:
        row["doc"] = newest(snapshot, docid)
    return row


def newest(snapshot: Snapshot, docid: str, *, revs: bool = False) -> Doc | None:
    """A document in its newest revision, a deletion too; None for one that is not there, or cannot be looked at now."""
    entry = snapshot.told.entries.get(docid)
    if entry is None:
        return None
    if entry.get("deleted"):
        return _leaf(docid, entry, {"_deleted": True}, revs)
    content = snapshot.shown.get(docid)
    return None if content is None else _leaf(docid, entry, content, revs)


def revision_of(
    snapshot: Snapshot, docid: str, rev: str, *, revs: bool = False, latest: bool = False
) -> Doc | None:
    """One revision: the newest, that of a branch that has ended, or with `latest` what came of an older one. Raises ValueError."""
    entry, wanted = snapshot.told.entries.get(docid), parsed(rev)
    if entry is None:
        return None
    if rev == revision(entry) or (latest and holds(entry, wanted)):
        return newest(snapshot, docid, revs=revs)
    for branch in entry.get("closed", ()):
        if rev == revision(branch) or (latest and holds(branch, wanted)):
            return _leaf(docid, branch, {"_deleted": True}, revs)
    return None


def leaves(snapshot: Snapshot, docid: str, *, revs: bool = False) -> list[Doc]:
    """Every branch's newest revision."""
    entry = snapshot.told.entries.get(docid)
    found = newest(snapshot, docid, revs=revs)
    if entry is None or found is None:
        return []
    ended = [_leaf(docid, branch, {"_deleted": True}, revs) for branch in entry.get("closed", ())]
    return [found, *ended]


def missing_revisions(snapshot: Snapshot, asked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Which of these revisions were never told or taken, by id. Raises ValueError."""
    answer = {}
    for docid, revs in asked.items():
        entry = snapshot.told.entries.get(docid)
        missing = [rev for rev in revs if not knows(entry, parsed(rev))]
        if missing:
            answer[docid] = {"missing": missing}
    return answer


def information(deps: Dependencies, userid: str) -> dict[str, Any]:
    """What CouchDB says of a database. 1 read."""
    told = _told(SYNC_STATE.typed(deps.store.of_user(userid, STATE_KEY)))
    entries = told.entries.values()
    gone = sum(bool(entry.get("deleted")) for entry in entries)
    return database_information("sync", told.named(told.sequence), len(entries) - gone, gone)


def _leaf(docid: str, branch: Branch | Entry, content: Doc, revs: bool) -> Doc:
    doc = {"_id": docid, "_rev": revision(branch), **content}
    if revs:
        doc["_revisions"] = {"start": branch["start"], "ids": branch["ids"]}
    return doc
