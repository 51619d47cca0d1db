"""Request and response shapes: the whitelist of what is accepted and the OpenAPI page."""

from typing import Any

import marshmallow as ma

from services.products import declarations, documents
from services.products.documents import PAIR_FIELDS
from services.products.product_types import PRODUCT_TYPE_FIELDS
from services.products.rules import product as rules
from services.products.rules.facets import FACET_FIELDS
from services.products.rules.searching import SORTS
from shared.money import CURRENCIES
from shared.web import PageArgs, Shape, page_schema, request_schema, response_schema
from shared.web.fields import MoneyShape, Text, Time, Whole

ProductContent = request_schema("ProductContent", documents.PRODUCT_FIELDS, rules.checked)
Product = response_schema(
    "Product",
    documents.PRODUCT_FIELDS,
    {
        "price": ma.fields.Nested(
            MoneyShape,
            required=True,
            allow_none=True,
            metadata={"description": "what it costs; null where it is not sold in the currency asked for"},
        )
    },
)


ProductTypeContent = request_schema("ProductTypeContent", PRODUCT_TYPE_FIELDS)
ProductType = response_schema("ProductType", PRODUCT_TYPE_FIELDS)
ProductTypes = page_schema("ProductTypes", ProductType)


class Specification(Shape):
    """An attribute as the product's page lists it."""

    code = ma.fields.String(required=True)
    name = ma.fields.String(required=True)
    unit = ma.fields.String(required=True)
    value = ma.fields.Raw(required=True)


class Picture(Shape):
    """A picture that was stored."""

    id = ma.fields.String(required=True, metadata={"description": "for a product's `pictures`"})
    image = ma.fields.String(required=True, metadata={"description": "its address, for a product's `image`"})
    content_type = ma.fields.String(required=True)
    size = Whole(0, required=True, metadata={"description": "of its largest file, in bytes"})
    width = Whole(1, required=True, metadata={"description": "of its largest file, in pixels"})
    height = Whole(1, required=True)


class Category(Shape):
    """A node of the menu; the root has no name."""

    name = ma.fields.String(required=True)
    path = ma.fields.String(required=True, metadata={"description": "the levels joined by `#`"})
    count = Whole(0, required=True, metadata={"description": "products here and below"})
    children = ma.fields.List(ma.fields.Nested(lambda: Category()), required=True)


class Crumb(Shape):
    name = ma.fields.String(required=True)
    path = ma.fields.String(required=True)


class FacetValue(Shape):
    value = ma.fields.String(required=True)
    count = Whole(0, required=True)
    from_ = Whole(0, data_key="from", metadata={"description": "price bands: minor units, from here"})
    to = Whole(
        0, allow_none=True, metadata={"description": "price bands: to here; null without an upper end"}
    )


class SearchRedirect(Shape):
    """Where the shop's people want a query to lead: a category or an address within the shop."""

    category = ma.fields.String(metadata={"description": "a category's path"})
    address = ma.fields.String(metadata={"description": "a path within the shop"})


class OtherProduct(Shape):
    """A product with the same title as a row of a search."""

    productid = ma.fields.String(required=True)
    price = ma.fields.Nested(MoneyShape, required=True)
    stock = Whole(0, required=True)


class ListedProduct(Product):  # type: ignore[misc, valid-type]  # generated from the declaration
    others = ma.fields.List(
        ma.fields.Nested(OtherProduct),
        metadata={
            "description": "in a search by relevance, those of this page with the same title and brand"
        },
    )
    listed_under = ma.fields.String(
        metadata={
            "description": "the product of the same title and brand whose `others` name it; it stands beneath that one"
        }
    )


