"""Customs: between which places goods are declared, and what a declaration says of those in a parcel.

Postal operators want a declaration where goods leave a customs territory, and where they leave the area of a tax on sales within one, as to the
Canary Islands. Northern Ireland belongs to two: consumers' parcels from Great Britain need none (the Windsor Framework, since May 2025), nor do
those from the Union.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from services.orders.declarations.order import Order
from services.orders.declarations.parts import Line, line_key, net_price
from services.orders.rules.labels import CustomsDeclaration, CustomsItem, LabelRefused, Place
from services.orders.rules.pricing.terms import CustomsTerms, compact
from shared.errors import Invalid
from shared.money import money

NORTHERN_IRELAND, MILITARY = "GB-NIR", "US-MIL"
UNIONS: Final = (
    frozenset(
        (
            *"AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MC MT NL PL PT RO SE SI SK SM".split(),
            NORTHERN_IRELAND,
        )
    ),
    frozenset(("GB", "IM", NORTHERN_IRELAND)),
    frozenset(("CH", "LI")),
    frozenset(("US", "PR")),
)
"""Territories without declarations between them: the Union's (with Monaco and San Marino), the United Kingdom's with the Isle of Man,
Switzerland's, the United States'."""
_BY_POSTCODE: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "GB": (("BT", NORTHERN_IRELAND), ("GY", "GG"), ("JE", "JE"), ("IM[0-9]", "IM"), ("GX11", "GI")),
    "ES": (("35|38", "ES-CN"), ("51", "ES-CE"), ("52", "ES-ML")),
    "FI": (("22", "AX"),),
    "DE": (("27498", "DE-HELGOLAND"), ("78266", "CH")),
    "IT": (("23041", "IT-LIVIGNO"), ("22061", "IT-CAMPIONE"), ("00120", "VA")),
    "GR": (("63086", "GR-ATHOS"),),
    "FR": (
        *(("97133", "BL"), ("97150", "MF"), ("971", "GP"), ("972", "MQ"), ("973", "GF"), ("974", "RE")),
        *(("975", "PM"), ("976", "YT"), ("984", "TF"), ("986", "WF"), ("987", "PF"), ("988", "NC")),
    ),
    "DK": (("39[0-9]{2}$", "GL"),),
    "NO": (("917", "SJ"), ("8099", "SJ")),
    "US": (
        *(("00[679]", "PR"), ("008", "VI"), ("96799", "AS"), ("969", "US-PACIFIC")),
        ("09|340|96[2-6]", MILITARY),
    ),
}
"""Parts of countries that lie outside, by how their postcodes begin: the first that fits."""
_BY_REGION: Final[Mapping[str, Mapping[str, str]]] = {
    "ES": {"GC": "ES-CN", "TF": "ES-CN", "CE": "ES-CE", "ML": "ES-ML"},
    "US": {
        **{code: code for code in ("AS", "PR", "VI")},
        **dict.fromkeys(("FM", "GU", "MH", "MP", "PW"), "US-PACIFIC"),
        **dict.fromkeys(("AA", "AE", "AP"), MILITARY),
    },
}
_SAME: Final = {
    "FM": "US-PACIFIC",
    "GU": "US-PACIFIC",
    "MH": "US-PACIFIC",
    "MP": "US-PACIFIC",
    "PW": "US-PACIFIC",
}
AMERICAN: Final = frozenset(("US", "PR", "VI", MILITARY))
EXEMPT, EXEMPT_TO_CANADA = "NOEEI 30.37(a)", "NOEEI 30.36"
MAX_EXEMPT: Final = 2500_00
"""In US cents, for the goods of one HS code: what leaves the United States and is worth more is filed first (15 CFR 30.37)."""
RETURNED_GOODS: Final = "returned_goods"
HS_CODE, ORIGIN, WEIGHT, PRICE = "hs_code", "origin", "weight_grams", "price"
_WORDS: Final = {HS_CODE: "HS code", ORIGIN: "country of origin", WEIGHT: "weight", PRICE: "price"}

NO_SIGNER: Final = (
    "This parcel crosses a customs border: write who signs customs declarations, in the shop's settings."
)
TO_BE_FILED: Final = (
    "Goods of one HS code worth more than 2,500 dollars are filed with the American customs before they leave. "
    "File them, buy the label at the carrier, and write down courier and tracking number where the parcel is dispatched."
)


class CustomsIncomplete(LabelRefused):
    """`products` says of each product what it lacks for a declaration: {productid, name, missing}."""

    code, title = "customs_incomplete", "A customs declaration needs more of these products"


def customs_territory(parts: Mapping[str, str]) -> str:
    """Where an address (`shared.addresses`) lies: its country (ISO 3166-1), or the part of it that customs treat otherwise."""
    country, postcode = parts.get("country", ""), compact(parts.get("postcode", ""))
    if found := _BY_REGION.get(country, {}).get(parts.get("region", "").upper()):
        return found
    for pattern, territory in _BY_POSTCODE.get(country, ()):
        if re.match(pattern, postcode):
            return territory
    return _SAME.get(country, country)


def crosses_customs(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether goods between these two addresses are declared."""
    here, there = customs_territory(one), customs_territory(other)
    return here != there and not any({here, there} <= union for union in UNIONS)


