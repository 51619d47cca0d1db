"""The products database: its documents, their ids, and every question asked of it, each with its cost.

One partition is one category: its key is the taxonomy joined by `#`. Beside a product lie, under the same prefix,
its stock movements (a chain of numbered slots; the sum of old ones, `rules.roll_up`), reservations and their settlements, reviews, old prices and
notes of staff; all of these are written once. Only the product itself is ever updated; where it was before a move, a forward stays. What staff did is in
`audit{yyyy-mm}`, a partition for each month (`shared.audit`).
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from services.products.declarations import limits, product, related_documents, stock
from services.products.price_fields import prices_script, regular_prices
from services.products.search_indexes import PAIRS, SEARCH, SEARCH_IN_CATEGORY, search_indexes
from shared.couch import (
    DatabaseDesign,
    DocumentType,
    FindIndex,
    SearchIndex,
    View,
    document_id,
    members_function,
    split_id,
    view_source,
)
from shared.fields import Declaration

SEPARATOR: Final = "#"

PRODUCT = DocumentType.declared(
    "product",
    product.Product,
    schema=2,
    upgrades={1: lambda doc: {**doc, "prices": dict(regular_prices(doc))}},
)
"""Schema 2 has its prices by currency, and may have options and variants."""
PRODUCT_FIELDS: Final = Declaration(product.Product)
FORWARD = DocumentType.declared("forward", related_documents.Forward)
MOVEMENT = DocumentType.declared("movement", stock.Movement)
STOCK_TOTAL = DocumentType.declared("stocktotal", stock.StockTotal)
RESERVATION = DocumentType.declared("reservation", stock.Reservation)
SETTLEMENT = DocumentType.declared("settlement", stock.Settlement)
REVIEW = DocumentType.declared("review", related_documents.Review)
REVIEW_FIELDS: Final = Declaration(related_documents.Review)
PRODUCT_NOTE = DocumentType.declared("productnote", related_documents.ProductNote)
PRICE_CHANGE = DocumentType.declared("pricechange", related_documents.PriceChange)
SKU_CLAIM = DocumentType.declared("skuclaim", related_documents.SkuClaim)
PICTURE = DocumentType.declared("picture", related_documents.Picture)
PICTURE_ADDRESS = DocumentType.declared("pictureaddress", related_documents.PictureAddress)

_AMBIGUOUS = re.compile("%(?=3A|5F|25)")


def category_path(taxonomy: Sequence[str]) -> str:
    """["Home", "Kitchen"] -> "Home#Kitchen", as the API names a category."""
    return SEPARATOR.join(taxonomy)


def taxonomy_of(path: str) -> list[str]:
    """The levels of a category as it is asked for, accented letters spelt as products have them (NFC)."""
    return unicodedata.normalize("NFC", path).split(SEPARATOR)


def partition_of(taxonomy: Sequence[str]) -> str:
    """The partition key: the path, with what CouchDB forbids in one (a colon, an underscore in front) percent-encoded."""
    key = _AMBIGUOUS.sub("%25", category_path(taxonomy)).replace(":", "%3A")
    return "%5F" + key[1:] if key.startswith("_") else key


def product_id(taxonomy: Sequence[str], productid: str) -> str:
    return document_id(partition_of(taxonomy), productid)


def sku_claim_id(sku: str) -> str:
    """The id whose existence means that a SKU is taken."""
    return document_id(f"sku{sku}", "claim")


def stock_key(productid: str, sku: str = "") -> str:
    """Under what stock is kept beside a product: the product's own id where that is the SKU, else that of the variant."""
    return f"{productid}:sku:{sku}" if sku and sku != productid else productid


def slot_prefix(key: str) -> str:
    """`key` is a `stock_key`, here and below."""
    return f"{key}:stock:"


def slot_id(taxonomy: Sequence[str], key: str, slot: int) -> str:
    """Nine digits, so that text order is the order of the movements."""
    return document_id(partition_of(taxonomy), f"{slot_prefix(key)}{slot:09d}")


def movement_of(docid: str) -> tuple[str, str, int] | None:
    """Of a movement of stock the id of its product, the SKU of its variant ("" where the product is counted itself) and its slot; None for any
    other document and for a chain's first slot, which is written together with its product."""
    partition, key = split_id(docid)
    productid, _, rest = key.partition(":")
    sku = ""
    if rest.startswith("sku:"):
        sku, _, rest = rest.removeprefix("sku:").partition(":")
    if not rest.startswith("stock:") or rest == "stock:000000001":
        return None
    return document_id(partition, productid), sku, int(rest.removeprefix("stock:"))


def product_of_review(docid: str) -> str | None:
    """The id of the product that this is a review of; None for any other document."""
    partition, key = split_id(docid)
    productid, _, rest = key.partition(":")
    return document_id(partition, productid) if rest.startswith("review:") else None


