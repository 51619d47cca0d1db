"""Request and response shapes of what admins say about search, and read of what customers search for."""

import marshmallow as ma

from services.products.actions.query_counts import FOUND, NOTHING
from services.products.search_documents import (
    HIDDEN_QUERY_FIELDS,
    PIN_FIELDS,
    REDIRECT_FIELDS,
    REMOVED,
    SYNONYM_FIELDS,
    WRITTEN,
)
from shared.web import PageArgs, Shape, page_schema, request_schema, response_schema
from shared.web.fields import StrictInteger

SynonymContent = request_schema("SynonymContent", SYNONYM_FIELDS)
Synonym = response_schema("Synonym", SYNONYM_FIELDS)
Synonyms = page_schema("Synonyms", Synonym)

RedirectContent = request_schema("RedirectContent", REDIRECT_FIELDS)
Redirect = response_schema("Redirect", REDIRECT_FIELDS)
Redirects = page_schema("Redirects", Redirect)

PinContent = request_schema("PinContent", PIN_FIELDS)
Pin = response_schema("Pin", PIN_FIELDS)
Pins = page_schema("Pins", Pin)


HiddenQueryContent = request_schema("HiddenQueryContent", HIDDEN_QUERY_FIELDS)
HiddenQuery = response_schema("HiddenQuery", HIDDEN_QUERY_FIELDS)
HiddenQueries = page_schema("HiddenQueries", HiddenQuery)

KINDS = ("synonym", "redirect", "pin", "hidden")


class SearchRuleChange(Shape):
    """A rule of search that an admin wrote or removed; `content` is what it said."""

    kind = ma.fields.String(required=True, validate=ma.validate.OneOf(KINDS))
    query = ma.fields.String(required=True)
    action = ma.fields.String(required=True, validate=ma.validate.OneOf([WRITTEN, REMOVED]))
    content = ma.fields.Dict(keys=ma.fields.String(), required=True)
    date = ma.fields.String(required=True)
    actor = ma.fields.String(required=True, metadata={"description": "the userid of an admin"})


SearchRuleChanges = page_schema("SearchRuleChanges", SearchRuleChange)


class CountedQuery(Shape):
    """A query, how often customers searched for it in the last 30 days, how many people did, and how many products it found the last time."""

    query = ma.fields.String(required=True)
    searches = StrictInteger(1, required=True)
    people = StrictInteger(1, required=True, metadata={"description": "somebody is counted once a day"})
    found = StrictInteger(0, required=True)
    rules = ma.fields.List(
        ma.fields.String(validate=ma.validate.OneOf(KINDS)),
        required=True,
        metadata={"description": "kinds of rules that there are for it"},
    )


class RepeatedSearch(Shape):
    q = ma.fields.String(required=True, validate=ma.validate.Length(1, 200))
    address = ma.fields.String(
        required=True, validate=ma.validate.Length(max=100), metadata={"description": "whose search it was"}
    )


class RepeatedSearches(Shape):
    searches = ma.fields.List(
        ma.fields.Nested(RepeatedSearch), required=True, validate=ma.validate.Length(1, 1000)
    )


CountedQueries = page_schema("CountedQueries", CountedQuery)


class CountedQueriesArgs(PageArgs):
    found = ma.fields.String(
        load_default=NOTHING,
        validate=ma.validate.OneOf(list(FOUND)),
        metadata={"description": "those that found nothing, little (3 products at most), or any"},
    )