class ProductList(Shape):
    items = ma.fields.List(ma.fields.Nested(ListedProduct), required=True)
    next = ma.fields.String(required=True, allow_none=True)
    total = Whole(0, metadata={"description": "where it is cheap to know"})
    facets = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.List(ma.fields.Nested(FacetValue)))
    facet_names = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.String(),
        metadata={"description": "what the shop calls the attributes among the facets"},
    )
    breadcrumbs = ma.fields.List(ma.fields.Nested(Crumb))
    did_you_mean = ma.fields.String(metadata={"description": "the same as `showing_results_for`"})
    showing_results_for = ma.fields.String(
        metadata={
            "description": "the query as it was understood: words that no product has, or hardly any, are taken for what far more have; "
            "products that have the words as they were typed come first; in quotes they are taken as they are"
        }
    )
    dropped_words = ma.fields.List(
        ma.fields.String(),
        metadata={
            "description": "words that no product has together with the others: these products are without them"
        },
    )
    redirect = ma.fields.Nested(
        SearchRedirect, metadata={"description": "where a shop's page should lead instead"}
    )
    unsupported = ma.fields.List(
        ma.fields.String(), metadata={"description": "what this server's search cannot do"}
    )
    cannot = ma.fields.List(
        ma.fields.String(), metadata={"description": "the former name of `unsupported`", "deprecated": True}
    )


class Suggestion(Shape):
    kind = ma.fields.String(
        required=True, validate=ma.validate.OneOf(["brand", "category", "product", "query"])
    )
    text = ma.fields.String(required=True)
    productid = ma.fields.String()
    path = ma.fields.String()
    count = Whole(0)


class Suggestions(Shape):
    items = ma.fields.List(ma.fields.Nested(Suggestion), required=True)


class Lookup(Shape):
    productids = ma.fields.List(
        Text(1, 100), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )
    currency = ma.fields.String(
        load_default=None,
        allow_none=True,
        validate=ma.validate.OneOf(sorted(CURRENCIES)),
        metadata={"description": "prices are answered in; the shop's own when left out"},
    )
    group = Text(
        1,
        40,
        load_default=None,
        allow_none=True,
        metadata={
            "description": "whose prices, asked by another service; else those of the token's customer group"
        },
    )


class Offer(Product):  # type: ignore[misc, valid-type]  # generated from the declaration
    """A product as it is bought by the id asked for: a variant has its own price, stock and picture."""

    sku = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "null where a variant must be chosen"}
    )
    for_sale = ma.fields.Boolean(
        required=True, metadata={"description": "false for a variant that is inactive or gone"}
    )
    not_sold_in = ma.fields.String(
        metadata={"description": "the currency that was asked for, where the product has no price in it"}
    )
    selected_options = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.String())


class LookedUp(Shape):
    found = ma.fields.List(ma.fields.Nested(Offer), required=True)
    missing = ma.fields.List(ma.fields.String(), required=True)


ReviewContent = request_schema("ReviewContent", documents.REVIEW_FIELDS.select("stars", "title", "text"))
Review = response_schema("Review", documents.REVIEW_FIELDS)


class ReviewEligibility(Shape):
    may_review = ma.fields.Boolean(required=True)
    reason = ma.fields.String(
        required=True, allow_none=True, validate=ma.validate.OneOf(["not_a_buyer", "already_reviewed"])
    )


class ReviewList(Shape):
    items = ma.fields.List(ma.fields.Nested(Review), required=True)
    next = ma.fields.String(required=True, allow_none=True)


class RelatedProducts(Shape):
    items = ma.fields.List(ma.fields.Nested(Product), required=True)


class ProductWithReviews(Product):  # type: ignore[misc, valid-type]  # generated from the declaration
    reviews = ma.fields.Nested(ReviewList, metadata={"description": "with `reviews=N`"})
    related = ma.fields.List(
        ma.fields.Nested(Product),
        metadata={"description": "with `reviews=N`: what goes with it, as it was a minute ago at most"},
    )
    specifications = ma.fields.List(
        ma.fields.Nested(Specification), metadata={"description": "with `reviews=N`: its attributes, named"}
    )


