"""Products as rows of a CSV file: levels joined by `#`, other lists by `|` (`\\|` is one within a text), money as two columns."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from shared.couch import Doc
from shared.csv_cells import escape_formula, unescape_formula

COLUMNS: Final = (
    "productid", "taxonomy", "keywords", "brand", "name", "description", "colours", "price_amount", "price_currency",
    "delivery_amount", "delivery_currency", "image", "stock",
)  # fmt: skip

_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SIGN, _ESCAPED, _PART = re.compile(r"[\\|]"), re.compile(r"\\([\\|])"), re.compile(r"(?:\\[\\|]|[^|])+")


def from_row(row: Mapping[str, str]) -> Doc:
    """The import line of a row; what is wrong with it is for `checked` to say."""
    row = {name: cell and unescape_formula(cell) for name, cell in row.items()}
    product: Doc = {
        name: row[name]
        for name in ("productid", "brand", "name", "description", "image")
        if row.get(name) is not None
    }
    product["taxonomy"] = [level for level in (row.get("taxonomy") or "").split("#") if level.strip()]
    product["keywords"], product["colours"] = _list(row.get("keywords")), _list(row.get("colours"))
    for name in ("price", "delivery"):
        if row.get(f"{name}_amount"):
            product[name] = {
                "amount": _number(row[f"{name}_amount"]),
                "currency": row.get(f"{name}_currency"),
            }
    if row.get("stock"):
        product["stock"] = _number(row["stock"])
    return product


def to_row(product: Doc) -> dict[str, Any]:
    """The row of an import line."""
    row = {name: product[name] for name in ("productid", "brand", "name", "description", "image", "stock")}
    row |= {
        "taxonomy": "#".join(product["taxonomy"]),
        "keywords": _joined(product["keywords"]),
        "colours": _joined(product["colours"]),
    }
    for name in ("price", "delivery"):
        row |= {f"{name}_amount": product[name]["amount"], f"{name}_currency": product[name]["currency"]}
    return {name: escape_formula(cell) if isinstance(cell, str) else cell for name, cell in row.items()}


def _joined(texts: Iterable[str]) -> str:
    return "|".join(_SIGN.sub(r"\\\g<0>", text) for text in texts)


def _list(text: str | None) -> list[str]:
    return [_ESCAPED.sub(r"\1", part) for part in _PART.findall(text or "") if part.strip()]


def _number(text: str) -> Any:
    return int(text) if _NUMBER.fullmatch(text.strip()) else text
