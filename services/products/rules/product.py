"""What a product is: checked on the way in, shaped on the way out, compared with what is there."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

import orjson

from services.products.declarations.limits import MAX_FORMER_SKUS
from services.products.declarations.product import Product
from services.products.declarations.related_documents import Forward
from services.products.documents import FORWARD, PRODUCT, PRODUCT_FIELDS, partition_of, product_id
from services.products.price_fields import regular_prices
from services.products.rules.backorders import terms_fields
from services.products.rules.pictures import Contradiction, pictures_of, settled
from services.products.rules.price_content import (
    OPTIONAL,
    PriceContradiction,
    delivery_in,
    mark_unsaid,
    settled_prices,
)
from services.products.rules.prices import (
    CurrentPrice,
    PriceContext,
    has_terms,
    is_sold_in,
    lowest_and_highest,
    with_current_prices,
)
from services.products.rules.publishing import hidden_fields, keep_unsaid, status_of
from services.products.rules.variants import (
    MAX_PROBLEMS,
    PRIVATE,
    SUMMED_UP,
    ambiguous_labels,
    contradictions,
    counted_fields,
    is_active,
    levels_of,
    price_fields,
    shown_variants,
    skus_of,
    stock_of,
    variant_of,
    variants_of,
    without,
    without_removed,
)
from shared.addresses import country_names
from shared.couch import Doc, Document
from shared.errors import Invalid
from shared.fields import Rejected

NO_RATING: Final = {"average": None, "count": 0}
KEPT_WHEN_UNSAID: Final = ("pictures", "status", "publish_from", "related", "translations", "customs")
"""What an older client does not know, it does not undo."""
RESERVED_IDS: Final = frozenset(
    {"best-rated", "export", "import", "imports", "lookup", "low-stock", "suggest", "sync"}
)
"""Words that are routes of the API, not products."""

MAX_PARTITION_KEY: Final = 1000
MAX_LOOKED_UP: Final = 200
"""As many lines as a basket holds."""


class BadProduct(Invalid):
    code, title = "invalid_product", "Some fields of the product are wrong"


def checked(data: Any) -> "Checked":
    """The content of a product and, when given, the stock it starts with. Raises BadProduct naming every wrong field.

    `rating` is accepted and left aside, so that what was exported or read can be sent back; so is the `stock` of a
    product with variants, which is theirs.
    """
    if not isinstance(data, dict):
        raise BadProduct("A product is a JSON object.", errors={"_schema": ["Not an object."]})
    content, errors = PRODUCT_FIELDS.check(data)
    unsaid = (*KEPT_WHEN_UNSAID, "delivery", *OPTIONAL)
    content |= {name: None for name in unsaid if data.get(name) is None}
    if data.get("price") is None and content.get("prices"):
        del errors["price"]
        content["price"] = None
    if "variants" in content:
        mark_unsaid(content["variants"], data.get("variants") or [])
    stock = data.get("stock")
    if stock is not None:
        try:
            stock = PRODUCT_FIELDS.fields["stock"].clean(stock)
        except Rejected as rejected:
            errors["stock"] = [str(rejected)]
    for field, message in _contradictions(content):
        errors.setdefault(field, [message])
    if errors:
        summary = "; ".join(f"{field}: {' '.join(messages)}" for field, messages in sorted(errors.items()))
        raise BadProduct(summary, errors=errors)
    stocks = {variant["sku"]: variant.pop("stock") for variant in content["variants"] if "stock" in variant}
    return Checked(content, None if content["variants"] else stock, stocks)


class Checked(NamedTuple):
    """What a client says of a product: `content` is clean, but what may stay as it is and the prices are None where they were not sent
    (see `complete`); `stock` is None where it was left out, `stocks` are those of its variants by SKU."""

    content: Doc
    stock: int | None
    stocks: dict[str, int]


def _contradictions(content: Doc) -> Iterator[tuple[str, str]]:
    """What is wrong with fields that are right by themselves; only those are in `content`."""
    if content.get("productid") in RESERVED_IDS:
        yield "productid", "This word is taken by the API; choose another id."
    if len(partition_of(content.get("taxonomy", ())).encode()) > MAX_PARTITION_KEY:
        yield "taxonomy", f"All levels together must fit into {MAX_PARTITION_KEY} bytes."
    digests = [each["id"] for each in content.get("pictures") or ()]
    if len(digests) != len(set(digests)):
        yield "pictures", "The same picture comes twice."
    if content.get("productid") in (content.get("related") or ()):
        yield "related", "It names the product itself."
    origin = (content.get("customs") or {}).get("origin")
    if origin and origin not in country_names():
        yield "customs.origin", f"There is no country {origin}."
    price, delivery = content.get("price"), content.get("delivery")
    one_price = content.get("prices") is None
    if price and one_price and delivery and delivery["currency"] != price["currency"]:
        yield "delivery", "Must be in the currency of the price."
    yield from contradictions(content)
    if taken := sorted(RESERVED_IDS.intersection(skus_of(content))):
        yield "variants", f"{taken[0]} is a word that the API uses; choose another SKU."


def complete(content: Doc, before: Product | None = None) -> Doc:
    """The content with what was not said as it was before. Raises BadProduct when pictures, prices or translations contradict each other."""
    content = keep_unsaid(content, before)
    if problems := ambiguous_labels(content):
        words = " ".join(problems[:MAX_PROBLEMS])
        raise BadProduct(f"translations: {words}", errors={"translations": [words]})
    try:
        return settled_prices(settled(content, before), before)
    except PriceContradiction as found:
        words = "; ".join(f"{field}: {' '.join(texts)}" for field, texts in found.errors.items())
        raise BadProduct(words, errors=found.errors) from None
    except Contradiction:
        words = "Names a picture that is not among `pictures`: leave one of the two out."
        raise BadProduct(f"image: {words}", errors={"image": [words]}) from None


def document(
    content: Doc,
    moment: str,
    *,
    stock: int = 0,
    levels: Mapping[str, int] | None = None,
    rating: Doc = NO_RATING,
    rank: float = 0,
    moved_from: str | None = None,
    request: str | None = None,
    former_skus: Sequence[str] = (),
) -> Product:
    """The document of a product with this content; `levels` are its variants' stock, by SKU."""
    docid = product_id(content["taxonomy"], content["productid"])
    given = {"moved_from": moved_from, "request": request, "former_skus": list(former_skus) or None}
    optional = {name: value for name, value in given.items() if value is not None}
    in_stock = stock_of(content, levels or {}) if variants_of(content) else {"stock": stock}
    made = PRODUCT.new(
        docid,
        **PRODUCT_FIELDS.stored(content),
        **in_stock,
        rating=rating,
        rank=rank,
        edited=moment,
        **hidden_fields(content, moment),
        **optional,
    )
    return with_current_prices(made, moment)


