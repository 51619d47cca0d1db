"""Variants: what a product with options is sold as. One without is sold as it is, and its productid is its SKU."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from shared.couch import Doc
from shared.money import Money, money

MAX_PROBLEMS: Final = 5


def variants_of(doc: Mapping[str, Any]) -> list[Doc]:
    """None of a product without options."""
    variants: list[Doc] = doc.get("variants", [])
    return variants


def skus_of(doc: Mapping[str, Any]) -> list[str]:
    """The SKUs of a product's variants."""
    return [variant["sku"] for variant in variants_of(doc)]


def is_active(variant: Mapping[str, Any]) -> bool:
    return bool(variant.get("active", True))


def variant_of(doc: Mapping[str, Any], sku: str) -> Doc | None:
    return next((variant for variant in variants_of(doc) if variant["sku"] == sku), None)


def price_of(product: Mapping[str, Any], variant: Mapping[str, Any]) -> Money:
    """What a variant costs: its own price in the product's currency, else the product's."""
    base: Money = product["price"]
    return money(variant.get("prices", {}).get(base["currency"], base["amount"]), base["currency"])


def highest_price(doc: Mapping[str, Any]) -> Money | None:
    """What the dearest active variant costs, when that is more than the product's price: the cheapest one's."""
    prices = [price_of(doc, variant)["amount"] for variant in variants_of(doc) if is_active(variant)]
    highest = max(prices, default=0)
    return money(highest, doc["price"]["currency"]) if highest > doc["price"]["amount"] else None


def shown_variants(doc: Mapping[str, Any]) -> list[Doc]:
    """The variants as an answer has them: each with its price and how many are left."""
    stock = doc.get("variant_stock", {})
    return [
        {"active": True, **variant, "price": price_of(doc, variant), "stock": stock.get(variant["sku"], 0)}
        for variant in variants_of(doc)
    ]


def stock_of(doc: Mapping[str, Any], levels: Mapping[str, int]) -> Doc:
    """What is left of a product with variants, as its document holds it; `levels` by SKU."""
    left = {sku: max(levels.get(sku, 0), 0) for sku in skus_of(doc)}
    active = (variant["sku"] for variant in variants_of(doc) if is_active(variant))
    return {"variant_stock": left, "stock": sum(left[sku] for sku in active)}


def without_removed(before: Mapping[str, Any], content: Mapping[str, Any], most: int) -> list[str]:
    """The SKUs that this product had once and has no more, the latest at the end."""
    present = {*skus_of(content), content["productid"]}
    former = [*before.get("former_skus", ()), *skus_of(before)]
    return [sku for sku in dict.fromkeys(former) if sku not in present][-most:]


def with_lowest_price(content: Doc) -> Doc:
    """The same content with the price of the cheapest active variant as the product's, and prices only of variants that cost
    something else: so lists sort and filter by what a customer pays at least."""
    if not variants_of(content):
        return content
    currency = content["price"]["currency"]
    prices = [price_of(content, variant)["amount"] for variant in content["variants"]]
    active = [price for price, variant in zip(prices, content["variants"], strict=True) if is_active(variant)]
    lowest = min(active, default=content["price"]["amount"])
    variants = [
        _priced(variant, {} if price == lowest else {currency: price})
        for price, variant in zip(prices, content["variants"], strict=True)
    ]
    return content | {"price": money(lowest, currency), "variants": variants}


def _priced(variant: Doc, prices: dict[str, int]) -> Doc:
    rest = {name: value for name, value in variant.items() if name != "prices"}
    return {**rest, "prices": prices} if prices else rest


def contradictions(content: Doc) -> Iterator[tuple[str, str]]:
    """What is wrong with options and variants that are right by themselves."""
    options, variants = content.get("options"), content.get("variants")
    if options is None or variants is None:
        return
    for field, problems in (("options", _of_options(options)), ("variants", _of_variants(content))):
        if found := list(problems):
            more = f" And {len(found) - MAX_PROBLEMS} more." if len(found) > MAX_PROBLEMS else ""
            yield field, " ".join(found[:MAX_PROBLEMS]) + more
    if options and not variants:
        yield "variants", "A product with options needs at least one variant."


def _of_options(options: list[Doc]) -> Iterator[str]:
    for name in _repeated(option["name"] for option in options):
        yield f"There are two options {name}."
    for option in options:
        for value in _repeated(option["values"]):
            yield f"{option['name']} has the value {value} twice."


def _of_variants(content: Doc) -> Iterator[str]:
    options = {option["name"]: option["values"] for option in content["options"]}
    currency = content.get("price", {}).get("currency")
    combinations: dict[tuple[str, ...], int] = {}
    numbers: dict[str, int] = {}
    for number, variant in enumerate(content["variants"], 1):
        yield from _of_choice(number, variant.get("options", {}), options)
        combination = tuple(variant.get("options", {}).get(name, "") for name in options)
        if (other := combinations.setdefault(combination, number)) != number:
            yield f"Entries {other} and {number} are alike: {', '.join(combination) or 'they have no options'}."
        if (other := numbers.setdefault(variant["sku"], number)) != number:
            yield f"Entries {other} and {number} have the same SKU, {variant['sku']}."
        for other_currency in variant.get("prices", {}).keys() - {currency}:
            yield f"Entry {number}, prices: {other_currency} is not the currency of the product's price."


def _of_choice(number: int, chosen: dict[str, str], options: dict[str, list[str]]) -> Iterator[str]:
    for name, values in options.items():
        if name not in chosen:
            yield f"Entry {number} has no {name}."
        elif chosen[name] not in values:
            yield f"Entry {number}: {name} has no value {chosen[name]}; it has {', '.join(values)}."
    for name in chosen.keys() - options.keys():
        yield f"Entry {number}: there is no option {name}."


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]  # adds, and is None
