"""What the sync of a customer's devices keeps in their partition.

user{userid}:sync                what devices were told of each document: `rules/sync_revisions.py`
            :syncpoint-{name}    how far one device is, in its own words (a `_local` document to it)
"""

from typing import Any, NotRequired, TypedDict

from shared.couch import DocumentType, StoredDocument


class Branch(TypedDict):
    """A revision (`start`-`ids[0]`) and those before it, newest first."""

    start: int
    ids: list[str]


class Entry(TypedDict):
    """What devices are told of one document: its newest revision with the ones before, and branches that have ended beside it."""

    seq: int
    start: int
    ids: list[str]
    digest: str
    deleted: NotRequired[bool]
    closed: NotRequired[list[Branch]]


class SyncState(StoredDocument):
    userid: str
    epoch: str
    """Sequences of another one are void."""
    sequence: int
    entries: dict[str, Entry]
    updated: str


class SyncPoint(StoredDocument):
    userid: str
    number: int
    """Its revision is `0-{number}`."""
    body: dict[str, Any]
    updated: str
    expires: str


SYNC_STATE = DocumentType.declared("syncstate", SyncState)
SYNC_POINT = DocumentType.declared("syncpoint", SyncPoint)
STATE_KEY = "sync"
POINT_PREFIX = "syncpoint-"
