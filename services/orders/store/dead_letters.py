"""Jobs that failed for good: one partition, an immutable document each, and one more when an admin sends it again."""

from collections.abc import Collection

from services.orders.declarations.dead_letters import DeadLetter, DeadLetterRetried
from services.orders.documents import DEADLETTER, DEADLETTER_RETRIED, DEADLETTERS
from shared.clock import timestamp
from shared.couch import Database, Document, UpdateConflict, document_id
from shared.errors import Unavailable
from shared.tracing import outgoing


def retry_id(dead_letter: DeadLetter) -> str:
    """Of the document that says that it was sent again."""
    return f"{dead_letter['_id']}.retried"


class DeadLetterStore:
    """The dead letters in the orders database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[list[DeadLetter], list[DeadLetterRetried]]:
        """Every dead letter, and every retry. 1 partition query; on a cluster 1 read of the retries that are not listed, for a list is one
        node's, and who has just sent a job again is not to find it there once more."""
        docs = self._database.partition(DEADLETTERS).all()
        dead_letters, retries = DEADLETTER.among(docs), DEADLETTER_RETRIED.among(docs)
        if not self._database.has_one_copy:
            listed = {doc["_id"] for doc in retries}
            unlisted = {retry_id(doc) for doc in dead_letters} - listed
            retries += DEADLETTER_RETRIED.among(self._database.get_many(sorted(unlisted)).values())
        return dead_letters, retries

    def add(self, job: str, subject: str, number: int, *, error: str, detail: str, transient: bool) -> None:
        """The `number`th time that `job` failed for good for `subject`; a second writer of the same changes nothing."""
        self._put_once(
            DEADLETTER.build(
                document_id(DEADLETTERS, f"{job}.{subject}.{number}"),
                job=job,
                subject=subject,
                number=number,
                error=error,
                detail=detail,
                passing=transient,
                date=timestamp(),
            )
        )

    def add_retry(self, dead_letter: DeadLetter, actor: str) -> None:
        """Marks a dead letter as sent again; the changes feed carries it to the worker."""
        self._put_once(
            DEADLETTER_RETRIED.build(
                retry_id(dead_letter),
                job=dead_letter["job"],
                subject=dead_letter["subject"],
                number=dead_letter["number"],
                by=actor,
                date=timestamp(),
            )
        )

    def forget(self, subjects: Collection[str], moment: str) -> None:
        """Empties what was said of these subjects. 1 partition query, 1 write where there is any. Raises Unavailable."""
        named = [doc for doc in self.all()[0] if doc["subject"] in subjects and doc["detail"]]
        emptied = [{**doc, "detail": "", "erased": moment} for doc in named]
        if any(row.error for row in (self._database.put_many(emptied) if emptied else ())):
            raise Unavailable("Some failures changed while they were erased; try again.")

    def _put_once(self, doc: Document) -> None:
        try:
            self._database.put({**doc, **outgoing()})
        except UpdateConflict:
            return
