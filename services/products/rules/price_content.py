"""The prices that a client sends: one `price`, or `prices` by currency, brought together with what the product has."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from services.products.price_fields import regular_prices
from services.products.rules.prices import PRICE_TERMS, known_amounts, own_currency, regular_amount
from shared.couch import Doc
from shared.money import Money, money

OPTIONAL: Final = ("prices", *PRICE_TERMS, "cost_prices", "delivery_prices")
"""What stays as it is where a request does not name it."""
UNSAID: Final = ("sales", "group_prices", "cost_prices")
"""What stays as it is where a variant of a request does not name it: only staff is answered these."""
MAX_PROBLEMS: Final = 5


class PriceContradiction(ValueError):
    """What was sent does not fit together; its texts by field."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(errors)
        self.errors = errors


def mark_unsaid(variants: list[Doc], sent: list[Any]) -> None:
    """Puts None where a variant that was sent does not say anything of what stays as it is."""
    for variant, raw in zip(variants, sent, strict=True):
        variant |= {name: None for name in UNSAID if raw.get(name) is None}


def _with_unsaid(variants: list[Doc], before: Mapping[str, Any] | None) -> list[Doc]:
    old = {each["sku"]: each for each in before.get("variants", ())} if before else {}
    found = []
    for variant in variants:
        unsaid = [name for name in UNSAID if name in variant and variant[name] is None]
        known = old.get(variant["sku"], {})
        said = {name: value for name, value in variant.items() if name not in unsaid}
        found.append(said | {name: known[name] for name in unsaid if name in known})
    return found


def settled_prices(content: Doc, before: Mapping[str, Any] | None) -> Doc:
    """The content with complete prices: the product's own price is that of its cheapest active variant in each currency. In `content`
    what was not sent is None. Raises PriceContradiction."""
    kept = {name: content[name] for name in OPTIONAL if content[name] is not None}
    for name in OPTIONAL:
        default: Any = [] if name == "sales" else {}
        kept.setdefault(name, before.get(name, default) if before else default)
    price, prices = _agreeing(content["price"], content["prices"], before)
    variants = _with_unsaid(content["variants"], before)
    whole = _with_lowest_prices({**content, **kept, "price": price, "prices": prices, "variants": variants})
    return whole | _delivery(content["delivery"], content["delivery_prices"], whole, before)


def _agreeing(
    price: Money | None, prices: Mapping[str, int] | None, before: Mapping[str, Any] | None
) -> tuple[Money, dict[str, int]]:
    """The price in the product's own currency, and all of them.

    Where both were sent and differ, `price` counts when it alone was changed, and `prices` when `price` is only what an answer
    showed: that of a sale, for example.
    """
    old = dict(regular_prices(before)) if before else {}
    if price is None:
        every = dict(prices or old)
        own = own_currency(before) if before and own_currency(before) in every else next(iter(every))
        return money(every[own], own), every
    own, amount = price["currency"], price["amount"]
    if prices is None:
        return price, {**old, own: amount}
    every = {own: amount, **prices}
    is_shown = before is not None and amount in known_amounts(before, own)
    if every[own] != amount and not is_shown:
        if before is None or prices != old:
            raise PriceContradiction(
                {"price": [f"Is not prices.{own}: send one of the two, or the same in both."]}
            )
        every[own] = amount
    if before and own_currency(before) in every:
        own = own_currency(before)
    return money(every[own], own), every


def _with_lowest_prices(content: Doc) -> Doc:
    """Lists sort and filter by what a customer pays at least; prices only of variants that cost something else."""
    variants = content["variants"]
    if not variants:
        return content
    prices = dict(content["prices"])
    own: list[dict[str, int]] = [{} for _ in variants]
    problems: list[str] = []
    for currency in dict.fromkeys([*prices, *(each for v in variants for each in v.get("prices", ()))]):
        amounts = [regular_amount(content, variant, currency) for variant in variants]
        known = [amount for amount in amounts if amount is not None]
        if len(known) < len(amounts):
            problems += _without_price(variants, amounts, currency)
            continue
        active = [amount for amount, v in zip(known, variants, strict=True) if v.get("active", True)]
        prices[currency] = min(active, default=prices.get(currency, min(known)))
        for table, amount in zip(own, known, strict=True):
            if amount != prices[currency]:
                table[currency] = amount
    if problems:
        more = f" And {len(problems) - MAX_PROBLEMS} more." if len(problems) > MAX_PROBLEMS else ""
        raise PriceContradiction({"variants": [" ".join(problems[:MAX_PROBLEMS]) + more]})
    priced = [_priced(variant, table) for variant, table in zip(variants, own, strict=True)]
    currency = own_currency(content)
    return {**content, "prices": prices, "price": money(prices[currency], currency), "variants": priced}


def _priced(variant: Doc, prices: dict[str, int]) -> Doc:
    rest = {name: value for name, value in variant.items() if name != "prices"}
    return {**rest, "prices": prices} if prices else rest


def _without_price(variants: list[Doc], amounts: list[int | None], currency: str) -> Iterator[str]:
    for variant, amount in zip(variants, amounts, strict=True):
        if amount is None:
            yield f"{variant['sku']} has no price in {currency}, and neither has the product."


def _delivery(
    charge: Money | None, charges: Mapping[str, int] | None, content: Doc, before: Mapping[str, Any] | None
) -> Doc:
    """`delivery` in the product's own currency, and where it is not free in all others too."""
    own, currencies = content["price"]["currency"], list(content["prices"])
    every = _charges(charge, charges, delivery_charges(before) if before else {})
    if charge is not None and charge["currency"] not in currencies:
        raise PriceContradiction({"delivery": ["Must be in the currency of the price."]})
    if any(every.values()) and (missing := [each for each in currencies if each not in every]):
        raise PriceContradiction({"delivery_prices": [f"Missing for {', '.join(missing)}."]})
    several = len(currencies) > 1 and any(every.values())
    return {
        "delivery": money(every.get(own, 0), own),
        "delivery_prices": {each: every[each] for each in currencies} if several else {},
    }


def _charges(
    charge: Money | None, charges: Mapping[str, int] | None, old: Mapping[str, int]
) -> dict[str, int]:
    """What delivery costs by currency, out of what was sent of it."""
    if charge is None:
        return dict(charges or {})
    currency, amount = charge["currency"], charge["amount"]
    if charges is None:
        return {**old, currency: amount}
    if charges == old or charges.get(currency, amount) == amount:
        return {**charges, currency: amount}
    if amount == old.get(currency):
        return dict(charges)
    raise PriceContradiction({"delivery": [f"Is not delivery_prices.{currency}: send the same in both."]})


def delivery_charges(product: Mapping[str, Any]) -> dict[str, int]:
    """What delivery costs in each currency; nothing of what is delivered free in all of them."""
    charge = product["delivery"]
    return dict(product.get("delivery_prices") or {charge["currency"]: charge["amount"]})


def delivery_in(product: Mapping[str, Any], currency: str) -> Money:
    return money(delivery_charges(product).get(currency, 0), currency)
