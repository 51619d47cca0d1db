"""The users database: one method per access pattern, and the writes that go with them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from services.users.declarations.accounts import Account
from services.users.documents import (
    ACCESS_CHANGES,
    ACCOUNT_BY_EMAIL,
    CUSTOMERS,
    DEFAULT_ADDRESS,
    DESIGN,
    ERASURES,
    EXPIRING,
    STAFF,
    STOCK_ALERT,
    STOCK_ALERTS,
    USER,
    VIEWED_PRODUCT,
    Address,
    StockAlert,
    ViewedProduct,
    auth_id,
    is_blank,
    seen_partition,
    stock_alert_partition,
    user_document,
    user_partition,
)
from shared.clock import iso
from shared.couch import (
    HIGHEST_KEY,
    Doc,
    Document,
    NoSuchDocument,
    Page,
    PageOf,
    Server,
    StaleRows,
    UpdateConflict,
    Written,
    generation,
    quorum,
)
from shared.errors import Unavailable
from shared.recent import Recent

_PAGE_SIZE = 200
_UNSYNCED = ("sync", "session-", "token-")
D = TypeVar("D", bound=Document)


class UserStore:
    """Reads and writes of the users database; errors are those of `shared.couch`.

    What an erasure has overwritten and not deleted yet is there for `documents_of` alone.
    """

    def __init__(
        self,
        server: Server,
        changed: Callable[[set[str]], None] = lambda partitions: None,
        recent: Recent | None = None,
    ) -> None:
        """`changed` is told the partitions of people that were written to; `recent` keeps on a cluster what was written of them last."""
        self.server, self.database = server, server.open(DESIGN)
        self._changed, self._recent = changed, recent

    def documents_of(self, userid: str) -> list[Doc]:
        """U1: all documents of a person. 1 partition query, and on a cluster 1 read where something was written lately: a list is one
        node's there, and who has just put something into the basket is to find it there."""
        return self._listed(userid, "")

    def documents_of_account(self, userid: str) -> list[Doc]:
        """The same of who has an account, or had one. 1 partition query, and 1 read where the account is not among them: raises Unavailable
        when it is there, for such a list is one node's and may be behind."""
        docs = self.documents_of(userid)
        if not USER.among(docs) and self.user(userid) is not None:
            raise Unavailable("The account is not everywhere yet; try again.", retry_after=1)
        return docs

    def documents_between(self, start: str, end: str, limit: int) -> list[Doc]:
        """Documents from one id to another, those of a person together. 1 global query."""
        return self.database.across_partitions.documents(start, end, limit=limit)

    def documents_with_prefix(self, userid: str, prefix: str) -> list[Doc]:
        """The documents of a person whose key begins with `prefix`. As costly as `documents_of`."""
        return [doc for doc in self._listed(userid, prefix) if not is_blank(doc)]

    def _listed(self, userid: str, prefix: str) -> list[Doc]:
        docs = self.database.partition(user_partition(userid)).all(prefix)
        if self._recent is None or self.database.has_one_copy:
            return docs
        begin = f"{user_partition(userid)}:{prefix}"
        recent = [docid for docid in self._recent.of(user_partition(userid)) if docid.startswith(begin)]
        as_they_are = self.database.get_many(recent)
        others = [doc for doc in docs if doc["_id"] not in recent]
        return sorted([*others, *as_they_are.values()], key=lambda doc: str(doc["_id"]))

    def seen_by(self, userid: str) -> list[ViewedProduct]:
        """What a person looked at lately. 1 partition query."""
        return VIEWED_PRODUCT.among(self.documents_seen_by(userid, blank=False))

    def documents_seen_by(self, userid: str, *, blank: bool = True) -> list[Doc]:
        """The same as it is stored, also what an erasure has overwritten. 1 partition query."""
        docs = self.database.partition(seen_partition(userid)).all()
        return [doc for doc in docs if blank or not is_blank(doc)]

    def default_address(self, userid: str) -> Address | None:
        """U2: the address chosen last. 1 partition query."""
        sort = [{"type": "desc"}, {"default_since": "desc"}]
        selector = {"type": "userdelivery", "default_since": {"$gte": ""}}
        page = self.database.partition(user_partition(userid)).find(
            DEFAULT_ADDRESS, selector, sort=sort, limit=1
        )
        return cast(Address, page.items[0]) if page.items else None

    def account_by_email(self, email: str) -> Account | None:
        """U3: the active, verified account of a normalised e-mail. 1 global query."""
        page = self.database.across_partitions.find(ACCOUNT_BY_EMAIL, {"email": email}, limit=1)
        return cast(Account, page.items[0]) if page.items else None

    def expired(self, before: datetime) -> list[Doc]:
        """U4: one-time tokens and sessions that expired. 1 global query, for the worker."""
        return self.database.across_partitions.find(
            EXPIRING, {"expires": {"$lt": iso(before)}}, limit=_PAGE_SIZE
        ).items

    def access_changes(self, since: datetime) -> list[Doc]:
        """Sessions that ended and accounts whose rights changed since then. 1 global query for each 200 of them."""
        found: list[Doc] = []
        selector, bookmark = {"access_changed": {"$gte": iso(since)}}, None
        while True:
            page = self.database.across_partitions.find(
                ACCESS_CHANGES, selector, limit=_PAGE_SIZE, bookmark=bookmark
            )
            found += page.items
            bookmark = page.next
            if bookmark is None:
                return found

    def staff(self, limit: int, bookmark: str | None) -> Page:
        """Who is staff or admin. 1 global query."""
        return self.database.across_partitions.find(
            STAFF, {"roles_changed": {"$gte": ""}}, limit=limit, bookmark=bookmark
        )

    def customers(
        self, group: str, text: str, *, limit: int, after: list[str] | None = None
    ) -> PageOf[Account]:
        """U5: accounts of a group ("" for all) that are found by this text ("" for all), newest first; `after`: [created, userid] of the
        last one seen. 1 global query."""
        last: list[Any] = [*after] if after else [HIGHEST_KEY]
        rows = self.database.across_partitions.view(
            CUSTOMERS,
            start=[group, text, *last],
            end=[group, text],
            descending=True,
            include_docs=True,
            limit=limit + 2,
            allow_stale=True,
        )
        stale = isinstance(rows, StaleRows)
        if after and rows and rows[0]["key"][-2:] == after:
            rows = rows[1:]
        following = rows[limit - 1]["key"][-2:] if len(rows) > limit else None
        docs = [row["doc"] for row in rows[:limit] if row.get("doc")]
        return PageOf([cast(Account, doc) for doc in docs], following, stale=stale)

    def unfinished_erasures(self) -> list[Doc]:
        """Accounts being erased. 1 global query, for the worker."""
        return self.database.across_partitions.find(
            ERASURES, {"updated": {"$gte": ""}}, limit=_PAGE_SIZE
        ).items

    def user(self, userid: str) -> Account | None:
        return cast(Account | None, self.get(auth_id(userid)))

    def get(self, docid: str) -> Doc | None:
        """One document or None. 1 read."""
        try:
            doc = self.database.get(docid)
        except NoSuchDocument:
            return None
        return None if is_blank(doc) else doc

    def get_many(self, docids: Sequence[str]) -> dict[str, Doc]:
        """Those that exist, by id. 1 read."""
        found = self.database.get_many(docids)
        return {docid: doc for docid, doc in found.items() if not is_blank(doc)}

    def of_user(self, userid: str, key: str) -> Doc | None:
        return self.get(user_document(userid, key))

    def put(self, doc: D, *, exclusive: bool = False) -> D:
        """Writes and returns the document with its new revision. Raises UpdateConflict, and with `exclusive` DatabaseUnavailable where
        another writer may have replaced the same revision."""
        rev = quorum.put(self.database, doc) if exclusive else self.database.put(doc)
        written = cast(D, {**doc, "_rev": rev})
        self._tell([doc["_id"]], ended=bool(doc.get("revoked")))
        return written

    def was_removed(self, doc: Document) -> bool:
        """Whether it is a write that a node of a cluster kept though the others refused it, and that shows itself since the one that held
        was removed: a later revision of it is deleted. 1 read."""
        try:
            present = self.database.get(doc["_id"], deleted_conflicts=True)
        except NoSuchDocument:
            return True
        return any(generation(rev) > generation(doc["_rev"]) for rev in present.get("_deleted_conflicts", []))

    def try_put(self, doc: Document, *, exclusive: bool = False) -> bool:
        """Whether this write made the document; False when it was there already.

        With `exclusive` nobody else was told that theirs did, as `quorum.try_put` says. Raises DatabaseUnavailable while that cannot be told.
        """
        try:
            rev = quorum.try_put(self.database, doc) if exclusive else self.database.put(doc)
        except UpdateConflict:
            return False
        if rev is None:
            return False
        self._tell([doc["_id"]])
        return True

    def put_many(self, docs: Iterable[Document]) -> list[Written]:
        """1 write; every document on its own."""
        written = self.database.put_many(docs)
        self._tell([row.id for row in written if row.rev])
        return written

    def delete(self, doc: Document) -> None:
        self.database.delete(doc["_id"], doc["_rev"])
        self._tell([doc["_id"]])

    def _tell(self, docids: Iterable[str], *, ended: bool = False) -> None:
        """Of what devices sync, and of a session that has `ended`; how far a device is says nothing to the others."""
        keys = [docid.partition(":") for docid in docids if docid.startswith("user")]
        if self._recent is not None and keys and not self.database.has_one_copy:
            owners = {partition for partition, _, _ in keys}
            self._recent.remember_many(
                {owner: ["".join(key) for key in keys if key[0] == owner] for owner in owners}
            )
        self._changed({partition for partition, _, key in keys if ended or not key.startswith(_UNSYNCED)})

    def waited_for(self) -> list[str]:
        """SKUs for which somebody waits. 1 global query, for the worker."""
        rows = self.database.across_partitions.view(
            STOCK_ALERTS, start=["waiting"], end=["waiting", HIGHEST_KEY], group=True
        )
        return [row["key"][1] for row in rows]

    def stock_alerts(self, sku: str) -> list[StockAlert]:
        """1 partition query."""
        return STOCK_ALERT.among(self.database.partition(stock_alert_partition(sku)).all())

    def stock_alerts_of(self, digest: str) -> list[Doc]:
        """All alerts of an address, by its `email_digest`. 1 global query."""
        rows = self.database.across_partitions.view(
            STOCK_ALERTS, key=["email", digest], reduce=False, include_docs=True
        )
        return [row["doc"] for row in rows if row.get("doc")]

    def compact(self) -> bool:
        """Has the database remove old revisions; False where that is the server's own affair."""
        return self.database.compact()

    def changes(self, since: str, limit: int) -> Any:
        """Changed documents with their conflicting revisions, for the worker."""
        return self.database.changes(since, limit=limit, conflicts=True)
