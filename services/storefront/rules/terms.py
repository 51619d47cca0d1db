"""Shipping methods and tax rates as the desk types them: amounts with their currency, places a line each."""

import re
from collections.abc import Mapping
from typing import Final

from services.storefront.rules import prices
from services.storefront.rules.wording import days_text
from services.storefront.translation import gettext, isolated, number_text
from shared.errors import Invalid
from shared.money import CURRENCIES, money
from shared.types import Json

_AMOUNT: Final = re.compile(r"([A-Z]{3}) *([^ ].*)")
NUMBERS: Final = ("parcel_grams", "max_grams", "min_days", "max_days")
_ZONE_FIELDS: Final = {"regions": "regions", "postcodes": "postcodes", "except": "excluded_postcodes"}


def amounts(text: str, field: str) -> dict[str, int]:
    """ "GBP 3.95; EUR 4.95" in minor units by currency. Raises Invalid on `field`."""
    return dict(_amount(part, field) for part in re.split(r"[;\n]", text) if part.strip())


def bands(text: str, field: str, by: str) -> list[Json]:
    """A line for each: "2000: GBP 7.00" from so many grams, "GBP 50.00: GBP 0" from so much goods."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        start, colon, price = line.partition(":")
        if not colon:
            raise _wrong(field, gettext("Write a line for each, such as 2000: GBP 7.00."))
        currency, amount = _amount(price, field)
        begin = (
            prices.parse(start.strip(), currency, field)["amount"] if by == "value" else whole(start, field)
        )
        found.append({"from": begin, "price": money(amount, currency)})
    return found


def zones(text: str, field: str) -> list[Json]:
    """A line for each: "GB", "US regions CA, NY", "GB postcodes BT, IM", "GB regions Kent; except CT". Raises Invalid on `field`."""
    return [_zone(line, field) for line in map(str.strip, text.splitlines()) if line]


def _zone(line: str, field: str) -> Json:
    country, _, limits = line.partition(" ")
    zone: Json = {"country": country}
    for limit in filter(None, map(str.strip, limits.split(";"))):
        word, _, listed = limit.partition(" ")
        if word not in _ZONE_FIELDS or not listed.strip():
            raise _wrong(
                field,
                gettext("%(line)s: write GB, US regions CA, NY, GB postcodes BT or GB except BT.", line=line),
            )
        zone[_ZONE_FIELDS[word]] = [each.strip() for each in listed.split(",") if each.strip()]
    return zone


def method_body(values: Mapping[str, str]) -> Json:
    """A shipping method out of its form. Raises Invalid by field."""
    rate = values["rate"]
    return {
        "id": values["id"],
        "name": values["name"],
        "active": bool(values["active"]),
        "position": whole(values["position"] or "0", "position"),
        "zones": zones(values["zones"], "zones"),
        "rate": rate,
        "prices": amounts(values["prices"], "prices"),
        "bands": bands(values["bands"], "bands", rate),
        "per": values["per"],
        "provider": values["provider"],
        "service": values["service"],
        "fallback_prices": amounts(values["fallback_prices"], "fallback_prices"),
        "free_from": amounts(values["free_from"], "free_from"),
        "collect_from": values["collect_from"],
        "tax_class": values["tax_class"] or "standard",
        **{name: whole(values[name], name) for name in NUMBERS if values[name]},
    }


def method_values(method: Json) -> dict[str, str]:
    """The form of a shipping method."""
    texts = ("id", "name", "rate", "per", "provider", "service", "collect_from", "tax_class")
    plain = {name: method[name] for name in texts}
    numbers = {name: method[name] for name in ("position", *NUMBERS)}
    return {
        **plain,
        **{name: "" if number is None else str(number) for name, number in numbers.items()},
        "active": "yes" if method["active"] else "",
        "prices": amounts_text(method["prices"]),
        "fallback_prices": amounts_text(method["fallback_prices"]),
        "free_from": amounts_text(method["free_from"]),
        "bands": "\n".join(_band_text(band, method["rate"]) for band in method["bands"]),
        "zones": "\n".join(map(_zone_text, method["zones"])),
    }


def rate_body(values: Mapping[str, str]) -> Json:
    """A tax rate out of its form. Raises Invalid by field."""
    try:
        rate = float(values["rate"].replace(",", ".").removesuffix("%"))
    except ValueError:
        raise _wrong("rate", gettext("Write a number of percent, such as 20 or 8.875.")) from None
    texts = ("country", "region", "tax_class", "name", "valid_from")
    return {
        **{name: values[name] for name in texts if values[name]},
        "rate": rate,
        "included": bool(values["included"]),
        "active": bool(values["active"]),
    }


def rate_values(rate: Json) -> dict[str, str]:
    """The form of a tax rate."""
    texts = ("country", "region", "tax_class", "name", "valid_from")
    checks = {name: "yes" if rate[name] else "" for name in ("included", "active")}
    return {**{name: rate[name] for name in texts}, **checks, "rate": number_text(rate["rate"], "0.####")}


_SHOP_CHECKS = ("approve_returns", "refund_before_receipt", "exchange_before_receipt", "buy_return_labels")
SHOP_TEXTS = ("name", "address", "logo", "daily_figures_to", "time_zone", "customs_signer")


def shop_body(values: Mapping[str, str]) -> Json:
    """The shop's own settings out of their form. Raises Invalid by field."""
    body: Json = {name: values[name] for name in ("region", "postcode", "return_address", *SHOP_TEXTS)}
    numbers = [name for name in ("gift_card_days", "return_days") if values[name]]
    checks = {name: bool(values[name]) for name in _SHOP_CHECKS}
    return (
        body
        | {"country": values["country"].upper(), "customs_origin": values["customs_origin"].upper()}
        | ({"customs_contents": contents} if (contents := values["customs_contents"]) else {})
        | {name: whole(values[name], name) for name in numbers}
        | checks
    )


