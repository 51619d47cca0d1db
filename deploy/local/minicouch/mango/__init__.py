"""Mango: selectors, index choice and key ranges of CouchDB's `_find`; no storage, no HTTP."""

from .bookmarks import pack, unpack
from .errors import invalid_bookmark
from .explain import explain
from .fields import parse_field, projector, set_field
from .indexes import ALL_DOCS, Index, design_member, from_design_docs, row_maker, types_of
from .matching import Predicate, compile_node, matcher
from .naming import generated_name
from .options import bulk_delete_options, find_options, index_options
from .planner import Plan, plan, scan_warning
from .required import plausible
from .selector import Node
from .terms import erlang
from .text import entry_maker, nouveau_entry_maker
from .text_query import lucene, nouveau_sort_fields, sort_fields

__all__ = [
    "ALL_DOCS",
    "Index",
    "Node",
    "Plan",
    "Predicate",
    "bulk_delete_options",
    "compile_node",
    "design_member",
    "entry_maker",
    "erlang",
    "explain",
    "find_options",
    "from_design_docs",
    "generated_name",
    "index_options",
    "invalid_bookmark",
    "lucene",
    "matcher",
    "nouveau_entry_maker",
    "nouveau_sort_fields",
    "pack",
    "parse_field",
    "plan",
    "projector",
    "plausible",
    "row_maker",
    "types_of",
    "scan_warning",
    "set_field",
    "sort_fields",
    "unpack",
]
