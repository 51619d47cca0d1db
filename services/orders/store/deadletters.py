"""Jobs that were given up: one partition, an immutable document each, and one more when an admin sends it again."""

from services.orders.documents import DEADLETTER, DEADLETTER_RETRIED, DEADLETTERS
from shared.clock import timestamp
from shared.couch import Database, Doc, UpdateConflict, document_id
from shared.tracing import outgoing


class DeadLetterStore:
    """The dead letters in the orders database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Doc]:
        """Every dead letter and every retry. 1 partition query."""
        return self._database.partition(DEADLETTERS).all()

    def add(self, job: str, subject: str, number: int, *, error: str, detail: str, passing: bool) -> None:
        """The `number`th time that `job` was given up for `subject`; a second writer of the same changes nothing."""
        self._put_once(
            DEADLETTER.new(
                document_id(DEADLETTERS, f"{job}.{subject}.{number}"), job=job, subject=subject, number=number,
                error=error, detail=detail, passing=passing, date=timestamp(),
            )
        )  # fmt: skip

    def add_retry(self, letter: Doc, by: str) -> None:
        """Marks a dead letter as sent again; the changes feed carries it to the worker."""
        self._put_once(
            DEADLETTER_RETRIED.new(
                f"{letter['_id']}.retried", job=letter["job"], subject=letter["subject"], number=letter["number"],
                by=by, date=timestamp(),
            )
        )  # fmt: skip

    def _put_once(self, doc: Doc) -> None:
        try:
            self._database.put(doc | outgoing())
        except UpdateConflict:
            return
