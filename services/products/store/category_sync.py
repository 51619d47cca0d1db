"""What was told of a category that devices keep: stored beside its products, and at hand in the process for some seconds."""

import threading
import time
from dataclasses import dataclass
from typing import Final

from services.products.declarations.category_sync import CATEGORY_SYNC_STATE, SYNC_KEY, CategorySyncState
from services.products.documents import partition_of
from services.products.rules.category_sync import ToldCategory, united
from shared.couch import Database, Doc, UpdateConflict, document_id

KEPT_SECONDS: Final = 10.0
"""What changes without a mark (a sale that begins, a write past the API) is told so late at most."""
MAX_AT_HAND: Final = 20


@dataclass(frozen=True)
class CategorySnapshot:
    """What devices see of a category by id, as JSON is made of it, and what is told of that."""

    shown: dict[str, Doc]
    told: ToldCategory


class CategorySyncStates:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, taxonomy: list[str]) -> CategorySyncState | None:
        """What replicas told apart is made one here. 1 read."""
        docid = document_id(partition_of(taxonomy), SYNC_KEY)
        found = self._database.get_many([docid], conflicts=True).get(docid)
        if found is not None and "_conflicts" in found:
            found = self._united(found)
        return CATEGORY_SYNC_STATE.typed(found)

    def _united(self, winner: Doc) -> Doc:
        others = [self._database.get(winner["_id"], rev=rev) for rev in winner.pop("_conflicts")]
        made = {**united([winner, *others]), "_rev": winner["_rev"]}
        made["_rev"] = self._database.put(made)
        for other in others:
            self._database.delete(other["_id"], other["_rev"])
        return made

    def put(
        self, taxonomy: list[str], told: ToldCategory, before: CategorySyncState | None, now: str
    ) -> bool:
        """Whether it could be stored: nobody else has told something meanwhile."""
        doc = CATEGORY_SYNC_STATE.build(
            document_id(partition_of(taxonomy), SYNC_KEY),
            category="#".join(taxonomy),
            epoch=told.epoch,
            sequence=told.sequence,
            entries=dict(told.entries),
            updated=now,
        )
        try:
            self._database.put({**doc, "_rev": before["_rev"]} if before else doc)
        except UpdateConflict:
            return False
        return True


class CategorySnapshots:
    """The last snapshots of some categories, as long as nobody has marked the category as changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[bytes | None, float, CategorySnapshot]] = {}
        self._lock = threading.Lock()

    def get(self, partition: str, marks: list[bytes | None] | None) -> CategorySnapshot | None:
        """`marks`: that of the category now; None while Redis cannot tell, and then nothing is taken from here."""
        kept = self._kept.get(partition)
        if marks is None or kept is None or kept[0] != marks[0] or time.monotonic() > kept[1]:
            return None
        return kept[2]

    def keep(self, partition: str, marks: list[bytes | None] | None, snapshot: CategorySnapshot) -> None:
        """`marks`: as they were before the snapshot was made."""
        if marks is None:
            return
        with self._lock:
            self._kept.pop(partition, None)
            while len(self._kept) >= MAX_AT_HAND:
                del self._kept[next(iter(self._kept))]
            self._kept[partition] = marks[0], time.monotonic() + KEPT_SECONDS, snapshot