def replaced(doc: Product, content: Doc, moment: str, levels: Mapping[str, int] | None = None) -> Product:
    """The document with new content; what was summed up about it stays, unless `levels` are its variants' stock now, by SKU."""
    kept = {name: value for name, value in doc.items() if name not in PRODUCT_FIELDS.writable}
    fresh: Doc = {**kept, **PRODUCT_FIELDS.stored(content), "edited": moment, "schema": PRODUCT.schema}
    fresh.pop("hidden", None)
    fresh |= hidden_fields(content, moment)
    former = former_skus(doc, content)
    for name, value in (("former_skus", former), ("variant_stock", {})):
        fresh.pop(name, None)
        if value:
            fresh[name] = value
    if variants_of(content):
        fresh = without(fresh, SUMMED_UP) | stock_of(content, levels_of(doc) if levels is None else levels)
    elif levels is not None:
        fresh = without(fresh, SUMMED_UP) | counted_fields(content, levels)
    return with_current_prices(fresh, moment)


def former_skus(doc: Product, content: Doc) -> list[str]:
    """The SKUs that a product will have had once when it gets this content."""
    return without_removed(doc, content, MAX_FORMER_SKUS)


def changes_what_is_counted(doc: Product, content: Doc) -> bool:
    """Whether it will be sold under other SKUs, so that their stock must be looked up."""
    return set(skus_of(doc)) != set(skus_of(content))


