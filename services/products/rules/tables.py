"""Products as rows of a CSV file: levels joined by `#`, other lists by `|`, money as two columns."""

from collections.abc import Mapping
from typing import Any, Final

from shared.couch import Doc

COLUMNS: Final = (
    "productid", "taxonomy", "keywords", "brand", "name", "description", "colours", "price_amount", "price_currency",
    "delivery_amount", "delivery_currency", "image", "stock",
)  # fmt: skip


def from_row(row: Mapping[str, Any]) -> Doc:
    """The import line of a row; what is wrong with it is for `checked` to say."""
    product: Doc = {
        name: row[name]
        for name in ("productid", "brand", "name", "description", "image")
        if row.get(name) is not None
    }
    product["taxonomy"] = _list(row.get("taxonomy"), "#")
    product["keywords"], product["colours"] = _list(row.get("keywords"), "|"), _list(row.get("colours"), "|")
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
        "keywords": "|".join(product["keywords"]),
        "colours": "|".join(product["colours"]),
    }
    for name in ("price", "delivery"):
        row |= {f"{name}_amount": product[name]["amount"], f"{name}_currency": product[name]["currency"]}
    return row


def _list(text: Any, separator: str) -> list[str]:
    return [part for part in (text or "").split(separator) if part.strip()]


def _number(text: str) -> Any:
    return int(text) if text.strip().lstrip("-").isdecimal() else text
