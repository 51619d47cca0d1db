"""Variants: what a product with options is sold as. One without is sold as it is, and its productid is its SKU."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from services.products.rules.backorders import terms_fields, waiting_fields
from services.products.rules.prices import PriceContext, current_price
from shared.couch import Doc

MAX_PROBLEMS: Final = 5
SUMMED_UP: Final = ("variant_stock", "variant_waiting", "waiting")
"""What of the stock's sums a document may lack."""
PRIVATE: Final = ("sales", "group_prices", "cost_prices")
"""What only staff is answered."""


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


def shown_variants(doc: Mapping[str, Any], context: PriceContext) -> list[Doc]:
    """The variants as an answer has them: each with what it costs and how many are left."""
    stock, waiting = doc.get("variant_stock", {}), doc.get("variant_waiting", {})
    hidden = () if context.staff else PRIVATE
    return [
        {
            "active": True,
            **without(variant, hidden),
            **price_fields(doc, variant, context),
            **terms_fields(doc, variant, context.backorders),
            **({"waiting": waiting[variant["sku"]]} if context.staff and variant["sku"] in waiting else {}),
            "stock": stock.get(variant["sku"], 0),
        }
        for variant in variants_of(doc)
    ]


def has_costs(doc: Mapping[str, Any]) -> bool:
    """Whether a cost price is known of it, which only staff is answered."""
    return any(each.get("cost_prices") for each in (doc, *variants_of(doc)))


def cost_fields(doc: Mapping[str, Any], sku: str, context: PriceContext) -> Doc:
    """What one costs the shop in the currency of its price, where that is known: a variant's own cost price, else the product's."""
    currency = context.of(doc)
    own = (variant_of(doc, sku) or {}).get("cost_prices", {})
    amount = own.get(currency, doc.get("cost_prices", {}).get(currency))
    return {} if amount is None else {"cost": amount}


def without(doc: Mapping[str, Any], names: Sequence[str]) -> Doc:
    return {name: value for name, value in doc.items() if name not in names}


def price_fields(doc: Mapping[str, Any], variant: Doc | None, context: PriceContext) -> Doc:
    """What an answer says of its price: null for what is not sold in the currency asked for."""
    found = current_price(doc, variant, context)
    return {"price": None} if found is None else found.fields()


def stock_of(doc: Mapping[str, Any], levels: Mapping[str, int]) -> Doc:
    """What is left of a product with variants, as its document holds it; `levels` by SKU."""
    left = {sku: max(levels.get(sku, 0), 0) for sku in skus_of(doc)}
    active = (variant["sku"] for variant in variants_of(doc) if is_active(variant))
    waiting = waiting_fields(levels, skus_of(doc))
    return {"variant_stock": left, "stock": sum(left[sku] for sku in active), **waiting}


def levels_of(doc: Mapping[str, Any]) -> dict[str, int]:
    """The levels that a product's document was made with, by SKU: below zero where pieces wait."""
    waiting: Mapping[str, int] = doc.get("variant_waiting", {})
    if skus_of(doc):
        return {sku: left - waiting.get(sku, 0) for sku, left in doc.get("variant_stock", {}).items()}
    return {doc["productid"]: doc["stock"] - doc.get("waiting", 0)}


def counted_fields(doc: Mapping[str, Any], levels: Mapping[str, int]) -> Doc:
    """What a product's document says of its stock; `levels` by SKU."""
    if skus_of(doc):
        return stock_of(doc, levels)
    own = levels.get(doc["productid"], 0)
    return {"stock": max(own, 0), **waiting_fields({doc["productid"]: own}, ())}


def without_removed(before: Mapping[str, Any], content: Mapping[str, Any], most: int) -> list[str]:
    """The SKUs that this product had once and has no more, the latest at the end."""
    present = {*skus_of(content), content["productid"]}
    former = [*before.get("former_skus", ()), *skus_of(before)]
    return [sku for sku in dict.fromkeys(former) if sku not in present][-most:]


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


def ambiguous_labels(content: Doc) -> list[str]:
    """Names of options, or values of one, that would read alike in a translation: nobody could choose between them."""
    problems = []
    for language, said in content["translations"].items():
        labels = said.get("labels", {})
        groups = [
            [option["name"] for option in content["options"]],
            *(o["values"] for o in content["options"]),
        ]
        for texts in groups:
            shown: dict[str, str] = {}
            for text in texts:
                other = shown.setdefault(labels.get(text, text), text)
                if other != text:
                    problems.append(f"{language}: {other} and {text} are both {labels.get(text, text)}.")
    return problems


def _of_options(options: list[Doc]) -> Iterator[str]:
    for name in _repeated(option["name"] for option in options):
        yield f"There are two options {name}."
    for option in options:
        for value in _repeated(option["values"]):
            yield f"{option['name']} has the value {value} twice."


def _of_variants(content: Doc) -> Iterator[str]:
    options = {option["name"]: option["values"] for option in content["options"]}
    combinations: dict[tuple[str, ...], int] = {}
    numbers: dict[str, int] = {}
    for number, variant in enumerate(content["variants"], 1):
        yield from _of_choice(number, variant.get("options", {}), options)
        combination = tuple(variant.get("options", {}).get(name, "") for name in options)
        if (other := combinations.setdefault(combination, number)) != number:
            yield f"Entries {other} and {number} are alike: {', '.join(combination) or 'they have no options'}."
        if (other := numbers.setdefault(variant["sku"], number)) != number:
            yield f"Entries {other} and {number} have the same SKU, {variant['sku']}."


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
