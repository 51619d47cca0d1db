"""What staff note on a customer or a product for each other: immutable documents beside their subject, in its partition."""

from typing import Annotated, Final

from shared.couch import StoredDocument
from shared.fields import Declaration, Moment, Text


class StaffNote(StoredDocument):
    """A note; the subject does not see it."""

    text: Annotated[str, Text(1, 2000, description="for the people of the shop alone")]
    by: Annotated[str, Text(0, 1000, writable=False, description="who wrote it, such as user 42")]
    date: Annotated[str, Moment(writable=False)]


STAFF_NOTE_FIELDS: Final = Declaration(StaffNote)