def reservation_id(taxonomy: Sequence[str], key: str, orderid: str) -> str:
    return document_id(partition_of(taxonomy), f"{key}:order:{orderid}")


def settlement_id(taxonomy: Sequence[str], key: str, orderid: str, reference: str = "") -> str:
    """How a reservation ended; with a `reference`, goods that came back after the sale."""
    ending = return_prefix(key, orderid) + reference if reference else f"{key}:order:{orderid}:settled"
    return document_id(partition_of(taxonomy), ending)


def return_prefix(key: str, orderid: str) -> str:
    return f"{key}:order:{orderid}:back:"


def review_prefix(productid: str) -> str:
    return f"{productid}:review:"


def review_id(taxonomy: Sequence[str], productid: str, userid: str) -> str:
    """The id is the claim: one review of a product by one person."""
    return document_id(partition_of(taxonomy), f"{review_prefix(productid)}{userid}")


def note_prefix(productid: str) -> str:
    return f"{productid}:note:"


def note_id(taxonomy: Sequence[str], productid: str, id: str) -> str:
    return document_id(partition_of(taxonomy), f"{note_prefix(productid)}{id}")


def price_prefix(productid: str) -> str:
    return f"{productid}:price:"


def price_change_id(
    taxonomy: Sequence[str], productid: str, moment: str, sku: str = "", changed: str = ""
) -> str:
    """`changed`: what of the prices, where it is another than the price in the product's own currency."""
    rest = "".join(f":{each}" for each in ((sku, changed) if changed else (sku,) if sku else ()))
    return document_id(partition_of(taxonomy), f"{price_prefix(productid)}{moment}{rest}")


def picture_id(digest: str) -> str:
    """Pictures are named by their content, each in a partition of its own, so that one read finds it."""
    return document_id(f"picture{digest}", "file")


def picture_address_id(address: str) -> str:
    """Of a picture that was fetched from this address."""
    digest = hashlib.sha256(address.encode()).hexdigest()
    return document_id(f"pictureaddress{digest}", "picture")


PUBLIC: Final = {"type": "product", "hidden": {"$exists": False}}

BY_NAME = FindIndex(
    "category_by_name",
    "Some products of a category, sorted by name (P1)",
    fields=("name",),
    partial=PUBLIC,
)
BY_RANK = FindIndex(
    "category_by_rank",
    "Some products of a category, best rated first (P1)",
    fields=("rank",),
    partial=PUBLIC,
)
REVIEWS_BY_DATE = FindIndex(
    "reviews_by_date",
    "Reviews of a product, newest first",
    fields=("productid", "date"),
    partial={"type": "review"},
)
REVIEWS_OF_A_PERSON = FindIndex(
    "reviews_of_a_person",
    "Everything a person wrote, for the export of their data",
    fields=("userid",),
    partitioned=False,
    partial={"type": "review"},
)
CATEGORIES = View(
    "categories",
    "How many products are in each category, at any depth (P2); which are in one and all below it (P3)",
    map='function (doc) { if (doc.type === "product" && !doc.hidden) emit(doc.taxonomy, null); }',
    reduce="_count",
)
BY_PRODUCTID = View(
    "by_productid",
    "A product by its productid or a SKU alone, also by way of where it was before; many by theirs (P4)",
    map=view_source(__file__, "by_productid"),
)
LEVELS = View(
    "levels",
    "How many of a product, or of each variant, are in stock (P7): the sum of the movements, by thousands, and of those before a total",
    map=view_source(__file__, "levels"),
    reduce="_sum",
    partitioned=True,
)
RATINGS = View(
    "ratings",
    "How a product was rated (P7): sum, count, least and most of its stars",
    map='function (doc) { if (doc.type === "review") emit(doc.productid, doc.stars); }',
    reduce="_stats",
    partitioned=True,
)
BEST_RATED = View(
    "best_rated",
    "The best rated products, by a cautious average (P8)",
    map='function (doc) { if (doc.type === "product" && !doc.hidden && doc.rating.count > 0) emit(doc.rank, null); }',
)
LOW_STOCK = View(
    "low_stock",
    "Products of which few are left, the fewest first",
    map='function (doc) { if (doc.type === "product" && !doc.hidden) emit(doc.stock, null); }',
)
UNPUBLISHED = View(
    "unpublished",
    "Products that the shop does not show, by why, by name or by a word of theirs, for its staff",
    map=view_source(__file__, "unpublished"),
)
SCHEDULED = View(
    "scheduled",
    "Products whose time to be published comes, the next first",
    map=f'function (doc) {{ if (doc.type === "product" && doc.hidden === "{limits.SCHEDULED}") emit(doc.publish_from, null); }}',
)
STOCK_VALUE = View(
    "stock_value",
    "How many are in stock by category, and in each currency of how many the cost price is known and what these cost together",
    map=view_source(__file__, "stock_value"),
    reduce="_sum",
)
ROLL_UP_DUE = View(
    "roll_up_due",
    "Every thousandth movement of a stock by date: it and those before it can be rolled up",
    map='function (doc) { if (doc.type === "movement" && doc.slot % 1000 === 0) emit(doc.date, null); }',
)
HELD = View(
    "held",
    "How many of a product an order takes out of the stock; a slot that is in doubt counts for nobody",
    map=view_source(__file__, "held"),
    reduce="_sum",
)
RESERVATIONS_BY_EXPIRY = View(
    "reservations_by_expiry",
    "Which reservations end in a stretch of time",
    map='function (doc) { if (doc.type === "reservation") emit(doc.expires, null); }',
)
SETTLEMENTS_BY_DATE = View(
    "settlements_by_date",
    "Which reservations were sold or released in a stretch of time",
    map='function (doc) { if (doc.type === "settlement" && !doc.reference) emit(doc.date, null); }',
)
SALE_CHANGES = View(
    "sale_changes",
    "Which products' sales begin or end in a stretch of time",
    map=view_source(__file__, "sale_changes"),
)
MOVED = View(
    "moved",
    "Which products were moved since a moment, and where they came from",
    map='function (doc) { if (doc.type === "product" && doc.moved_from) emit(doc.edited, doc.moved_from); }',
)
CONFLICTS = View(
    "conflicts",
    "Documents that diverged replicas wrote differently, for the rules to settle",
    map=view_source(__file__, "conflicts"),
)

