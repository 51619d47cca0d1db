"""Full-text search: Cloudant's query language and index functions' output over tantivy; no databases, no HTTP."""

from .analysis import Analyzers, analyzer
from .answers import Answer, answer
from .compiling import Compiler
from .engine import Entry, SearchIndex, SlotsFull, entry, nouveau_entry
from .facets import Facets, drilled
from .groups import Group, Grouping, group_field, grouped
from .highlights import Highlighting, matchers, of_document
from .matching import Matching
from .nouveau_fields import check_facets, sort_keys, tree
from .sorting import Hit, Key, Page, by_fields, by_relevance, load, parse_sort

__all__ = [
    "Analyzers",
    "Answer",
    "Compiler",
    "Entry",
    "Facets",
    "Group",
    "Grouping",
    "Highlighting",
    "Hit",
    "Key",
    "Matching",
    "Page",
    "SearchIndex",
    "SlotsFull",
    "analyzer",
    "answer",
    "by_fields",
    "by_relevance",
    "check_facets",
    "drilled",
    "entry",
    "group_field",
    "grouped",
    "load",
    "matchers",
    "nouveau_entry",
    "of_document",
    "parse_sort",
    "sort_keys",
    "tree",
]
