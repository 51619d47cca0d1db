"""What devices that keep a category were told of its products.

{category}:#sync     one for each category that some device keeps; no product's id begins with `#`
"""

from typing import Final, NotRequired, TypedDict

from shared.couch import DocumentType, StoredDocument

SYNC_KEY: Final = "#sync"


class ToldDocument(TypedDict):
    """What devices are told of one document: the `number` of its revision, its place in the sequence, a digest of its content."""

    seq: int
    number: int
    digest: str
    deleted: NotRequired[bool]


class CategorySyncState(StoredDocument):
    category: str
    epoch: str
    """Sequences of another one are void."""
    sequence: int
    entries: dict[str, ToldDocument]
    updated: str


CATEGORY_SYNC_STATE = DocumentType.declared("categorysyncstate", CategorySyncState)
