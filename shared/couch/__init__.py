"""The client library for partitioned CouchDB and Cloudant databases, on ibmcloudant."""

from shared.couch.changes import Change, Changes
from shared.couch.database import AFTER_EVERYTHING, AcrossPartitions, Database, Partition, Written
from shared.couch.documents import Doc, DocumentType, StoredDocument, document_id, split_id, time_ordered_id
from shared.couch.errors import (
    DatabaseAway,
    DatabaseDenied,
    NoSuchDocument,
    NotPrepared,
    PartitionFull,
    QueryRefused,
    UpdateConflict,
)
from shared.couch.following import FollowingIndexes
from shared.couch.indexes import DatabaseDesign, FindIndex, View, view_source
from shared.couch.pages import Page, SearchPage
from shared.couch.search import (
    Band,
    SearchField,
    SearchIndex,
    SearchQuery,
    search_fields,
    search_for,
    words_of,
)
from shared.couch.server import Server
from shared.couch.staleness import StaleRows
from shared.couch.tally import Tally, counting, start_counting

__all__ = [
    "AFTER_EVERYTHING",
    "AcrossPartitions",
    "Band",
    "Change",
    "Changes",
    "Database",
    "DatabaseAway",
    "DatabaseDenied",
    "DatabaseDesign",
    "Doc",
    "DocumentType",
    "FindIndex",
    "FollowingIndexes",
    "NoSuchDocument",
    "NotPrepared",
    "Page",
    "Partition",
    "PartitionFull",
    "QueryRefused",
    "SearchField",
    "SearchIndex",
    "SearchPage",
    "SearchQuery",
    "Server",
    "StaleRows",
    "StoredDocument",
    "Tally",
    "UpdateConflict",
    "View",
    "Written",
    "counting",
    "document_id",
    "search_fields",
    "search_for",
    "split_id",
    "start_counting",
    "time_ordered_id",
    "view_source",
    "words_of",
]
