"""Shopify's product export: a row for each variant and each further picture, those of a product under one handle."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from services.products.declarations.limits import GIFT_CARD, MAX_OPTIONS
from services.products.rules.shop_exports.product import NO_CATEGORY, ExportedProduct, Incomplete, Options
from services.products.rules.shop_exports.table import Row, read_rows
from services.products.rules.shop_exports.texts import (
    article_number,
    from_html,
    grams,
    minor_units,
    one_line,
    split,
)
from shared.errors import AisleError

_COLUMNS: Final = {
    "handle": ("handle", "url handle"),
    "title": ("title",),
    "body": ("body (html)", "body html", "description"),
    "vendor": ("vendor",),
    "category": ("product category", "standard product type", "standardized product type"),
    "type": ("type", "custom product type"),
    "tags": ("tags",),
    "published": ("published", "published on online store"),
    "status": ("status",),
    "gift_card": ("gift card",),
    "sku": ("variant sku", "sku"),
    "barcode": ("variant barcode", "barcode"),
    "grams": ("variant grams", "weight value (grams)"),
    "tracker": ("variant inventory tracker", "inventory tracker"),
    "policy": ("variant inventory policy", "continue selling when out of stock"),
    "quantity": ("variant inventory qty", "inventory quantity"),
    "price": ("variant price", "price"),
    "compare_at": ("variant compare at price", "compare-at price", "compare at price"),
    "cost": ("cost per item",),
    "image": ("image src", "product image url"),
    "position": ("image position",),
    "alt": ("image alt text",),
    "variant_image": ("variant image", "variant image url"),
    **{f"option{n}_name": (f"option{n} name",) for n in range(1, MAX_OPTIONS + 1)},
    **{f"option{n}": (f"option{n} value",) for n in range(1, MAX_OPTIONS + 1)},
}
_BY_HEADER: Final = {header: column for column, headers in _COLUMNS.items() for header in headers}
_STATUSES: Final = frozenset(("active", "draft", "archived"))
_CONTINUED: Final = frozenset(("continue", "true"))
_NUMBERS: Final = range(1, MAX_OPTIONS + 1)


def products_of(content: bytes, options: Options) -> Iterator[ExportedProduct]:
    """Every product, also one whose rows are apart. Raises BadRequest for a file without Shopify's columns."""
    groups: dict[str, list[Row]] = {}
    for row in read_rows(content, _BY_HEADER.get, ("handle", "title")):
        if row.problem or not row.get("handle"):
            problem = row.problem or Incomplete("The row has no handle: nothing says of which product it is.")
            yield ExportedProduct(row.line, problem=problem)
        else:
            groups.setdefault(row.get("handle"), []).append(row)
    for handle in list(groups):
        yield _product(groups.pop(handle), options)


def _product(rows: list[Row], options: Options) -> ExportedProduct:
    first = next((row for row in rows if row.get("title")), rows[0])
    found = ExportedProduct(rows[0].line)
    try:
        _read(found, first, rows, options)
    except AisleError as error:
        found.problem = error
    return found


def _read(found: ExportedProduct, first: Row, rows: list[Row], options: Options) -> None:
    if not first.get("title"):
        raise Incomplete(f"{first.get('handle')} has no title.")
    found.data |= {
        "productid": article_number(first.get("handle")),
        "name": one_line(first.get("title")),
        "brand": one_line(first.get("vendor")),
        "taxonomy": _taxonomy(first),
        "status": _status(first),
    }
    if first.get("gift_card").lower() == "true":
        found.data["kind"] = GIFT_CARD
    found.describe(from_html(first.get("body")))
    kinds = [first.get("type")] if first.get("category") else []
    found.add_keywords([*split(first.get("tags")), *map(one_line, kinds)])
    _add_pictures(found, rows)
    sold = [
        row for row in rows if row.get("price") or row.get("sku") or (row.get("option1") and row is not first)
    ]
    if not sold or not all(row.get("price") for row in sold):
        raise Incomplete(f"{first.get('handle')} has no price.")
    if _is_plain(first, sold):
        _sell_as_it_is(found, sold[0], options)
    else:
        _sell_by_variant(found, first, sold, options)


