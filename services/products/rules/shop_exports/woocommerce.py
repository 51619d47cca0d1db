"""WooCommerce's product export: a row for each product and each of its variations, which name their parent by SKU or `id:44`."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from services.products.declarations.limits import MAX_OPTIONS
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
    "id": ("id",),
    "type": ("type", "typ"),
    "sku": ("sku", "artikelnummer"),
    "barcode": ("gtin, upc, ean, or isbn", "gtin, upc, ean oder isbn"),
    "name": ("name",),
    "published": ("published", "veröffentlicht"),
    "visibility": ("visibility in catalog", "visibility in catalogue", "sichtbarkeit im katalog"),
    "short": ("short description", "kurzbeschreibung"),
    "description": ("description", "beschreibung"),
    "in_stock": ("in stock?", "vorrätig?", "auf lager?"),
    "stock": ("stock", "lager", "bestand", "lagerbestand"),
    "backorders": ("backorders allowed?", "lieferrückstände erlaubt?"),
    "sale": ("sale price", "angebotspreis"),
    "sale_from": ("date sale price starts", "datum, an dem angebotspreis beginnt"),
    "sale_until": ("date sale price ends", "datum, an dem angebotspreis endet"),
    "regular": ("regular price", "regulärer preis"),
    "categories": ("categories", "kategorien"),
    "tags": ("tags", "schlagwörter"),
    "images": ("images", "bilder"),
    "parent": ("parent", "übergeordnet", "übergeordnetes produkt"),
    "brand": ("brands", "brand", "marken"),
}
_BY_HEADER: Final = {header: column for column, headers in _COLUMNS.items() for header in headers}
_ATTRIBUTE = re.compile(r"(?:attribute?) ([0-9]{1,2}) (name|value\(s\)|wert\(e\))")
_WEIGHT = re.compile(r"(?:weight|gewicht) \((kg|g|lbs?|oz)\)")
_GRAMS: Final = {
    "kg": Decimal(1000),
    "g": Decimal(1),
    "lb": Decimal("453.59237"),
    "lbs": Decimal("453.59237"),
    "oz": Decimal("28.349523125"),
}
_MAX_ATTRIBUTES: Final = 30
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2})?")
_MORNING, _NIGHT = "00:00:00.000Z", "23:59:59.999Z"
_NOT_SOLD: Final = frozenset(("grouped", "external"))
_LISTED: Final = frozenset(("", "visible", "catalog", "search"))


def products_of(content: bytes, options: Options) -> Iterator[ExportedProduct]:
    """Every product with its variations, wherever in the file these are. Raises BadRequest for a file without WooCommerce's columns."""
    products: list[Row] = []
    variations: dict[str, list[Row]] = {}
    for row in read_rows(content, _column_of, ("type", "name")):
        if row.problem:
            yield ExportedProduct(row.line, problem=row.problem)
        elif "variation" in _types(row):
            variations.setdefault(row.get("parent"), []).append(row)
        else:
            products.append(row)
    for row in products:
        names = (row.get("sku"), f"id:{row.get('id')}")
        its = [each for name in names if name for each in variations.pop(name, ())]
        yield _product(row, its, options)
    for rows in variations.values():
        for row in rows:
            words = f"The product {row.get('parent') or '(none)'} of this variation is not in the file."
            yield ExportedProduct(row.line, problem=Incomplete(words))


def _column_of(header: str) -> str | None:
    if attribute := _ATTRIBUTE.fullmatch(header):
        return f"attribute{attribute[1]}_{'name' if attribute[2] == 'name' else 'values'}"
    if weight := _WEIGHT.fullmatch(header):
        return f"weight_{weight[1]}"
    return _BY_HEADER.get(header)


def _types(row: Row) -> list[str]:
    return [each.casefold() for each in split(row.get("type"))] or ["simple"]