LABELS = View(
    "labels",
    "What products' options, colours and attributes are called in each language, and how many products say so",
    map=view_source(__file__, "labels"),
    reduce="_count",
)


@cache
def category_order(groups: tuple[str, ...] = ()) -> View:
    """The orders of a category that nothing narrows: by name, by rank, by what everybody pays and what the members of each of these groups do."""
    return View(
        "category_order",
        "Products of a category, sorted by name, by rank, or by price in one currency, also a customer group's (P1); under no currency each by "
        "its own",
        map=f"""function (doc) {{
  if (doc.type !== "product" || doc.hidden) return;
  emit(["name", doc.name], null);
  if (doc.rank != null) emit(["rank", doc.rank], null);
  var prices = {prices_script(groups, whole=True)};
  emit(["", prices[doc.price.currency]], null);
  Object.keys(prices).forEach(function (name) {{ emit([name, prices[name]], null); }});
}}""",
        partitioned=True,
    )


@cache
def filter_values(groups: tuple[str, ...] = ()) -> View:
    """The counts beside the filters of one category, for everybody and for each of these groups."""
    return View(
        "filter_values",
        "What the products of a category are filtered by (brand, colours, prices by currency and by customer group where lower, its own currency, "
        "members such as options.Size), and how many are alike",
        map=f"""function (doc) {{
  if (doc.type !== "product" || doc.hidden) return;
{members_function("found", PAIRS)}
  emit([doc.brand, doc.colours, {prices_script(groups, whole=False)}, doc.price.currency, found], null);
}}""",
        reduce="_count",
        partitioned=True,
    )


DESIGN = DatabaseDesign(
    "products",
    (
        BY_NAME,
        category_order(),
        BY_RANK,
        REVIEWS_BY_DATE,
        REVIEWS_OF_A_PERSON,
        CATEGORIES,
        filter_values(),
        BY_PRODUCTID,
        LEVELS,
        RATINGS,
        BEST_RATED,
        LOW_STOCK,
        STOCK_VALUE,
        UNPUBLISHED,
        SCHEDULED,
        ROLL_UP_DUE,
        HELD,
        RESERVATIONS_BY_EXPIRY,
        SETTLEMENTS_BY_DATE,
        SALE_CHANGES,
        MOVED,
        CONFLICTS,
        SEARCH,
        SEARCH_IN_CATEGORY,
    ),
    types=(PRODUCT,),
)


@cache
def design_in(own: str, *others: str, groups: tuple[str, ...] = ()) -> DatabaseDesign:
    """The design of a shop whose texts are in its own language and translated into others: the search of each folds the forms of that
    language's words. Lists are sorted, filtered and counted by the prices of these customer groups too."""
    by_group = {view.name: view for view in (category_order(groups), filter_values(groups))}
    patterns = (
        by_group.get(each.name, each) for each in DESIGN.patterns if not isinstance(each, SearchIndex)
    )
    indexes = (index for language in (own, *others) for index in search_indexes(own, language, groups))
    return replace(DESIGN, patterns=(*patterns, *indexes, *([LABELS] if others else [])))