def declaration(
    order: Order,
    lines: Sequence[Any],
    offers: Mapping[str, Any],
    terms: CustomsTerms,
    sender: Place,
    receiver: Place,
) -> CustomsDeclaration:
    """Of `lines` of the order, `offers` being their products now. Raises CustomsIncomplete, LabelRefused where nobody signs."""
    known = {line_key(line): line for line in order["basket"]}
    items, lacking = [], []
    for line in lines:
        key = line_key(line)
        item, missing = _item(order, known[key], line["quantity"], offers.get(key) or {}, terms)
        if missing:
            lacking.append({"productid": line["productid"], "name": line["name"], "missing": missing})
        items.append(item)
    if lacking:
        raise _incomplete(lacking)
    if not terms.signer:
        raise LabelRefused(NO_SIGNER)
    filing = american_filing(items, sender.parts, receiver.parts)
    return CustomsDeclaration(tuple(items), terms.contents, terms.signer, filing)


def american_filing(
    items: Sequence[CustomsItem], sender: Mapping[str, str], receiver: Mapping[str, str]
) -> str:
    """The exemption from filing that holds. Raises LabelRefused where none does; what is not priced in dollars is not reckoned."""
    if customs_territory(receiver) == "CA":
        return EXEMPT_TO_CANADA
    by_code: dict[str, int] = {}
    for item in items:
        if item.value["currency"] == "USD":
            by_code[item.hs_code] = by_code.get(item.hs_code, 0) + item.value["amount"]
    if customs_territory(sender) in AMERICAN and max(by_code.values(), default=0) > MAX_EXEMPT:
        raise LabelRefused(TO_BE_FILED)
    return EXEMPT


def check_weight(customs: CustomsDeclaration, grams: int | None) -> None:
    """Raises Invalid for a parcel that is said to be lighter than what is declared to be in it: carriers do not take it."""
    goods = sum(item.grams for item in customs.items)
    if grams and grams < goods:
        words = f"Its goods weigh {goods} g together already."
        raise Invalid(words, errors={"weight_grams": [words]})


def _item(
    order: Order, line: Line, quantity: int, offer: Mapping[str, Any], terms: CustomsTerms
) -> tuple[CustomsItem, list[str]]:
    """What is declared, and what is missing for it."""
    said, grams = offer.get("customs") or {}, offer.get("weight_grams") or 0
    value = declared_value(order, line, quantity)
    code, origin = said.get("hs_code", ""), said.get("origin") or terms.origin
    found = {HS_CODE: code, ORIGIN: origin, WEIGHT: grams, PRICE: value}
    currency = order["total"]["currency"]
    item = CustomsItem(
        line_key(line), line["name"], quantity, money(value, currency), grams * quantity, code, origin
    )
    return item, [name for name, each in found.items() if not each]


def declared_value(order: Order, line: Line, quantity: int) -> int:
    """What so many of a line were sold for: after discounts and without tax, half a unit up, never nothing for what had a price.

    What was given away is declared at its price: customs ask what goods are worth.
    """
    tax, whole = line.get("tax"), line["quantity"]
    sold = tax["base"]["amount"] if tax else _without_tax(order, line, net_price(line))
    sold = sold or _without_tax(order, line, line["total"]["amount"])
    return max(1, (2 * sold * quantity + whole) // (2 * whole)) if sold else 0


def _without_tax(order: Order, line: Line, amount: int) -> int:
    """Lines of orders that were imported, or are of an early version, do not say their tax."""
    tax = line.get("tax")
    included = tax["included"] if tax else order["tax"]["included"]
    percent = tax["rate"] if tax else order["tax"]["basisPoints"] / 100
    return round(amount * 100 / (100 + percent)) if included else amount


def _incomplete(lacking: list[dict[str, Any]]) -> CustomsIncomplete:
    named = "; ".join(
        f"{each['name']} ({', '.join(_WORDS[name] for name in each['missing'])})" for each in lacking
    )
    return CustomsIncomplete(
        f"This parcel crosses a customs border, and its goods are declared. Write at the products what they lack: {named}.",
        products=lacking,
    )