def _text(row: Row, column: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    cell = row.get(column)
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def _product(row: Row, variations: list[Row], options: Options) -> ExportedProduct:
    found = ExportedProduct(row.line)
    try:
        _read(found, row, variations, options)
    except AisleError as error:
        found.problem = error
    return found


def _read(found: ExportedProduct, row: Row, variations: list[Row], options: Options) -> None:
    kinds = _types(row)
    if taken := _NOT_SOLD.intersection(kinds):
        raise Incomplete(f"A product of the type {min(taken)} is nothing that is sold by itself.")
    if not row.get("name"):
        raise Incomplete("The product has no name.")
    productid = article_number(_text(row, "sku")) or article_number(f"product-{row.get('id')}")
    if _text(row, "sku") not in ("", productid):
        found.note("sku_changed", f"The SKU {_text(row, 'sku')!r} became {productid}.")
    first, *others = split(row.get("categories")) or [NO_CATEGORY]
    found.data |= {
        "productid": productid,
        "name": one_line(_text(row, "name")),
        "brand": one_line(", ".join(split(row.get("brand")))),
        "taxonomy": [level.replace("#", "").strip() for level in first.split(">") if level.strip("# ")],
        "status": _status(found, row),
    }
    found.add_keywords([*split(row.get("tags")), *(each.rpartition(">")[2].strip() for each in others)])
    for address in split(row.get("images")):
        found.add_picture(address)
    chosen_by = _options_of(row, variations)
    _describe(found, row, [name for name, _ in chosen_by])
    if "variable" in kinds or variations:
        _sell_by_variation(found, chosen_by, variations, options)
    else:
        price = _price(found.data, found, row, options)
        found.data["price"] = {"amount": price, "currency": options.currency}
        found.data["stock"] = _stock(found, row, options)
        found.data |= _beyond_stock(row)
        if weight := _weight(row):
            found.data["weight_grams"] = weight


def _status(found: ExportedProduct, row: Row) -> str:
    if row.get("published") in ("1", ""):
        if row.get("visibility").casefold() in _LISTED:
            return "active"
        found.note("made_a_draft", "It is hidden in the other shop's catalogue: it became a draft.")
    return "draft"


def _describe(found: ExportedProduct, row: Row, but: list[str]) -> None:
    """Both descriptions, and the attributes that nobody chooses it by."""
    facts = [f"{name}: {', '.join(values)}" for name, values in _attributes(row) if name not in but]
    parts = [from_html(_unescaped(_text(row, each))) for each in ("short", "description")]
    if parts[0] in parts[1]:
        parts = parts[1:]
    text = "\n\n".join(part for part in (*parts, "\n".join(facts)) if part)
    found.describe(text)


def _unescaped(text: str) -> str:
    """Line ends are written as backslash and n."""
    return text.replace("\\n", "\n")


def _attributes(row: Row) -> Iterator[tuple[str, list[str]]]:
    for n in range(1, _MAX_ATTRIBUTES + 1):
        if name := one_line(row.get(f"attribute{n}_name")):
            yield name, split(row.get(f"attribute{n}_values"))


def _options_of(row: Row, variations: list[Row]) -> list[tuple[str, list[str]]]:
    """What the variations differ by, the values in the product's order."""
    used = {name: None for each in variations for name, _ in _attributes(each)}
    values = dict(_attributes(row))
    for each in variations:
        for name, chosen in _attributes(each):
            known = values.setdefault(name, [])
            known += [value for value in chosen if value not in known]
    sold = {
        name: {
            value for each in variations for n, chosen in _attributes(each) if n == name for value in chosen
        }
        for name in used
    }
    return [(name, [value for value in values[name] if value in sold[name]]) for name in used]


def _sell_by_variation(
    found: ExportedProduct, chosen_by: list[tuple[str, list[str]]], variations: list[Row], options: Options
) -> None:
    if not variations:
        raise Incomplete("None of its variations is in the file.")
    if len(chosen_by) > MAX_OPTIONS:
        raise Incomplete(f"It is chosen by {len(chosen_by)} attributes; {MAX_OPTIONS} are taken.")
    variants = []
    for row in variations:
        try:
            variants.append(_variant(found, row, [name for name, _ in chosen_by], options))
        except Incomplete as error:
            found.note("variation_left_out", error.detail, row.line)
    if not variants:
        raise Incomplete("None of its variations can be sold: see the notes.")
    used = {name: {each["options"][name] for each in variants} for name, _ in chosen_by}
    found.data["options"] = [
        {"name": name, "values": [value for value in values if value in used[name]]}
        for name, values in chosen_by
    ]
    found.data["variants"] = variants
    lowest = min(each["prices"][options.currency] for each in variants)
    found.data["price"] = {"amount": lowest, "currency": options.currency}


def _variant(found: ExportedProduct, row: Row, names: list[str], options: Options) -> dict[str, Any]:
    chosen = {name: values[0] for name, values in _attributes(row) if values}
    if missing := [name for name in names if name not in chosen]:
        raise Incomplete(f"The variation is for any {missing[0]}: say which.")
    sku = article_number(_text(row, "sku"))
    variant: dict[str, Any] = {
        "sku": sku or article_number("-".join([found.data["productid"], *chosen.values()])),
        "options": chosen,
        "active": row.get("published") in ("1", ""),
    }
    if sku != _text(row, "sku") and sku:
        found.note("sku_changed", f"The SKU {_text(row, 'sku')!r} became {sku}.", row.line)
    variant["prices"] = {options.currency: _price(variant, found, row, options)}
    variant["stock"] = _stock(found, row, options)
    variant |= _beyond_stock(row)
    if barcode := row.get("barcode"):
        variant["barcode"] = barcode
    if weight := _weight(row):
        variant["weight_grams"] = weight
    images = split(row.get("images"))
    if images and found.is_address(images[0], row.line):
        variant["picture"] = images[0]
    return variant


def _weight(row: Row) -> int | None:
    weights = (grams(row.get(f"weight_{unit}"), factor) for unit, factor in _GRAMS.items())
    return next((each for each in weights if each), None)


def _price(target: dict[str, Any], found: ExportedProduct, row: Row, options: Options) -> int:
    """What it costs. A sale price from a day or to one is a sale; with one that always holds the regular one is what it is compared with."""
    regular, sale = row.get("regular"), row.get("sale")
    if not (regular or sale):
        raise Incomplete(f"Line {row.line} has no price.")
    days = {"from": _day(row, "sale_from", _MORNING), "until": _day(row, "sale_until", _NIGHT)}
    if regular and sale and any(days.values()):
        prices = {options.currency: minor_units(sale, options.currency, row.line)}
        target["sales"] = [{"prices": prices, **{name: day for name, day in days.items() if day}}]
        return minor_units(regular, options.currency, row.line)
    price = minor_units(sale or regular, options.currency, row.line)
    found.compare_at(target, regular if sale else "", price, options, row.line)
    return price


def _day(row: Row, column: str, time: str) -> str:
    """The moment that a day, maybe with a time, stands for; "" where none is said."""
    text = row.get(column)
    if text and not _DATE.fullmatch(text):
        raise Incomplete(f"Line {row.line}: {text!r} is no day like 2026-11-27.")
    return f"{text[:10]}T{text[11:] + '.000Z' if text[11:] else time}" if text else ""


def _beyond_stock(row: Row) -> dict[str, bool]:
    """Whether it is sold beyond its stock: `1`, or `notify` where customers are told so, as they are here."""
    return {"backorder": True} if row.get("backorders").casefold() in ("1", "notify") else {}


def _stock(found: ExportedProduct, row: Row, options: Options) -> int:
    if not row.get("stock") and row.get("in_stock") == "0":
        return 0
    return found.stock(row.get("stock"), options, row.line, tracked=False)
