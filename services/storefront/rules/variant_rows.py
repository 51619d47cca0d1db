"""Options and variants as the rows of a form at the desk, and back. A row that names no SKU is no variant."""

import re
from collections.abc import Iterator, Mapping
from itertools import product as combinations
from typing import Any, Final

from services.storefront.rules import backorders, prices
from services.storefront.rules.product_prices import group_prices, group_prices_text, regular_price
from services.storefront.rules.terms import amounts, amounts_text
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Invalid
from shared.money import money
from shared.types import Json

MAX_OPTIONS: Final = 3
MAX_VARIANTS: Final = 250
BLANK_ROWS: Final = 2
_WHOLE = re.compile("[0-9]{1,9}")
_NOT_IN_SKU = re.compile(r"[^A-Za-z0-9._-]+")

Row = dict[str, str]
_WHOLE_NUMBERS: Final = {
    "weight_grams": gettext_noop("write the weight as a whole number."),
    "stock": gettext_noop("write the stock as a whole number."),
}
BACKORDER: Final = ("backorder", "backorder_date", "backorder_limit")
FIELDS: Final = (
    "sku",
    "price",
    "prices",
    "group_prices",
    "cost_prices",
    "stock",
    "barcode",
    "weight_grams",
    "picture",
    *BACKORDER,
)


def option_rows(product: Json) -> list[Row]:
    """The options of a product, and blank rows for as many as it may have."""
    rows = [
        {"name": option["name"], "values": ", ".join(option["values"])}
        for option in product.get("options", [])
    ]
    return rows + [{"name": "", "values": ""} for _ in range(MAX_OPTIONS - len(rows))]


def variant_rows(product: Json) -> list[Row]:
    """The variants of a product; `price` is empty where it is the product's."""
    return [_row(variant, product) for variant in product.get("variants", [])]


def read_options(sent: Mapping[str, str]) -> list[Json]:
    """The options that the form names."""
    rows = [
        (sent.get(f"option-{n}-name", ""), sent.get(f"option-{n}-values", "")) for n in range(MAX_OPTIONS)
    ]
    return [{"name": name.strip(), "values": _values(values)} for name, values in rows if name.strip()]


def read_rows(sent: Mapping[str, str], options: list[Json]) -> list[Row]:
    """The rows of the form, without those that were removed or say nothing."""
    rows = []
    for number in range(MAX_VARIANTS + 1):
        row = {name: sent.get(f"variant-{number}-{name}", "").strip() for name in FIELDS}
        chosen = {
            f"option-{n}": sent.get(f"variant-{number}-option-{n}", "").strip() for n in range(len(options))
        }
        if row["sku"] and f"variant-{number}-remove" not in sent:
            rows.append({**row, **chosen, "active": sent.get(f"variant-{number}-active", "")})
    return rows


def variants_of(rows: list[Row], options: list[Json], currency: str) -> list[Json]:
    """The rows as the API has variants. Raises Invalid naming each row that cannot be read."""
    errors: list[str] = []
    found = [variant for row in rows for variant in _variant(row, options, currency, errors)]
    if errors:
        raise Invalid(errors={"variants": errors})
    return found


def with_compare_at_prices(variant: Json, product: Json) -> Json:
    """The variant with what the form does not show: what its prices are compared with."""
    known: Json = next((each for each in product.get("variants", []) if each["sku"] == variant["sku"]), {})
    name = "compare_at_prices"
    return variant | ({name: known[name]} if name in known else {})


def with_all_combinations(rows: list[Row], options: list[Json], productid: str) -> list[Row]:
    """The rows, and one more for each combination of values that none has; its SKU is a suggestion."""
    there = {tuple(row.get(f"option-{n}", "") for n in range(len(options))) for row in rows}
    taken = {row["sku"] for row in rows}
    missing = [each for each in combinations(*(option["values"] for option in options)) if each not in there]
    more = []
    for combination in missing[: MAX_VARIANTS - len(rows)]:
        chosen = {f"option-{n}": value for n, value in enumerate(combination)}
        sku = next(each for each in _suggestions(productid, combination) if each not in taken)
        taken.add(sku)
        more.append({**dict.fromkeys(FIELDS, ""), **chosen, "sku": sku, "active": "yes"})
    return [*rows, *more]


def _row(variant: Json, product: Json) -> Row:
    base = regular_price(product)
    others = dict(variant.get("prices", {}))
    own = others.pop(base["currency"], None)
    chosen = {
        f"option-{n}": variant["options"].get(option["name"], "")
        for n, option in enumerate(product.get("options", []))
    }
    return {
        **chosen,
        "sku": variant["sku"],
        "price": prices.plain(money(own, base["currency"])) if own is not None else "",
        "prices": amounts_text(others),
        "group_prices": group_prices_text(variant.get("group_prices", {})),
        "cost_prices": amounts_text(variant.get("cost_prices", {})),
        "left": str(variant["stock"]),
        "stock": "",
        "barcode": variant.get("barcode", ""),
        "weight_grams": str(variant.get("weight_grams") or ""),
        "picture": variant.get("picture", ""),
        "active": "yes" if variant["active"] else "",
        **backorders.values_of(variant),
    }


def _variant(row: Row, options: list[Json], currency: str, errors: list[str]) -> Iterator[Json]:
    variant: dict[str, Any] = {
        "sku": row["sku"],
        "options": {
            option["name"]: row[f"option-{n}"] for n, option in enumerate(options) if row[f"option-{n}"]
        },
        "active": bool(row["active"]),
    }
    variant |= {name: row[name] for name in ("barcode", "picture") if row[name]}
    for name, problem in _WHOLE_NUMBERS.items():
        if row[name] and not _WHOLE.fullmatch(row[name]):
            errors.append(f"{row['sku']}: {_(problem)}")
        elif row[name]:
            variant[name] = int(row[name])
    try:
        variant |= _prices(row, currency)
        said = backorders.body_of(row)
        variant |= {name: value for name, value in said.items() if value not in (None, "")}
    except Invalid as error:
        errors += [f"{row['sku']}: {message}" for messages in error.errors.values() for message in messages]
    yield variant


def _prices(row: Row, currency: str) -> Json:
    """What a row says of prices. Raises Invalid."""
    own = {currency: prices.parse(row["price"], currency)["amount"]} if row["price"] else {}
    return {
        "prices": amounts(row["prices"], "prices") | own,
        "group_prices": group_prices(row["group_prices"], "group_prices"),
        "cost_prices": amounts(row["cost_prices"], "cost_prices"),
    }


def _values(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _suggestions(productid: str, combination: tuple[str, ...]) -> Iterator[str]:
    name = "-".join(
        filter(None, (_NOT_IN_SKU.sub("-", part).strip("-") for part in (productid, *combination)))
    )
    yield name[:64]
    for number in range(2, MAX_VARIANTS + 2):
        yield f"{name[:58]}-{number}"
