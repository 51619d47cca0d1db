"""The desk's forms for the rules of search."""

from services.storefront.forms.base import Field
from services.storefront.translation import gettext_noop as _

QUERY = Field(
    "query",
    _("Query"),
    max_length=100,
    help=_("What customers type. Plurals and capital letters do not matter."),
)


SYNONYM = (
    QUERY,
    Field("synonyms", _("Synonyms"), max_length=2000, help=_("Separated by commas; each a word or several.")),
    Field(
        "one_way",
        _("One way only: who searches for a synonym does not find the query's"),
        "check",
        required=False,
    ),
)


SYNONYM_LINES = (
    Field(
        "lines",
        _("A line for each"),
        "textarea",
        max_length=20_000,
        help=_(
            "sofa = settee, couch; one way only: trainers > running shoes. At most 20 lines; each replaces what there is for its query."
        ),
    ),
)


REDIRECT = (
    QUERY,
    Field(
        "category",
        _("Category"),
        required=False,
        max_length=2500,
        help=_("From the top, joined by #: Home#Kitchen#Mugs"),
    ),
    Field(
        "address",
        _("Or a page"),
        required=False,
        max_length=1000,
        help=_("A path of this shop, such as /product/mug-1."),
    ),
)


PIN = (
    QUERY,
    Field(
        "productids",
        _("Products"),
        max_length=700,
        help=_("Their ids in the order to show them, separated by commas; at most 10."),
    ),
)


HIDDEN_QUERY = (
    QUERY,
    Field("reason", _("Why"), required=False, max_length=200, help=_("For the shop's people.")),
)
