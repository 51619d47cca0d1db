"""The desk's forms for the rules of search."""

from services.storefront.forms.base import Field

QUERY = Field(
    "query", "Query", max_length=100, help="What customers type. Plurals and capital letters do not matter."
)


SYNONYM = (
    QUERY,
    Field("synonyms", "Synonyms", max_length=2000, help="Separated by commas; each a word or several."),
    Field(
        "one_way",
        "One way only: who searches for a synonym does not find the query's",
        "check",
        required=False,
    ),
)


SYNONYM_LINES = (
    Field(
        "lines",
        "A line for each",
        "textarea",
        max_length=20_000,
        help="sofa = settee, couch; one way only: trainers > running shoes. At most 20 lines; each replaces what there is for its query.",
    ),
)


REDIRECT = (
    QUERY,
    Field(
        "category",
        "Department",
        required=False,
        max_length=2500,
        help="From the top, joined by #: Home#Kitchen#Mugs",
    ),
    Field(
        "address",
        "Or a page",
        required=False,
        max_length=1000,
        help="A path of this shop, such as /product/mug-1.",
    ),
)


PIN = (
    QUERY,
    Field(
        "productids",
        "Products",
        max_length=700,
        help="Their ids in the order to show them, separated by commas; at most 10.",
    ),
)


HIDDEN_QUERY = (
    QUERY,
    Field("reason", "Why", required=False, max_length=200, help="For the shop's people."),
)
