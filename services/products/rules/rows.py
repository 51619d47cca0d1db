"""Products as rows of a CSV file: one a product, and of a product with variants one each. The first names the product and its options,
the others only repeat its productid.

The currencies of the shop have a column each (`price_EUR`, `variant_price_EUR`); other prices are in the column `prices`. So have its
languages (`name_de`, `description_de`); what else a translation says is in the column `translations`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from services.products.declarations.limits import MAX_OPTIONS
from services.products.declarations.parts import ARTICLE_NUMBER, OPTION_NAME, OPTION_VALUE, VARIANT
from services.products.documents import PRODUCT_FIELDS
from shared import tables
from shared.couch import Doc
from shared.csv_cells import escape_formula, unescape_formula
from shared.fields import Declaration, Integer, Text, TextList
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES

_NUMBERS: Final = range(1, MAX_OPTIONS + 1)
_OPTIONS: Final = Declaration(
    {f"option{n}_name": OPTION_NAME for n in _NUMBERS}
    | {f"option{n}_values": TextList(OPTION_VALUE, 1, 100) for n in _NUMBERS}
)
_VARIANT: Final = Declaration(
    {
        "sku": ARTICLE_NUMBER,
        **{f"option{n}": OPTION_VALUE for n in _NUMBERS},
        "variant_price_amount": Integer(0, 10**12),
        "variant_prices": VARIANT["prices"],
        "variant_compare_at_prices": VARIANT["compare_at_prices"],
        "variant_sales": VARIANT["sales"],
        "variant_group_prices": VARIANT["group_prices"],
        "variant_cost_prices": VARIANT["cost_prices"],
        "variant_picture": VARIANT["picture"],
        "variant_barcode": VARIANT["barcode"],
        "variant_weight_grams": Integer(1, 10**9),
        "variant_backorder": VARIANT["backorder"],
        "variant_backorder_date": VARIANT["backorder_date"],
        "variant_backorder_limit": VARIANT["backorder_limit"],
        "variant_active": Text(0, 5),
        "variant_stock": Integer(0, 10**9),
    }
)
_RENAMED: Final = {
    "variant_compare_at_prices": "compare_at_prices",
    "variant_sales": "sales",
    "variant_group_prices": "group_prices",
    "variant_cost_prices": "cost_prices",
    "variant_picture": "picture",
    "variant_barcode": "barcode",
    "variant_weight_grams": "weight_grams",
    "variant_backorder": "backorder",
    "variant_backorder_date": "backorder_date",
    "variant_backorder_limit": "backorder_limit",
    "variant_stock": "stock",
}
_ACTIVE: Final = {"true": True, "false": False}

COLUMNS: Final = (*tables.columns(PRODUCT_FIELDS), *tables.columns(_OPTIONS), *tables.columns(_VARIANT))
REQUIRED_COLUMNS: Final = tables.required_columns(PRODUCT_FIELDS)
_PRICE: Final = ("price_amount", "price_currency")
_TRANSLATED: Final = ("name", "description")
_IN_LANGUAGE: Final = re.compile(f"({'|'.join(_TRANSLATED)})_({LANGUAGE})")
_IN_CURRENCY: Final = re.compile("(variant_)?price_([A-Z]{3})")
_WHOLE: Final = Declaration({"cell": Integer(0, 10**12)})


def columns(currencies: Sequence[str], languages: Sequence[str] = ()) -> tuple[str, ...]:
    """The first row of an export of a shop that sells in these, and whose products are translated into these."""
    prices = [f"{start}price_{each}" for start in ("", "variant_") for each in currencies]
    return (*COLUMNS, *prices, *(f"{name}_{each}" for each in languages for name in _TRANSLATED))


def is_column(name: str) -> bool:
    found = _IN_CURRENCY.fullmatch(name)
    is_price = found is not None and found[2] in CURRENCIES
    return name in COLUMNS or is_price or _IN_LANGUAGE.fullmatch(name) is not None


def missing_columns(header: Sequence[str]) -> list[str]:
    """What no import goes without; a price in any currency will do."""
    priced = any(_IN_CURRENCY.fullmatch(name) for name in header)
    return [name for name in REQUIRED_COLUMNS if name not in header and not (priced and name in _PRICE)]


def rows_of(
    product: Mapping[str, Any], currencies: Sequence[str] = (), languages: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """The rows of a product as the export has it."""
    names = [option["name"] for option in product.get("options", ())]
    cells, rest = _price_cells("", product.get("prices", {}), currencies)
    if product.get("prices"):
        product = {**product, "prices": rest}
    texts, translations = _translated_cells(product.get("translations", {}), languages)
    if texts:
        product = {**product, "translations": translations}
    first = (
        tables.to_row(PRODUCT_FIELDS, product)
        | tables.to_row(_OPTIONS, _option_cells(product))
        | cells
        | texts
    )
    variants = product.get("variants", ())
    if not variants:
        yield first
    for number, variant in enumerate(variants):
        cells = tables.to_row(
            _VARIANT, _variant_cells(variant, names, product["price"]["currency"], currencies)
        )
        cells |= _price_cells("variant_", variant.get("prices", {}), currencies)[0]
        yield (first if number == 0 else {"productid": product["productid"]}) | cells


def is_continued(product: Mapping[str, Any], row: Mapping[str, str]) -> bool:
    """Whether a row is a further variant of the product of the row before."""
    same = row.get("productid", "").strip() in ("", product.get("productid"))
    return same and is_variant_alone(row)


def is_variant_alone(row: Mapping[str, str]) -> bool:
    """Whether a row names a SKU and says nothing of a product."""
    return bool(row.get("sku", "").strip()) and not row.get("name", "").strip()


def product_of(row: Mapping[str, str]) -> Doc:
    """The product that a row says, with the first of its variants, if it has any; what is wrong with it is for `checked` to say."""
    product = tables.from_row(PRODUCT_FIELDS, row)
    if prices := _prices_in("price_", row):
        product["prices"] = {**_object(product.get("prices")), **prices}
    if texts := _translations_in(row):
        rest = _object(product.get("translations"))
        product["translations"] = {
            each: {**_object(rest.get(each)), **texts.get(each, {})} for each in [*rest, *texts]
        }
    cells = tables.from_row(_OPTIONS, row)
    options = [
        {"name": cells[f"option{n}_name"], "values": cells.get(f"option{n}_values", [])}
        for n in _NUMBERS
        if f"option{n}_name" in cells
    ]
    if options:
        product["options"] = options
    if row.get("sku", "").strip():
        add_variant(product, row)
    return product


def add_variant(product: Doc, row: Mapping[str, str]) -> None:
    """Adds the variant that a row says."""
    cells = tables.from_row(_VARIANT, row)
    variant: Doc = {"sku": cells["sku"], "options": {}}
    for number, option in enumerate(product.get("options", ()), 1):
        if value := cells.get(f"option{number}"):
            variant["options"][option["name"]] = value
    prices = {**_object(cells.get("variant_prices")), **_prices_in("variant_price_", row)}
    if (amount := cells.get("variant_price_amount")) is not None:
        prices = {product.get("price", {}).get("currency", ""): amount} | prices
    if prices:
        variant["prices"] = prices
    if active := cells.get("variant_active"):
        variant["active"] = _ACTIVE.get(active.lower(), active)
    variant |= {name: cells[column] for column, name in _RENAMED.items() if column in cells}
    product.setdefault("variants", []).append(variant)


def _option_cells(product: Mapping[str, Any]) -> Doc:
    cells: Doc = {}
    for number, option in enumerate(product.get("options", ()), 1):
        cells |= {f"option{number}_name": option["name"], f"option{number}_values": option["values"]}
    return cells


def _price_cells(
    prefix: str, prices: Mapping[str, int], currencies: Sequence[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """The cells of the currencies that have a column, and the other prices."""
    cells = {f"{prefix}price_{each}": prices[each] for each in currencies if each in prices}
    return cells, {each: amount for each, amount in prices.items() if each not in currencies}


def _prices_in(prefix: str, row: Mapping[str, str]) -> Doc:
    """What the columns of single currencies say; what is no number is for `checked` to refuse."""
    named = {
        column.removeprefix(prefix): cell
        for column, cell in row.items()
        if column.startswith(prefix) and _IN_CURRENCY.fullmatch(column) and cell.strip()
    }
    return {currency: tables.from_row(_WHOLE, {"cell": cell})["cell"] for currency, cell in named.items()}


def _translated_cells(
    translations: Mapping[str, Mapping[str, Any]], languages: Sequence[str]
) -> tuple[dict[str, str], Doc]:
    """The cells of the languages that have columns, nothing of them a formula, and what else is translated."""
    cells = {
        f"{name}_{each}": escape_formula(said[name])
        for each, said in translations.items()
        if each in languages
        for name in _TRANSLATED
        if name in said
    }
    rest = {
        each: {name: text for name, text in said.items() if f"{name}_{each}" not in cells}
        for each, said in translations.items()
    }
    return cells, {each: said for each, said in rest.items() if said}


def _translations_in(row: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What the columns of single languages say."""
    found: dict[str, dict[str, str]] = {}
    for column, cell in row.items():
        named = _IN_LANGUAGE.fullmatch(column)
        if named and cell.strip() and column not in COLUMNS:
            found.setdefault(named[2], {})[named[1]] = unescape_formula(cell)
    return found


def _object(cell: Any) -> Doc:
    """A cell's JSON object; what is none is refused under a name that no currency has."""
    return cell if isinstance(cell, dict) else {} if cell is None else {"": cell}


def _variant_cells(
    variant: Mapping[str, Any], names: list[str], currency: str, currencies: Sequence[str]
) -> Doc:
    chosen = {f"option{n}": variant["options"][name] for n, name in enumerate(names, 1)}
    prices = variant.get("prices", {})
    price = prices.get(currency)
    others = {each: amount for each, amount in prices.items() if each not in (currency, *currencies)}
    own = {column: variant[name] for column, name in _RENAMED.items() if name in variant}
    cells: Doc = {"sku": variant["sku"], **chosen, **own}
    if price is not None:
        cells["variant_price_amount"] = price
    if others:
        cells["variant_prices"] = others
    if not variant.get("active", True):
        cells["variant_active"] = "false"
    return cells
