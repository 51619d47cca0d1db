"""The client library for partitioned CouchDB and Cloudant databases, on ibmcloudant. README.md shows it in five minutes.

A name's module is loaded when the name is first used: who needs errors or the HTTP client alone does not load the SDK.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changes import Change, Changes
    from .copies import altered
    from .database import HIGHEST_KEY, AcrossPartitions, Database, Partition
    from .documents import (
        DeclaredType,
        Doc,
        Document,
        DocumentType,
        StoredDocument,
        document_id,
        generation,
        is_older,
        moment_of,
        split_id,
        time_ordered_id,
    )
    from .errors import (
        DatabaseDenied,
        DatabaseFull,
        DatabaseUnavailable,
        IndexRefused,
        NoSuchDocument,
        NotPrepared,
        PartitionFull,
        QueryRefused,
        SearchOverloaded,
        SearchUnavailable,
        UpdateConflict,
    )
    from .index_catch_up import IndexCatchUp
    from .indexes import DatabaseDesign, FindIndex, View, view_source
    from .pages import Page, PageOf, SearchPage, SearchPageOf
    from .repeats import Made, RepeatedReads
    from .search import (
        LANGUAGES,
        MIN_PREFIX,
        NUMBER_BANDS,
        Band,
        Language,
        SearchField,
        SearchIndex,
        SearchQuery,
        Translation,
        as_javascript,
        begun_pair,
        compounds_of,
        is_forgivable,
        language_named,
        letters_of,
        members_function,
        pairs_of,
        search_fields,
        search_for,
        words_of,
    )
    from .server import Server
    from .staleness import StaleRows
    from .tally import Tally, counting, start_counting
    from .written import Written

__all__ = [
    "HIGHEST_KEY",
    "LANGUAGES",
    "Made",
    "NUMBER_BANDS",
    "AcrossPartitions",
    "Band",
    "Change",
    "Changes",
    "Database",
    "DatabaseUnavailable",
    "DatabaseDenied",
    "DatabaseFull",
    "DatabaseDesign",
    "DeclaredType",
    "Doc",
    "Document",
    "DocumentType",
    "FindIndex",
    "IndexCatchUp",
    "MIN_PREFIX",
    "IndexRefused",
    "Language",
    "NoSuchDocument",
    "NotPrepared",
    "Page",
    "PageOf",
    "Partition",
    "PartitionFull",
    "QueryRefused",
    "RepeatedReads",
    "SearchField",
    "SearchIndex",
    "SearchOverloaded",
    "SearchPage",
    "SearchPageOf",
    "SearchQuery",
    "SearchUnavailable",
    "Translation",
    "Server",
    "StaleRows",
    "StoredDocument",
    "Tally",
    "UpdateConflict",
    "View",
    "Written",
    "altered",
    "counting",
    "document_id",
    "generation",
    "as_javascript",
    "compounds_of",
    "begun_pair",
    "is_forgivable",
    "is_older",
    "language_named",
    "letters_of",
    "members_function",
    "moment_of",
    "pairs_of",
    "search_fields",
    "search_for",
    "split_id",
    "start_counting",
    "time_ordered_id",
    "view_source",
    "words_of",
]

_MODULES = {
    "changes": (
        "Change",
        "Changes",
    ),
    "copies": ("altered",),
    "database": (
        "HIGHEST_KEY",
        "AcrossPartitions",
        "Database",
        "Partition",
    ),
    "documents": (
        "DeclaredType",
        "Doc",
        "Document",
        "DocumentType",
        "StoredDocument",
        "document_id",
        "generation",
        "is_older",
        "moment_of",
        "split_id",
        "time_ordered_id",
    ),
    "errors": (
        "DatabaseUnavailable",
        "DatabaseDenied",
        "DatabaseFull",
        "IndexRefused",
        "NoSuchDocument",
        "NotPrepared",
        "PartitionFull",
        "QueryRefused",
        "SearchOverloaded",
        "SearchUnavailable",
        "UpdateConflict",
    ),
    "index_catch_up": ("IndexCatchUp",),
    "indexes": (
        "DatabaseDesign",
        "FindIndex",
        "View",
        "view_source",
    ),
    "pages": (
        "Page",
        "PageOf",
        "SearchPage",
        "SearchPageOf",
    ),
    "search": (
        "LANGUAGES",
        "NUMBER_BANDS",
        "Band",
        "MIN_PREFIX",
        "Language",
        "SearchField",
        "SearchIndex",
        "SearchQuery",
        "Translation",
        "as_javascript",
        "compounds_of",
        "begun_pair",
        "is_forgivable",
        "language_named",
        "letters_of",
        "members_function",
        "pairs_of",
        "search_fields",
        "search_for",
        "words_of",
    ),
    "repeats": ("Made", "RepeatedReads"),
    "server": ("Server",),
    "staleness": ("StaleRows",),
    "tally": (
        "Tally",
        "counting",
        "start_counting",
    ),
    "written": ("Written",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
