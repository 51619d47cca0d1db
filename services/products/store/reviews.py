"""Reviews, kept beside their product."""

from collections.abc import Sequence
from typing import Any

from services.products.declarations.related_documents import Review
from services.products.documents import RATINGS, REVIEW, REVIEWS_BY_DATE, REVIEWS_OF_A_PERSON, partition_of
from shared.couch import Database, Document, PageOf, quorum
from shared.errors import Unavailable


class Reviews:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest_of(
        self, taxonomy: Sequence[str], productid: str, limit: int, cursor: str | None
    ) -> PageOf[Review]:
        """Reviews of a product, newest first. 1 partition query."""
        selector = {"productid": productid, "date": {"$gt": ""}}
        sort = [{"productid": "desc"}, {"date": "desc"}]
        partition = self._database.partition(partition_of(taxonomy))
        page = partition.find(
            REVIEWS_BY_DATE, selector, sort=sort, limit=limit, bookmark=cursor, allow_stale=True
        )
        return PageOf(REVIEW.among(page.items), page.next, stale=page.stale)

    def of_person(self, userid: str) -> list[Review]:
        """Everything a person wrote. 1 global query for each hundred."""
        found: list[Review] = []
        bookmark: str | None = None
        while True:
            page = self._database.across_partitions.find(
                REVIEWS_OF_A_PERSON, {"userid": userid}, limit=100, bookmark=bookmark
            )
            found += REVIEW.among(page.items)
            if page.next is None:
                return found
            bookmark = page.next

    def replace(self, reviews: Sequence[Document]) -> None:
        """Raises Unavailable when one changed meanwhile."""
        if reviews and any(row.error for row in self._database.put_many(reviews)):
            raise Unavailable("Some reviews changed while they were erased; try again.")

    def compact(self) -> bool:
        """Has the database remove old revisions; False where that is the server's own affair."""
        return self._database.compact()

    def stars(self, taxonomy: Sequence[str], productid: str) -> dict[str, Any] | None:
        """P7: the `_stats` of a product's stars, None without a review. 1 partition query."""
        rows = self._database.partition(partition_of(taxonomy)).view(RATINGS, key=productid, group=True)
        return rows[0]["value"] if rows else None

    def add(self, doc: Review) -> bool:
        """Whether it was the first by this person: its id is the claim. Raises DatabaseUnavailable where too few nodes took it."""
        return quorum.try_put(self._database, doc) is not None
