"""Views: what a design document defines, when it may be stored, and how a view is queried."""

from .design import Design, View, filter_by_view, open_design, parse, sources, validate_design
from .parameters import ViewQuery, body_query, from_body, url_query, validate
from .query import pieces, small_answer

__all__ = [
    "Design",
    "View",
    "ViewQuery",
    "body_query",
    "filter_by_view",
    "from_body",
    "open_design",
    "parse",
    "pieces",
    "small_answer",
    "sources",
    "url_query",
    "validate",
    "validate_design",
]