def _taxonomy(first: Row) -> list[str]:
    category = first.get("category") or first.get("type") or NO_CATEGORY
    return [level.replace("#", "").strip() for level in category.split(">") if level.strip("# ")] or [
        NO_CATEGORY
    ]


def _status(first: Row) -> str:
    """A product that is not published in the online store is a draft here."""
    status = first.get("status").lower() or "active"
    if status not in _STATUSES:
        raise Incomplete(f"Line {first.line}: the status {first.get('status')!r} is not known.")
    hidden = first.get("published").lower() in ("false", "0", "no")
    return "draft" if status == "active" and hidden else status


def _add_pictures(found: ExportedProduct, rows: list[Row]) -> None:
    named = [row for row in rows if row.get("image")]
    for row in sorted(
        named, key=lambda row: int(row.get("position")) if row.get("position").isdecimal() else 999
    ):
        found.add_picture(row.get("image"), one_line(row.get("alt")), row.line)


def _is_plain(first: Row, sold: list[Row]) -> bool:
    name = first.get("option1_name").casefold()
    return len(sold) == 1 and (
        not name or (name == "title" and sold[0].get("option1").casefold() == "default title")
    )


def _sell_as_it_is(found: ExportedProduct, row: Row, options: Options) -> None:
    price = minor_units(row.get("price"), options.currency, row.line)
    found.data["price"] = {"amount": price, "currency": options.currency}
    found.data["stock"] = found.stock(
        row.get("quantity"), options, row.line, tracked=bool(row.get("tracker"))
    )
    found.data |= _beyond_stock(row)
    found.compare_at(found.data, row.get("compare_at"), price, options, row.line)
    found.cost(found.data, row.get("cost"), options, row.line)
    if (weight := grams(row.get("grams"), Decimal(1))) is not None:
        found.data["weight_grams"] = weight
    if row.get("sku"):
        found.add_keywords([row.get("sku")])


def _sell_by_variant(found: ExportedProduct, first: Row, sold: list[Row], options: Options) -> None:
    names = [one_line(first.get(f"option{n}_name")) for n in _NUMBERS if first.get(f"option{n}_name")]
    if not names:
        raise Incomplete(f"{first.get('handle')} is sold in several rows, and no option tells them apart.")
    variants = [_variant(found, row, names, options) for row in sold]
    found.data["options"] = [
        {
            "name": name,
            "values": list(
                dict.fromkeys(each["options"][name] for each in variants if name in each["options"])
            ),
        }
        for name in names
    ]
    found.data["variants"] = variants
    lowest = min(each["prices"][options.currency] for each in variants)
    found.data["price"] = {"amount": lowest, "currency": options.currency}


def _beyond_stock(row: Row) -> dict[str, bool]:
    """Whether it is sold beyond its stock; nothing for Shopify's `deny`, which the shop's own setting decides."""
    return {"backorder": True} if row.get("policy").casefold() in _CONTINUED else {}


def _variant(found: ExportedProduct, row: Row, names: list[str], options: Options) -> dict[str, Any]:
    chosen = {
        name: one_line(row.get(f"option{n}")) for n, name in enumerate(names, 1) if row.get(f"option{n}")
    }
    price = minor_units(row.get("price"), options.currency, row.line)
    sku = article_number(row.get("sku"))
    if row.get("sku") and sku != row.get("sku"):
        found.note("sku_changed", f"The SKU {row.get('sku')!r} became {sku}.", row.line)
    variant: dict[str, Any] = {
        "sku": sku or article_number("-".join([found.data["productid"], *chosen.values()])),
        "options": chosen,
        "prices": {options.currency: price},
        "stock": found.stock(row.get("quantity"), options, row.line, tracked=bool(row.get("tracker"))),
    }
    variant |= _beyond_stock(row)
    if barcode := row.get("barcode").lstrip("'"):
        variant["barcode"] = barcode
    if (weight := grams(row.get("grams"), Decimal(1))) is not None:
        variant["weight_grams"] = weight
    if row.get("variant_image") and found.is_address(row.get("variant_image"), row.line):
        variant["picture"] = row.get("variant_image")
    found.compare_at(variant, row.get("compare_at"), price, options, row.line)
    found.cost(variant, row.get("cost"), options, row.line)
    return variant
