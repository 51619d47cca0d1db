"""Request and response shapes of what admins say about search, and read of what customers search for."""

from services.products.search_documents import PIN_FIELDS, REDIRECT_FIELDS, SYNONYM_FIELDS
from shared.web import page_schema, request_schema, response_schema

SynonymContent = request_schema("SynonymContent", SYNONYM_FIELDS)
Synonym = response_schema("Synonym", SYNONYM_FIELDS)
Synonyms = page_schema("Synonyms", Synonym)

RedirectContent = request_schema("RedirectContent", REDIRECT_FIELDS)
Redirect = response_schema("Redirect", REDIRECT_FIELDS)
Redirects = page_schema("Redirects", Redirect)

PinContent = request_schema("PinContent", PIN_FIELDS)
Pin = response_schema("Pin", PIN_FIELDS)
Pins = page_schema("Pins", Pin)
