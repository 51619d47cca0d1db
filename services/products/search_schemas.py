"""Request and response shapes of what admins say about search, and read of what customers search for."""

import marshmallow as ma

from services.products.actions.query_counts import FOUND, NOTHING
from services.products.search_documents import PIN_FIELDS, REDIRECT_FIELDS, SYNONYM_FIELDS
from shared.web import PageArgs, Shape, page_schema, request_schema, response_schema
from shared.web.fields import Whole

SynonymContent = request_schema("SynonymContent", SYNONYM_FIELDS)
Synonym = response_schema("Synonym", SYNONYM_FIELDS)
Synonyms = page_schema("Synonyms", Synonym)

RedirectContent = request_schema("RedirectContent", REDIRECT_FIELDS)
Redirect = response_schema("Redirect", REDIRECT_FIELDS)
Redirects = page_schema("Redirects", Redirect)

PinContent = request_schema("PinContent", PIN_FIELDS)
Pin = response_schema("Pin", PIN_FIELDS)
Pins = page_schema("Pins", Pin)


class CountedQuery(Shape):
    """A query, how often customers searched for it in the last 30 days, and how many products it found the last time."""

    query = ma.fields.String(required=True)
    searches = Whole(1, required=True)
    found = Whole(0, required=True)
    rules = ma.fields.List(
        ma.fields.String(validate=ma.validate.OneOf(["synonym", "redirect", "pin"])),
        required=True,
        metadata={"description": "kinds of rules that there are for it"},
    )


CountedQueries = page_schema("CountedQueries", CountedQuery)


class CountedQueriesArgs(PageArgs):
    found = ma.fields.String(
        load_default=NOTHING,
        validate=ma.validate.OneOf(list(FOUND)),
        metadata={"description": "those that found nothing, little (3 products at most), or any"},
    )
