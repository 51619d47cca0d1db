"""The chains of gift cards and store credit: read whole, and written at their end by one writer at a time."""

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from services.orders.declarations.credits import CreditEntry, CreditPayment
from services.orders.documents import CREDIT_BALANCES, CREDIT_ENTRY, GIFT_CARDS, credit_partition
from services.orders.rules.credits import Chain, CreditKey
from shared.couch import HIGHEST_KEY, Database, Doc, NoSuchDocument, Page, UpdateConflict
from shared.couch.quorum import confirm, leaves_of
from shared.errors import Unavailable


class CreditStore:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def chain(self, key: CreditKey) -> Chain:
        """Every entry. 1 partition query."""
        docs = self._database.partition(key.partition).all(key.prefix, conflicts=True)
        return Chain(key, [leaves_of(self._database, doc) for doc in CREDIT_ENTRY.among(docs)])

    def chain_of_documents(self, key: CreditKey) -> Chain:
        """The same, entry by entry, for who was told that there is none. A list of a partition is one node's copy, and that may be behind;
        a document is what a quorum of nodes has. 1 read more than there are entries."""
        slots: list[Sequence[CreditEntry]] = []
        while stored := self._stored_at(key.entry_id(len(slots) + 1)):
            slots.append(stored)
        return Chain(key, slots)

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
