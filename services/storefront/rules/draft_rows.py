"""The lines of a draft order as rows of a form, and back."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from services.storefront.rules import prices
from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json

_ROW: Final = re.compile(r"sku-(\d{1,3}|new)")
_PERCENT: Final = re.compile(r"(\d{1,3})(?:[.,](\d{1,2}))? ?%")
_NUMBER: Final = re.compile(r"\d{1,6}")
FIELDS: Final = ("sku", "quantity", "price", "off", "reason")


def rows_of(draft: Json) -> list[Json]:
    """As a form shows them, with what each line costs where that is known."""
    lines = draft["quote"]["items"] if draft.get("quote") else []
    known = {line.get("sku") or line["productid"]: line for line in lines}
    return [_row(item, known.get(item["productid"])) for item in draft["items"]]


def typed_rows(sent: Mapping[str, str]) -> list[Json]:
    """As they were typed, to be shown again."""
    places = [found[1] for found in map(_ROW.fullmatch, sent) if found and found[1] != "new"]
    return [{name: sent.get(f"{name}-{place}", "") for name in FIELDS} for place in places]


def items_of(sent: Mapping[str, str], currency: str) -> list[Json]:
    """What the rows ask for; a row of quantity 0 is taken out, a SKU that comes twice is one line. Raises Invalid."""
    found: dict[str, Json] = {}
    for place in (match[1] for match in map(_ROW.fullmatch, sent) if match):
        item = _item({name: sent.get(f"{name}-{place}", "").strip() for name in FIELDS}, currency)
        if item is None:
            continue
        if known := found.get(item["productid"]):
            known["quantity"] += item["quantity"]
        else:
            found[item["productid"]] = item
    return list(found.values())


def with_product(items: Sequence[Json], sku: str) -> list[Json]:
    """One more of a product or variant."""
    if any(each["productid"] == sku for each in items):
        return [
            {**each, "quantity": each["quantity"] + 1} if each["productid"] == sku else each for each in items
        ]
    return [*items, {"productid": sku, "quantity": 1}]


def discount_of(text: str, reason: str, currency: str) -> Json | None:
    """ "10 %" or "5.00" with its reason; None for nothing. Raises Invalid."""
    text, reason = text.strip(), reason.strip()
    if not text:
        return None
    if not reason:
        raise Invalid(_("Say why something is taken off: the customer reads it."))
    if percent := _PERCENT.fullmatch(text):
        points = int(percent[1]) * 100 + int((percent[2] or "").ljust(2, "0"))
        if not 1 <= points <= 10_000:
            raise Invalid(_("Write between 0.01 and 100 percent."))
        return {"basis_points": points, "reason": reason}
    return {"amount": prices.parse(text, currency, "discount"), "reason": reason}


def discount_text(discount: Json | None) -> str:
    """As `discount_of` reads it."""
    if not discount:
        return ""
    if "amount" in discount:
        return prices.plain(discount["amount"])
    whole, part = divmod(discount["basis_points"], 100)
    return f"{whole}.{part:02d} %" if part else f"{whole} %"


def _row(item: Json, line: Json | None) -> Json:
    discount = item.get("discount")
    return {
        "sku": item["productid"],
        "quantity": str(item["quantity"]),
        "price": prices.plain(item["price"]) if "price" in item else "",
        "off": discount_text(discount),
        "reason": item.get("reason") or (discount["reason"] if discount else ""),
        "line": line,
    }


def _item(row: Mapping[str, str], currency: str) -> Json | None:
    if not row["sku"]:
        return None
    if not _NUMBER.fullmatch(row["quantity"] or "1"):
        raise Invalid(_("Write how many of %(sku)s as a whole number.", sku=row["sku"]))
    quantity = int(row["quantity"] or "1")
    if not quantity:
        return None
    item: Json = {"productid": row["sku"], "quantity": quantity}
    if row["price"]:
        if not row["reason"]:
            raise Invalid(_("Say why something is taken off: the customer reads it."))
        item |= {"price": prices.parse(row["price"], currency, "price"), "reason": row["reason"]}
    if off := discount_of(row["off"], row["reason"], currency):
        item["discount"] = off
    return item