def public(doc: Product, context: PriceContext) -> Doc:
    """The product as the API shows it by itself, with its status and variants."""
    found = listed(doc, context) | {"status": status_of(doc)}
    if "translations" in doc:
        found["translations"] = doc["translations"]
    if context.staff:
        found |= {name: doc[name] for name in PRIVATE if name in doc}
    return found | {"variants": shown_variants(doc, context)} if variants_of(doc) else found


def listed(doc: Product, context: PriceContext) -> Doc:
    """The product as lists show it: without its variants, with the price of the dearest when they differ."""
    found = _with_pictures(PRODUCT_FIELDS.shown(doc))
    for name in ("variants", "translations", *PRIVATE, *(() if context.staff else ("waiting",))):
        found.pop(name, None)
    found |= _backorder_terms(doc, context)
    return _priced(found, doc, context)


def _backorder_terms(doc: Product, context: PriceContext) -> Doc:
    """Of a product with variants those of the first that has any, for lists."""
    if not variants_of(doc):
        return terms_fields(doc, None, context.backorders)
    found = (terms_fields(doc, each, context.backorders) for each in variants_of(doc) if is_active(each))
    return next(filter(None, found), {})


def _priced(found: Doc, doc: Product, context: PriceContext) -> Doc:
    """The answer with what the product costs; `prices` only where they say more than that."""
    prices = found.pop("prices", {})
    plain = len(prices) <= 1 and not variants_of(doc)
    if plain and is_sold_in(doc, context.currency) and not has_terms(doc):
        return found
    extremes = lowest_and_highest(doc, context)
    if extremes is None:
        return found | {"price": None, "prices": dict(regular_prices(doc))}
    lowest, highest = extremes
    found |= lowest.fields()
    if highest["amount"] > lowest.price["amount"]:
        found["highest_price"] = highest
    if len(prices) > 1 or _is_reduced(doc, lowest):
        found["prices"] = prices
    currency = context.of(doc)
    return found | (
        {"delivery": delivery_in(doc, currency)} if currency != doc["delivery"]["currency"] else {}
    )


def _is_reduced(doc: Product, current: CurrentPrice) -> bool:
    """Whether it costs something else than its regular price."""
    return current.price["amount"] != regular_prices(doc).get(current.price["currency"])


def offered(doc: Product, wanted: str, context: PriceContext) -> Doc:
    """The product as it is bought by `wanted`: a SKU, or the productid of one without variants.

    A variant has its own price, stock and picture. `for_sale` is False for one that is no longer sold, for the productid of a
    product with variants, which has no `sku`, and for what is `not_sold_in` a currency.
    """
    found, productid = listed(doc, context), doc["productid"]
    if not is_sold_in(doc, context.currency):
        found["not_sold_in"] = context.currency
    if not variants_of(doc):
        return found | {"sku": wanted, "for_sale": wanted == productid and "not_sold_in" not in found}
    for name in ("highest_price", "compare_at_price", "sale_ends", "backorder_terms", "waiting"):
        found.pop(name, None)
    variant = variant_of(doc, wanted)
    if variant is None:
        return found | {"sku": None if wanted == productid else wanted, "for_sale": False}
    own = {"image": variant["picture"], "pictures": []} if "picture" in variant else {}
    own |= {name: variant[name] for name in ("weight_grams",) if name in variant}
    return (
        found
        | own
        | {
            "sku": wanted,
            "for_sale": is_active(variant) and "not_sold_in" not in found,
            "selected_options": variant.get("options", {}),
            "stock": doc.get("variant_stock", {}).get(wanted, 0),
            **terms_fields(doc, variant, context.backorders),
        }
        | price_fields(doc, variant, context)
    )