def shop_values(shop: Json) -> dict[str, str]:
    """The form of the shop's own settings."""
    texts = (
        "country",
        "region",
        "postcode",
        "gift_card_days",
        "return_days",
        "return_address",
        "customs_origin",
        "customs_contents",
        *SHOP_TEXTS,
    )
    return {name: str(shop[name]) for name in texts} | {
        name: "yes" if shop[name] else "" for name in _SHOP_CHECKS
    }


def offers(methods: Json, currency: str, charge: int | None = None) -> list[str]:
    """How the shop delivers at home, before anything is ordered: "Post from £3.95, free from £50.00, 2 to 4 days". `charge`: of a product
    whose own delivery charge counts; what it is of a basket is told at the checkout."""
    near = [
        each for each in methods["items"] if not each["countries"] or methods["country"] in each["countries"]
    ]
    return [text for each in near if (text := _offer(each, currency, charge))]


def _offer(method: Json, currency: str, charge: int | None) -> str:
    known = method["prices_from"]
    if known and currency not in known:
        return ""
    amount = known[currency] if known else charge
    name = isolated(method["name"])
    parts = [name if amount is None else f"{name} {_price(amount, currency, at_least=bool(known))}"]
    if "parcel_grams" in method:
        weight = number_text(method["parcel_grams"] / 1000, "#,##0.###")
        parts.append(gettext("each parcel up to %(weight)s kg", weight=weight))
    if amount and currency in method["free_from"]:
        free_from = prices.shown(money(method["free_from"][currency], currency))
        parts.append(gettext("free from %(price)s", price=free_from))
    if "days" in method:
        parts.append(days_text(method["days"]))
    return ", ".join(parts)


def _price(amount: int, currency: str, *, at_least: bool) -> str:
    if not amount:
        return gettext("free")
    price = prices.shown(money(amount, currency))
    return gettext("from %(price)s", price=price) if at_least else price


def whole(text: str, field: str) -> int:
    """Of at most nine digits. Raises Invalid on `field`."""
    if not text.strip().isdecimal() or len(text.strip()) > 9:
        raise _wrong(field, gettext("Write a whole number."))
    return int(text)


def amounts_text(amounts: Mapping[str, int]) -> str:
    return "; ".join(
        f"{currency} {prices.plain(money(amount, currency))}" for currency, amount in amounts.items()
    )


def _band_text(band: Json, by: str) -> str:
    price = band["price"]
    start = prices.plain(money(band["from"], price["currency"])) if by == "value" else band["from"]
    return f"{start}: {price['currency']} {prices.plain(price)}"


def _zone_text(zone: Json) -> str:
    limits = [f"{word} {', '.join(zone[name])}" for word, name in _ZONE_FIELDS.items() if zone[name]]
    return f"{zone['country']} {'; '.join(limits)}".strip()


def _amount(text: str, field: str) -> tuple[str, int]:
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or found[1] not in CURRENCIES:
        raise _wrong(field, gettext("Write the currency and the amount: GBP 3.95."))
    return found[1], prices.parse(found[2], found[1], field)["amount"]


def _wrong(field: str, message: str) -> Invalid:
    return Invalid(errors={field: [message]})
