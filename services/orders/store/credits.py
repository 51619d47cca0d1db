"""The chains of gift cards and store credit: read whole, and written at their end by one writer at a time."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, cast

from services.orders.declarations.credits import CreditEntry, CreditPayment
from services.orders.documents import CREDIT_BALANCES, CREDIT_ENTRY, GIFT_CARDS, credit_partition
from services.orders.rules.credits import Chain, CreditKey
from shared.couch import HIGHEST_KEY, Database, Doc, NoSuchDocument, Page, UpdateConflict
from shared.couch.quorum import confirm, leaves_of
from shared.errors import Unavailable

_FIRST_READ: Final = 4
_FREE_BEHIND: Final = 2
"""So many numbers that were never written end a chain: one may be missing where its writer could not reach the other nodes."""


class CreditStore:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def chain(self, key: CreditKey) -> Chain:
        """Every entry. 1 partition query; on a cluster 1 read for each entry and for some that there are not.

        A list of a partition is one node's copy there, which may be behind or hold what the others refused, and what is spent is worked out
        from every entry.
        """
        if not self._database.has_one_copy:
            return Chain(key, self._read_by_id(key))
        docs = self._database.partition(key.partition).all(key.prefix, conflicts=True)
        return Chain(key, [leaves_of(self._database, doc) for doc in CREDIT_ENTRY.among(docs)])

    def _read_by_id(self, key: CreditKey) -> Sequence[Sequence[CreditEntry]]:
        found: dict[str, list[Doc]] = {}
        ids: Sequence[str] = ()
        while not ids or found.keys() & set(ids[-_FREE_BEHIND:]):
            first = len(ids) + 1
            more = [key.entry_id(number) for number in range(first, first + max(_FIRST_READ, len(ids)))]
            found |= self._database.revisions_of_many(more)
            ids = [*ids, *more]
        return cast(Sequence[Sequence[CreditEntry]], [found[id] for id in ids if found.get(id)])

    def balances(self, kind: str, id: str) -> list[Doc]:
        """What a gift card or a customer has: {key: [kind, id, currency, name, issued, expires], value: balance}. 1 partition query."""
        partition = self._database.partition(credit_partition(kind, id))
        return partition.view(CREDIT_BALANCES, group=True)

    def entries_of_order(self, credit: CreditPayment, orderid: str) -> list[CreditEntry]:
        """What an order did to a gift card or store credit that paid for it. 1 partition query."""
        docs = self._database.partition(credit_partition(credit["kind"], credit["id"])).all()
        return [entry for entry in CREDIT_ENTRY.among(docs) if entry.get("orderid") == orderid]

    def gift_cards(self, *, limit: int, after: list[str] | None = None) -> Page:
        """Rows {key: [issued, id, currency, name, expires], value: balance}, newest first. 1 global query."""
        rows = self._database.across_partitions.view(
            GIFT_CARDS,
            start=after or HIGHEST_KEY,
            descending=True,
            group=True,
            limit=limit + 2,
            allow_stale=False,
        )
        if after and rows and rows[0]["key"] == after:
            rows = rows[1:]
        return Page(rows[:limit], rows[limit - 1]["key"] if len(rows) > limit else None)

    def write(self, entry: CreditEntry) -> bool:
        """Whether the entry is the one of its number; one that is not is not left behind. Raises Unavailable."""
        (written,) = self._database.put_many([entry])
        if written.rev and not written.accepted:
            return True
        if written.accepted:
            self._withdraw(entry)
            raise Unavailable("Too few database nodes answer to spend safely; try again.", retry_after=2)
        if written.error != "conflict":
            raise Unavailable(f"The database did not take {written.id}: {written.error}.")
        if confirm(self._database, entry["_id"], lambda leaf: bool(leaf["mark"] == entry["mark"])):
            return True
        self._withdraw(entry)
        return False

    def confirm(self, entry: CreditEntry) -> None:
        """Makes sure that an entry that was found is its writer's: on a cluster one node alone may have it. 1 read and 1 write there.

        Raises Unavailable where that cannot be told, or another writer's lies beside it.
        """
        if self._database.has_one_copy:
            return
        if not confirm(self._database, entry["_id"], lambda leaf: bool(leaf["mark"] == entry["mark"])):
            raise Unavailable("Another writer's entry lies beside this one; try again.", retry_after=1)

    def remove(self, leaf: CreditEntry) -> None:
        """Takes one revision away. Raises UpdateConflict when it is gone."""
        self._database.delete(leaf["_id"], leaf["_rev"])

    def _withdraw(self, entry: CreditEntry) -> None:
        for leaf in self._stored_at(entry["_id"]):
            if leaf["mark"] == entry["mark"]:
                with suppress(NoSuchDocument, UpdateConflict):
                    self.remove(leaf)

    def _stored_at(self, docid: str) -> Sequence[CreditEntry]:
        return cast(Sequence[CreditEntry], self._database.revisions(docid))
