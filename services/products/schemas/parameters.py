"""The query parameters of lists as OpenAPI shows them; `resources.questions` reads them."""

from services.products.declarations import limits
from services.products.rules.facets import FACET_FIELDS
from services.products.rules.searching import SORTS
from services.products.search_indexes import PAIR_FIELDS
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES

_TEXT = {"type": "string"}
_CATEGORY = {"type": "string", "pattern": "^([^#]+(#[^#]+)*)?$", "maxLength": 2500}
_FACET = "|".join([*FACET_FIELDS, *PAIR_FIELDS, *(f"{name}[.][^,]+" for name in PAIR_FIELDS)])
MAX_FACETS_LENGTH = 500
_FACETS = f"^(({_FACET}|),)*({_FACET}|)$"
_WHOLE = {"type": "integer", "minimum": 0, "maximum": limits.MAX_PRICE}


LIST_PARAMETERS = [
    {"in": "query", "name": name, "schema": schema, "description": description}
    for name, schema, description in (
        ("category", _CATEGORY, "a category's path: its levels joined by `#`"),
        ("subcategories", {"type": "boolean"}, "and everything below it"),
        (
            "q",
            {"type": "string", "maxLength": 200},
            'every word must match, in any of its forms, else most of them (see `dropped_words`); "these words" in a row; the last may be unfinished',
        ),
        ("brand", {"type": "array", "items": _TEXT, "maxItems": 20}, "one of these"),
        ("colour", {"type": "array", "items": _TEXT, "maxItems": 20}, "one of these"),
        ("min_price", _WHOLE, "in minor units"),
        ("max_price", _WHOLE, "in minor units"),
        (
            "currency",
            {"type": "string", "enum": sorted(CURRENCIES)},
            "only what is priced in it, so that prices compare",
        ),
        (
            "language",
            {"type": "string", "pattern": f"^({LANGUAGE}|)$"},
            "names, descriptions and labels are answered in, and words looked for; the shop's own when left out, or where something is not translated. "
            "Filters and categories are named as in the shop's own",
        ),
        ("sort", {"type": "string", "enum": list(SORTS)}, "by relevance when there are words, else by name"),
        (
            "facets",
            {"type": "string", "pattern": _FACETS, "maxLength": MAX_FACETS_LENGTH},
            f"to count, with commas: {', '.join([*FACET_FIELDS, *(f'{name}.NAME' for name in PAIR_FIELDS)])}; each counts what all filters "
            "but its own leave; price in one currency only: name it where there are several",
        ),
        (
            "stale_facets",
            {"type": "boolean"},
            "counts of one category may be some seconds old, and cost no database call then",
        ),
        (
            "analytics",
            {"type": "boolean", "default": True},
            "false for a search that no customer typed: it is not counted among what customers search for",
        ),
        (
            "collapse",
            {"type": "boolean"},
            "leave out, in a search by relevance, what other rows name in `others`: one row for each title",
        ),
        ("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}, ""),
        ("cursor", _TEXT, "`next` of the page before"),
    )
]