class StockChange(Shape):
    delta = Whole(-declarations.MAX_STOCK, declarations.MAX_STOCK, required=True)
    reason = Text(1, 200, required=True)
    sku = Text(1, 64, load_default=None, allow_none=True, metadata={"description": "of a variant"})


class StockArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    sku = Text(1, 64, load_default=None, metadata={"description": "of a variant"})


class Movement(Shape):
    slot = Whole(1, required=True)
    delta = Whole(required=True)
    level = Whole(0, required=True)
    reason = ma.fields.String(required=True)
    note = ma.fields.String()
    orderid = ma.fields.String()
    date = Time(required=True)


class Stock(Shape):
    productid = ma.fields.String(required=True)
    sku = ma.fields.String(metadata={"description": "of a variant"})
    stock = Whole(0, required=True, metadata={"description": "the exact level"})
    movements = ma.fields.List(ma.fields.Nested(Movement), required=True)


class PriceChange(Shape):
    date = Time(required=True)
    sku = ma.fields.String(metadata={"description": "of the variant that it is of"})
    before = ma.fields.Nested(MoneyShape, required=True, allow_none=True)
    after = ma.fields.Nested(MoneyShape, required=True, allow_none=True)
    kind = ma.fields.String(
        validate=ma.validate.OneOf(["compare_at", "sale", "group"]),
        metadata={"description": "what else than the regular price it is"},
    )
    group = ma.fields.String(metadata={"description": "the customer group that pays it"})
    sale_from = Time()
    sale_until = Time()
    by = ma.fields.String(metadata={"description": "the user id of who changed it"})


class PriceHistory(Shape):
    items = ma.fields.List(ma.fields.Nested(PriceChange), required=True)
    next = ma.fields.String(required=True, allow_none=True)


class FailedLine(Shape):
    line = Whole(1, required=True)
    code = ma.fields.String(required=True)
    detail = ma.fields.String(required=True)


class Imported(Shape):
    created = Whole(0, required=True)
    updated = Whole(0, required=True)
    unchanged = Whole(0, required=True)
    failed = ma.fields.List(ma.fields.Nested(FailedLine), required=True)
    notes = ma.fields.List(
        ma.fields.Nested(FailedLine),
        metadata={"description": "of lines that were taken: what was changed or left aside"},
    )
    dry_run = ma.fields.Boolean(metadata={"description": "nothing was written"})


class ImportProgress(Shape):
    lines = Whole(0, required=True)
    created = Whole(0, required=True)
    updated = Whole(0, required=True)
    unchanged = Whole(0, required=True)
    failed = Whole(0, required=True)
    done = ma.fields.Boolean()


class ReservationLine(Shape):
    productid = Text(1, 64, required=True)
    sku = Text(0, 64, load_default="", metadata={"description": "of a variant"})
    taxonomy = ma.fields.List(
        Text(1, 200), required=True, validate=ma.validate.Length(1, declarations.MAX_LEVELS)
    )
    quantity = Whole(1, 1_000_000, required=True)


class Reservation(Shape):
    orderid = Text(1, 100, required=True, pattern="^[A-Za-z0-9_.-]+$")
    items = ma.fields.List(
        ma.fields.Nested(ReservationLine), required=True, validate=ma.validate.Length(1, 100)
    )
    expires = Time(required=True)
    again = ma.fields.Boolean(load_default=False, metadata={"description": "they may be kept for it already"})


class ReservationEnd(Shape):
    items = ma.fields.List(
        ma.fields.Nested(ReservationLine), required=True, validate=ma.validate.Length(1, 100)
    )
    reference = Text(1, 60, load_default="release", pattern="^[A-Za-z0-9_.-]+$")


class Reserved(Shape):
    reserved = ma.fields.List(ma.fields.Nested(ReservationLine), required=True)


class Ended(Shape):
    orderid = ma.fields.String(required=True)
    outcome = ma.fields.String(required=True)


class ImportArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    id = Text(
        1,
        60,
        load_default=None,
        pattern="^[A-Za-z0-9_.-]+$",
        metadata={"description": "progress is told under this name"},
    )
    format = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(["shopify", "woocommerce"]),
        metadata={"description": "the file is a product export (CSV) of that shop"},
    )
    dry_run = ma.fields.Boolean(
        load_default=False, metadata={"description": "say what would become of each line; write nothing"}
    )
    currency = ma.fields.String(
        load_default="GBP",
        validate=ma.validate.OneOf(sorted(CURRENCIES)),
        metadata={"description": "with `format`: of its prices, which such a file does not name"},
    )
    untracked_stock = ma.fields.Integer(
        load_default=0,
        validate=ma.validate.Range(0, declarations.MAX_STOCK),
        metadata={"description": "with `format`: the stock of what the other shop does not count"},
    )
    pictures = ma.fields.String(
        load_default="fetch",
        validate=ma.validate.OneOf(["fetch", "reference", "none"]),
        metadata={
            "description": "with `format`: fetch them from public addresses and keep them here, show the first from where it is, or leave them aside"
        },
    )
    from_line = ma.fields.Integer(
        load_default=1, validate=ma.validate.Range(1), metadata={"description": "skip the lines before"}
    )


class LowStockArgs(PageArgs):
    most = ma.fields.Integer(load_default=None, validate=ma.validate.Range(0, declarations.MAX_STOCK))


class UnpublishedArgs(PageArgs):
    status = ma.fields.String(
        load_default=declarations.DRAFT,
        validate=ma.validate.OneOf(declarations.UNPUBLISHED),
        metadata={"description": "scheduled: with a time to be published that is to come"},
    )
    q = Text(0, 200, load_default="")


class BulkEditContent(Shape):
    """The same change for many products: of the stock, or of what else is given."""

    productids = ma.fields.List(
        Text(1, 64), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )
    status = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(declarations.STATUSES),
        metadata={"description": "a time to be published is forgotten, unless it is given too"},
    )
    publish_from = Text(0, 24, load_default=None, pattern=f"^(|{declarations.MOMENT})$")
    taxonomy = ma.fields.List(
        Text(1, 200, pattern="^[^#]*$"),
        load_default=None,
        validate=ma.validate.Length(1, declarations.MAX_LEVELS),
        metadata={"description": "the category they move to"},
    )
    price_percent = ma.fields.Float(
        load_default=None,
        validate=ma.validate.Range(-99.99, 1000),
        metadata={"description": "of all their prices: -10 takes a tenth off; two decimals at most"},
    )
    stock_delta = Whole(-declarations.MAX_STOCK, declarations.MAX_STOCK, load_default=None)
    reason = Text(0, 200, load_default="", metadata={"description": "why the stock changes"})


class NotEdited(Shape):
    productid = ma.fields.String(required=True)
    code = ma.fields.String(required=True)
    detail = ma.fields.String(required=True)


class BulkEditReport(Shape):
    changed = Whole(0, required=True)
    unchanged = Whole(0, required=True)
    failed = ma.fields.List(ma.fields.Nested(NotEdited), required=True)


_TEXT = {"type": "string"}
_CATEGORY = {"type": "string", "pattern": "^([^#]+(#[^#]+)*)?$", "maxLength": 2500}
_FACET = "|".join([*FACET_FIELDS, *PAIR_FIELDS, *(f"{name}[.][^,]+" for name in PAIR_FIELDS)])
MAX_FACETS_LENGTH = 500
_FACETS = f"^(({_FACET}|),)*({_FACET}|)$"
_WHOLE = {"type": "integer", "minimum": 0, "maximum": declarations.MAX_PRICE}


def if_match(description: str = "the ETag that was read") -> dict[str, Any]:
    """The header of a write that must not replace a later one, for OpenAPI."""
    return {"in": "header", "name": "If-Match", "schema": {"type": "string"}, "description": description}


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
