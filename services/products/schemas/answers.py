"""What products' answers show."""

import marshmallow as ma

from services.products import documents
from services.products.product_types import PRODUCT_TYPE_FIELDS
from services.products.schemas.requests import ReservationLine
from shared.web import Shape, page_schema, response_schema
from shared.web.fields import MoneyShape, StrictInteger, Time

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
    size = StrictInteger(0, required=True, metadata={"description": "of its largest file, in bytes"})
    width = StrictInteger(1, required=True, metadata={"description": "of its largest file, in pixels"})
    height = StrictInteger(1, required=True)


class Category(Shape):
    """A node of the menu; the root has no name."""

    name = ma.fields.String(required=True)
    path = ma.fields.String(required=True, metadata={"description": "the levels joined by `#`"})
    count = StrictInteger(0, required=True, metadata={"description": "products here and below"})
    label = ma.fields.String(metadata={"description": "as customers read it, where it is not the name"})
    picture = ma.fields.String(metadata={"description": "its address"})
    text = ma.fields.String(metadata={"description": "what stands above its products"})
    moved = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.String(),
        metadata={"description": "of the root: new paths of categories that have moved, by their old ones"},
    )
    children = ma.fields.List(ma.fields.Nested(lambda: Category()), required=True)


class Crumb(Shape):
    name = ma.fields.String(required=True)
    path = ma.fields.String(required=True)


class FacetValue(Shape):
    value = ma.fields.String(required=True)
    label = ma.fields.String(
        metadata={"description": "what it is called in the language asked for, where that is something else"}
    )
    count = StrictInteger(0, required=True)
    from_ = StrictInteger(0, data_key="from", metadata={"description": "price bands: minor units, from here"})
    to = StrictInteger(
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
    stock = StrictInteger(0, required=True)


class OtherOfEarlierRow(OtherProduct):
    """A product with the same title as a row of an earlier page."""

    name = ma.fields.String(required=True)


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
    title_shown_before = ma.fields.Boolean(
        metadata={"description": "the title and brand are those of a row on an earlier page of this list"}
    )


class ProductList(Shape):
    items = ma.fields.List(ma.fields.Nested(ListedProduct), required=True)
    next = ma.fields.String(required=True, allow_none=True)
    others_of_earlier_rows = ma.fields.List(
        ma.fields.Nested(OtherOfEarlierRow),
        metadata={"description": "with `collapse`: products whose title is a row of an earlier page"},
    )
    total = StrictInteger(0, metadata={"description": "where it is cheap to know"})
    facets = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.List(ma.fields.Nested(FacetValue)))
    facet_names = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.String(),
        metadata={
            "description": "what the shop calls the attributes among the facets, and in another language the options"
        },
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
    described_words = ma.fields.List(
        ma.fields.String(),
        metadata={
            "description": "words that products have in their descriptions only: what has them comes first, what has the other words follows"
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
    count = StrictInteger(0)


class Suggestions(Shape):
    items = ma.fields.List(ma.fields.Nested(Suggestion), required=True)


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


class Offers(Shape):
    items = ma.fields.List(ma.fields.Nested(Offer), required=True)


class LookedUp(Shape):
    found = ma.fields.List(ma.fields.Nested(Offer), required=True)
    missing = ma.fields.List(ma.fields.String(), required=True)


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


class Movement(Shape):
    slot = StrictInteger(1, required=True)
    delta = StrictInteger(required=True)
    level = StrictInteger(0, required=True)
    reason = ma.fields.String(required=True)
    note = ma.fields.String()
    orderid = ma.fields.String()
    date = Time(required=True)


class Stock(Shape):
    productid = ma.fields.String(required=True)
    sku = ma.fields.String(metadata={"description": "of a variant"})
    stock = StrictInteger(0, required=True, metadata={"description": "the exact level"})
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


class Reserved(Shape):
    reserved = ma.fields.List(ma.fields.Nested(ReservationLine), required=True)


class WaitingLine(Shape):
    sku = ma.fields.String(
        required=True, metadata={"description": "or the productid of what has no variants"}
    )
    waiting = StrictInteger(0, required=True)


class WaitingOrder(Shape):
    orderid = ma.fields.String(required=True)
    items = ma.fields.List(ma.fields.Nested(WaitingLine), required=True)


class WaitingOrders(Shape):
    orders = ma.fields.List(ma.fields.Nested(WaitingOrder), required=True)


class Forgotten(Shape):
    reviews = StrictInteger(0, required=True, metadata={"description": "whose texts were emptied"})
    searches = StrictInteger(
        0, required=True, metadata={"description": "queries with the name that are no longer counted"}
    )


class Ended(Shape):
    orderid = ma.fields.String(required=True)
    outcome = ma.fields.String(required=True)


class NotEdited(Shape):
    productid = ma.fields.String(required=True)
    code = ma.fields.String(required=True)
    detail = ma.fields.String(required=True)


class StockNotChanged(Shape):
    sku = ma.fields.String(required=True)
    code = ma.fields.String(required=True)
    detail = ma.fields.String(required=True)


class StockReport(Shape):
    changed = StrictInteger(0, required=True)
    unchanged = StrictInteger(0, required=True)
    failed = ma.fields.List(ma.fields.Nested(StockNotChanged), required=True)


class BulkEditReport(Shape):
    changed = StrictInteger(0, required=True)
    unchanged = StrictInteger(0, required=True)
    failed = ma.fields.List(ma.fields.Nested(NotEdited), required=True)
