"""Text search from one declaration, in the dialect the server speaks. No I/O; the user's text is data, never syntax.

`fields` what is indexed · `words` how text becomes words, the same in Python and in JavaScript · `languages` which forms of a
word are the same word · `query` what is asked, and its Lucene text · `keywords` the view that serves where the server has no text search, `keyword_lists` whole lists
of it in an order.
"""

from .clauses import MIN_PREFIX, begun_pair, is_forgivable
from .fields import (
    DOCUMENT_FIELD,
    NOUVEAU_NAME,
    NUMBER_BANDS,
    NouveauIndex,
    SearchField,
    SearchIndex,
    Translation,
    as_javascript,
    field_named,
    members_function,
    search_fields,
)
from .languages import ENGLISH, GERMAN, LANGUAGES, Language, language_named
from .query import Band, SearchQuery, quoted, search_for
from .words import compounds_of, letters_of, pairs_of, words_of

__all__ = [
    "MIN_PREFIX",
    "ENGLISH",
    "GERMAN",
    "LANGUAGES",
    "DOCUMENT_FIELD",
    "NOUVEAU_NAME",
    "NUMBER_BANDS",
    "Band",
    "Language",
    "NouveauIndex",
    "SearchField",
    "field_named",
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
    "quoted",
    "search_fields",
    "search_for",
    "words_of",
]