def exported(doc: Product) -> Doc:
    """The product as an import takes it, with the stock that it, or each of its variants, has."""
    found = content_of(doc) | {"stock": doc["stock"]}
    if len(found["prices"]) <= 1:
        del found["prices"]
    for name in ("options", "variants", "publish_from", "related", "translations", "customs", *OPTIONAL):
        if not found.get(name, True):
            del found[name]
    if variants_of(doc):
        left = doc.get("variant_stock", {})
        found["variants"] = [
            {**variant, "stock": left.get(variant["sku"], 0)} for variant in variants_of(doc)
        ]
    return found


def content_of(doc: Document) -> Doc:
    found = _with_pictures(PRODUCT_FIELDS.content(doc))
    return found if found["prices"] else found | {"prices": dict(regular_prices(doc))}


def _with_pictures(shown: Doc) -> Doc:
    if not shown["pictures"]:
        shown["pictures"] = pictures_of(shown)
    return shown


def same_content(doc: Document, content: Doc) -> bool:
    return content_of(doc) == content


def public_json(doc: Product, context: PriceContext) -> tuple[bytes, str]:
    """`public` as JSON, and its ETag `"content.answer"`: the first part changes when an admin edits, the second whenever the answer does."""
    answer = orjson.dumps(public(doc, context))
    return answer, f'"{content_tag(doc)}.{_short(answer)}"'


def content_tag(doc: Product) -> str:
    """What an edit of this version names in `If-Match`, before a dot and what else its ETag says."""
    return _short(orjson.dumps(content_of(doc)))


def still_matches(if_match: str | None, doc: Product) -> bool:
    """Whether an edit based on the version(s) in `If-Match` may go on: stock and rating do not count."""
    if if_match is None or if_match.strip() == "*":
        return True
    content = content_tag(doc)
    return any(tag.strip().strip('"').partition(".")[0] == content for tag in if_match.split(","))


def deduplicate_moved(
    docs: list[Product], key: Callable[[Product], str] = lambda doc: doc["productid"]
) -> list[Product]:
    """Each product once: while one is moved between categories it is in both, and the place it moves to counts."""
    chosen: dict[str, Product] = {}
    for doc in docs:
        present = chosen.get(key(doc))
        if present is None or supersedes(doc, present):
            chosen[key(doc)] = doc
    return list(chosen.values())


def by_any_id(docs: Iterable[Product]) -> dict[str, Product]:
    """Products by all that they are found by: their productid, before that the SKUs of their variants, before that those that they had."""
    docs = list(docs)
    former = {sku: doc for doc in docs for sku in doc.get("former_skus", ())}
    return former | by_own_id(docs)


def by_own_id(docs: Iterable[Product]) -> dict[str, Product]:
    """Products by what they are called now: their productid, before that the SKUs of their variants."""
    docs = list(docs)
    variants = {sku: doc for doc in docs for sku in skus_of(doc)}
    return variants | {doc["productid"]: doc for doc in docs}


def is_product(doc: Document) -> TypeGuard[Product]:
    """Not the forward that it left in a category where it was before."""
    return bool(doc["type"] == PRODUCT.name)


def forward(doc: Product, moved_to: str, moment: str) -> Forward:
    """What takes the place of a product that is in another category now."""
    left = FORWARD.build(
        doc["_id"],
        productid=doc["productid"],
        taxonomy=doc["taxonomy"],
        moved_to=moved_to,
        edited=moment,
        **({"skus": skus_of(doc)} if variants_of(doc) else {}),
    )
    left["_rev"] = doc["_rev"]
    return left


def supersedes(doc: Product, other: Product) -> bool:
    """Whether `doc` is where `other` was moved to."""
    return bool(doc.get("moved_from") == other["_id"] and doc["edited"] >= other["edited"])


def _short(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()[:12]
