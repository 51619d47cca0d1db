"""What admins say about search, and what customers searched for: documents of the products database beside the catalogue.

    #search:synonym:{term}      #search:redirect:{query}      #search:pin:{query}      one of a kind for each query
    #search:hidden:{query}      a query that is suggested to nobody
    #searchhistory:{ulid}       who wrote or removed which of these, and when
    #searches:{yyyy-mm-dd}      what was searched for on a day, counted

No category's path begins with `#`, so these partitions hold nothing else. A query in an id is words with single spaces.
"""

from typing import Annotated, Any, Final, NotRequired

from services.products.declarations.limits import PRODUCTID
from shared.couch import DocumentType, StoredDocument, document_id, time_ordered_id
from shared.fields import Boolean, Declaration, Moment, Text, TextList

RULES_PARTITION, SEARCHES_PARTITION, HISTORY_PARTITION = "#search", "#searches", "#searchhistory"
MAX_RULE_QUERY, MAX_SYNONYMS, MAX_PINS, MAX_RULES = 100, 20, 10, 1000
ADDRESS: Final = r"|/([^\s\\<>\"/][^\s\\<>\"]*)?"
"""A path of this site: `//host` and `/\\host` lead elsewhere."""


class SearchRule(StoredDocument):
    """What every rule has: the query it is about, and who wrote it when."""

    query: Annotated[
        str,
        Text(1, MAX_RULE_QUERY, writable=False, description="its words, in lower case, with single spaces"),
    ]
    edited: Annotated[str, Moment(writable=False)]
    edited_by: Annotated[str, Text(1, 100, writable=False, description="the userid of an admin")]


class Synonym(SearchRule):
    """Who searches for the query also finds what has one of its synonyms; the other way round too, unless it is one-way."""

    synonyms: Annotated[
        list[str], TextList(Text(1, MAX_RULE_QUERY), 1, MAX_SYNONYMS, description="each a word or several")
    ]
    one_way: NotRequired[
        Annotated[bool, Boolean(default=False, description="the query is not searched for when a synonym is")]
    ]


class Redirect(SearchRule):
    """Who searches for the query is led to a category or to an address within the shop: one of both is given."""

    category: NotRequired[
        Annotated[str, Text(0, 2500, default="", description="a category's path: its levels joined by `#`")]
    ]
    address: NotRequired[
        Annotated[
            str,
            Text(
                0,
                1000,
                pattern=ADDRESS,
                normalize=False,
                default="",
                pattern_message="Must be an address within the shop: a path that begins with one slash.",
                description="a path within the shop, such as /product/mug-1",
            ),
        ]
    ]


class Pin(SearchRule):
    """Products that are shown first for the query, in this order, whether they have its words or not."""

    productids: Annotated[
        list[str],
        TextList(Text(1, 64, pattern=PRODUCTID, pattern_message="Not a product's id."), 1, MAX_PINS),
    ]
    places: list[str]


class HiddenQuery(SearchRule):
    """The query is not suggested to others who begin to type it, however often it was searched for."""

    reason: NotRequired[Annotated[str, Text(0, 200, default="", description="for the shop's people")]]


class SearchRuleChange(StoredDocument):
    """A rule was written with this content, or removed with it. Kept for good."""

    kind: str
    query: str
    action: str
    content: dict[str, Any]
    date: str
    actor: str


SYNONYM = DocumentType.declared("synonym", Synonym)
REDIRECT = DocumentType.declared("searchredirect", Redirect)
PIN = DocumentType.declared("searchpin", Pin)
HIDDEN_QUERY = DocumentType.declared("hiddenquery", HiddenQuery)
SEARCH_RULE_CHANGE = DocumentType.declared("searchrulechange", SearchRuleChange)
SYNONYM_FIELDS, REDIRECT_FIELDS, PIN_FIELDS = Declaration(Synonym), Declaration(Redirect), Declaration(Pin)
HIDDEN_QUERY_FIELDS = Declaration(HiddenQuery)
WRITTEN, REMOVED = "written", "removed"


class DailySearches(StoredDocument):
    """`queries` is {query: [how often it was searched for, how many products it found the last time, by how many people]};
    `flushes` are the last ones that were added. Nothing tells who searched."""

    date: str
    queries: dict[str, list[int | None]]
    flushes: list[str]


DAILY_SEARCHES = DocumentType.declared("dailysearches", DailySearches)


def rule_id(kind: str, query: str) -> str:
    """The id is the claim: one rule of a kind for each query."""
    return document_id(RULES_PARTITION, f"{kind}:{query}")


def new_change_id() -> str:
    """Text order is time order."""
    return document_id(HISTORY_PARTITION, time_ordered_id())


def searches_id(day: str) -> str:
    return document_id(SEARCHES_PARTITION, day)
