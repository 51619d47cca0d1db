"""Jobs that were given up."""

from typing import Annotated, Final, NotRequired

from services.orders.declarations.common import Date, ReadOnlyText
from shared.couch import StoredDocument
from shared.fields import Declaration


class DeadLetter(StoredDocument):
    """A job that failed for good, the `number`th time for its `subject`. `passing`: something was unavailable. Erasing the customer
    of an order empties the detail of what failed for it."""

    job: Annotated[str, ReadOnlyText]
    subject: str
    number: int
    error: Annotated[str, ReadOnlyText]
    detail: Annotated[str, ReadOnlyText]
    passing: bool
    date: Date
    erased: NotRequired[str]


class DeadLetterRetried(StoredDocument):
    """A dead letter was sent again, `by` whom."""

    job: str
    subject: str
    number: int
    by: str
    date: str


DEAD_LETTER_FIELDS: Final = Declaration(DeadLetter)
