"""Codes and the slots of promotions: who may use one is decided by who writes its document first."""

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from services.orders.declarations.promotions import CodeClaim, PromotionUse, SlotChoice
from services.orders.documents import (
    CODE_CLAIM,
    FREE_USES,
    PROMOTION_USE,
    SLOT_CHOICE,
    choice_key,
    code_key,
    promotion_partition,
    use_key,
)
from shared.clock import timestamp
from shared.couch import Database, Document, UpdateConflict, Written, quorum
from shared.errors import Unavailable


class PromotionStore:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim_code(
        self, code: str, promotion: str, can_be_taken: Callable[[CodeClaim], bool]
    ) -> CodeClaim | None:
        """Makes a code this promotion's; the claim of another one that has it and whose code cannot be taken over.
        Raises Unavailable when too few nodes of a cluster took it: another promotion may be told that it has the code."""
        claim = CODE_CLAIM.build(code_key(code), code=code, promotion=promotion, date=timestamp())
        try:
            quorum.put(self._database, claim)
        except UpdateConflict:
            if quorum.confirm(
                self._database, code_key(code), lambda known: bool(known["promotion"] == promotion)
            ):
                return None
            known = CODE_CLAIM.typed(self._database.get(code_key(code)))
            if known is None or known["promotion"] == promotion:
                return None
            if not can_be_taken(known):
                return known
            quorum.put(self._database, {**claim, "_rev": known["_rev"]})
        return None

    def claims_behind_list(self, codes: Sequence[str]) -> list[CodeClaim]:
        """The claims of codes that the list of settings lacks: a list is one node's copy, which may be behind; a document is what a quorum of
        nodes has. 1 read where there are any, none where there is one copy of each document."""
        if not codes or self._database.has_one_copy:
            return []
        return CODE_CLAIM.among(self._database.get_many([code_key(code) for code in codes]).values())

    def free_uses(self, promotion: str, *, count: int) -> list[PromotionUse]:
        """Slots that no order has, the first ones. 1 partition query."""
        partition = self._database.partition(promotion_partition(promotion))
        return PROMOTION_USE.among(partition.find(FREE_USES, {"number": {"$gt": 0}}, limit=count).items)

    def free_uses_behind_list(self, promotion: str, *, count: int) -> list[PromotionUse]:
        """Of so many slots, the first ones, those that no order has, as a quorum of nodes says. 1 read, none where there is one copy of each
        document."""
        if self._database.has_one_copy:
            return []
        docids = [use_key(promotion, number) for number in range(1, count + 1)]
        return [use for use in self.read(docids).values() if use["free"]]

    def uses(self, promotion: str) -> list[PromotionUse]:
        """Every slot. 1 partition query."""
        return PROMOTION_USE.among(self._database.partition(promotion_partition(promotion)).all("use"))

    def add_slots(self, promotion: str, numbers: Sequence[int]) -> None:
        """Free ones; what is there stays. 1 write."""
        self.write([free_use(promotion, number) for number in numbers])

    def remove(self, uses: Sequence[PromotionUse]) -> None:
        """Those that are still as they were read."""
        self.write([{"_id": use["_id"], "_rev": use["_rev"], "_deleted": True} for use in uses])

    def read(self, docids: Sequence[str]) -> dict[str, PromotionUse]:
        """Those that there are, by id. 1 read."""
        return {use["_id"]: use for use in PROMOTION_USE.among(self._database.get_many(docids).values())}

    def choice(self, orderid: str, promotion: str, attempt: int) -> SlotChoice | None:
        """1 read."""
        key = choice_key(orderid, promotion, attempt)
        return SLOT_CHOICE.typed(self._database.get_many([key]).get(key))

    def claim(self, uses: Sequence[PromotionUse]) -> set[str]:
        """The ids of those that somebody else has; what was written of them is not left behind. 1 write, and for those that were refused
        reads and, where the order may have them already, 1 write each. Raises Unavailable when too few of a cluster's nodes took one: it
        stays the order's as far as it is, until that claims it again or gives it back."""
        refused, is_unsure = set(), False
        for use, row in zip(uses, self._write(uses), strict=True):
            is_unsure = is_unsure or row.accepted
            if row.error and not self.confirm(use["_id"], use["orderid"]):
                self._withdraw(use)
                refused.add(row.id)
        if is_unsure:
            raise _too_few_nodes()
        return refused

    def confirm(self, docid: str, orderid: str) -> bool:
        """Whether the order has this use, as most of a cluster's nodes say. 1 read, and 1 write where it seems so. Raises Unavailable."""
        return quorum.confirm(self._database, docid, lambda use: _is_of(use, orderid)) is not None

    def free(self, uses: Iterable[PromotionUse]) -> set[str]:
        """Of uses that their order has, the ids of those to look at again: somebody else wrote them before, or of several revisions this one
        was taken away. 1 read, 2 writes.

        They are written as the order's before they are free. A node that is cut off would write what is free upon its own copy alone, and
        that would hide what another order has been given by the others. Raises Unavailable when too few nodes took the first.
        """
        by_id = {use["_id"]: use for use in uses}
        stored = self._database.get_many(list(by_id), conflicts=True)
        contested = {docid for docid, doc in stored.items() if "_conflicts" in doc}
        for docid in contested:
            quorum.take_back(self._database, docid, by_id[docid]["_rev"])
        certain = [use for docid, use in by_id.items() if docid not in contested]
        written = self._write(certain)
        if any(row.accepted for row in written):
            raise _too_few_nodes()
        held = [(use, row.rev) for use, row in zip(certain, written, strict=True) if row.rev]
        late = {row.id for row in written if row.error}
        return contested | late | self.write([_freed(use) | {"_rev": rev} for use, rev in held])

    def write(self, docs: Sequence[Document]) -> set[str]:
        """The ids of those that somebody else wrote before. 1 write. Raises Unavailable."""
        return {row.id for row in self._write(docs) if row.error}

    def _write(self, docs: Sequence[Document]) -> list[Written]:
        written = self._database.put_many(docs) if docs else []
        failed = [row for row in written if row.error and row.error != "conflict"]
        if failed:
            raise Unavailable(f"The database did not take {failed[0].id}: {failed[0].error}.")
        return written

    def _withdraw(self, use: PromotionUse) -> None:
        """A node of a cluster keeps what the others refused, beside what they have."""
        leaves = cast(Sequence[PromotionUse], self._database.revisions(use["_id"]))
        for leaf in leaves if len(leaves) > 1 else ():
            if _is_of(leaf, use["orderid"]):
                quorum.take_back(self._database, leaf["_id"], leaf["_rev"])


def _is_of(use: PromotionUse, orderid: str) -> bool:
    return not use["free"] and use["orderid"] == orderid


def _freed(use: PromotionUse) -> PromotionUse:
    return {**use, "free": True, "orderid": "", "date": timestamp()}


def free_use(promotion: str, number: int) -> PromotionUse:
    return PROMOTION_USE.build(
        use_key(promotion, number),
        promotion=promotion,
        number=number,
        free=True,
        orderid="",
        date=timestamp(),
    )


def _too_few_nodes() -> Unavailable:
    return Unavailable("Too few database nodes answer to use a code safely; try again.", retry_after=2)
