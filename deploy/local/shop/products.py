"""Makes the sample shop's products out of the hand-written catalogue: the same ones every time."""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from deploy.local.shop import german

SEED = 20160512
VARIANTS = 2
CURRENCY, OTHER_CURRENCY = "GBP", "EUR"
LARGEST_COSTS_MORE = 250
EURO_PERCENT = 117
SALE_PERCENT, TRADE_PERCENT = 75, 85
"""Of the regular price: what a product on sale costs, and what members of the customer group TRADE pay."""
COST_PERCENTS = (38, 45, 52, 58, 64)
"""Of the regular price: what a product costs the shop to buy."""
TRADE = "trade"
EVERY_SALE, EVERY_TRADE = 9, 4


@dataclass(frozen=True)
class SampleProduct:
    """A product as an import line, and how to draw it."""

    line: dict
    shape: str
    colour: str
    sizes: tuple[str, ...] = ()
    pictures: tuple[tuple[str, str], ...] = ()
    """Further ones: the name of the file, and the colour."""


def sample_products() -> list[SampleProduct]:
    """About two hundred products, in the catalogue's order."""
    catalogue = tomllib.loads((Path(__file__).parent / "catalogue.toml").read_text())
    every = [item for leaf in catalogue["leaf"] for item in _leaf(catalogue, leaf)]
    kept = [item for place, item in enumerate(every) if place % 10 != 9]
    return [_numbered(item, number) for number, item in enumerate(kept, start=1)]


def _leaf(catalogue: dict, leaf: dict) -> Iterator[SampleProduct]:
    dice = random.Random(f"{SEED} {leaf['path']}")
    for noun, sentence in leaf["nouns"].items():
        brands = dice.sample(catalogue["brands"], VARIANTS)
        styles = dice.sample(leaf["styles"], VARIANTS)
        for brand, style in zip(brands, styles, strict=True):
            yield _product(catalogue, leaf, noun, sentence, brand, style, dice)


def _product(
    catalogue: dict, leaf: dict, noun: str, sentence: str, brand: str, style: str, dice: random.Random
) -> SampleProduct:
    colours = dice.sample(leaf["colours"], dice.choice((1, 2, 2, 3)))
    closing = dice.choice(catalogue["closings"])
    line = {
        "taxonomy": leaf["path"],
        "keywords": sorted(
            {word.strip("',&").lower() for word in f"{style} {noun}".split()} - {"", "of", "a", "on"}
        ),
        "brand": brand,
        "name": f"{brand} {style} {noun}",
        "description": f"{sentence} {closing}",
        "translations": {german.LANGUAGE: german.translation(brand, style, noun, closing, colours)},
        "colours": colours,
        "price": {"amount": _price(*leaf["price"], dice), "currency": CURRENCY},
        "delivery": {"amount": leaf["delivery"], "currency": CURRENCY},
        "stock": dice.choice((0, 3, *[dice.randint(8, 120)] * 14)),
    }
    shown = tuple((colour, catalogue["colours"][colour]) for colour in colours[1:])
    sizes = tuple(leaf.get("sizes", ()))
    return SampleProduct(line, leaf["shape"], catalogue["colours"][colours[0]], sizes, shown if sizes else ())


def _price(low: int, high: int, dice: random.Random) -> int:
    """More cheap ones than dear ones, and a shop's endings: .00, .50, .95, .99."""
    pounds = round((low + (high - low) * dice.random() ** 2) / 100)
    return max(low, pounds * 100 - dice.choice((0, 50, 5, 1)))


def _numbered(item: SampleProduct, number: int) -> SampleProduct:
    productid = f"p{number:04d}"
    line = {"productid": productid, **item.line, "image": f"/media/{productid}.svg"}
    line |= _prices(line["price"]["amount"], line["delivery"]["amount"], number)
    if item.sizes:
        line |= _variants(line, item.sizes)
    pictures = tuple((f"{productid}-{name}", colour) for name, colour in item.pictures)
    return replace(item, line=line, pictures=pictures)


def _prices(amount: int, delivery: int, number: int) -> dict:
    """In both currencies, with what it costs the shop; some products are on sale, some are cheaper for the trade."""
    regular = _in_both(amount)
    found: dict = {"prices": regular, "delivery_prices": _in_both(delivery) if delivery else {}}
    found["cost_prices"] = _reduced(regular, COST_PERCENTS[number % len(COST_PERCENTS)])
    if number % EVERY_SALE == 0:
        found["sales"] = [{"prices": _reduced(regular, SALE_PERCENT)}]
    if number % EVERY_TRADE == 0:
        found["group_prices"] = {TRADE: _reduced(regular, TRADE_PERCENT)}
    return found


def _in_both(pence: int) -> dict[str, int]:
    """With an ending of its own in each: .90 or .40 in euros."""
    cents = max(90, round(pence * EURO_PERCENT / 100 / 50) * 50 - 10)
    return {CURRENCY: pence, OTHER_CURRENCY: cents}


def _reduced(prices: dict[str, int], percent: int) -> dict[str, int]:
    return {currency: amount * percent // 100 for currency, amount in prices.items()}


def _variants(line: dict, sizes: tuple[str, ...]) -> dict:
    """Each size in each colour: some are sold out, the largest costs more, each further colour has a picture."""
    productid, colours = line["productid"], line["colours"]
    dice = random.Random(f"{SEED} {productid}")
    options = [{"name": "Size", "values": list(sizes)}]
    if len(colours) > 1:
        options.append({"name": "Colour", "values": colours})
    variants = []
    for size, colour in product(sizes, colours):
        chosen = {"Size": size} | ({"Colour": colour} if len(colours) > 1 else {})
        variant = {
            "sku": "-".join((productid, *chosen.values())),
            "options": chosen,
            "stock": dice.choice((0, 2, *[dice.randint(5, 30)] * 6)),
        }
        if size == sizes[-1]:
            more = _in_both(LARGEST_COSTS_MORE)
            variant["prices"] = {
                currency: amount + more[currency] for currency, amount in line["prices"].items()
            }
        if colour != colours[0]:
            variant["picture"] = f"/media/{productid}-{colour}.svg"
        variants.append(variant)
    return {"options": options, "variants": variants}
