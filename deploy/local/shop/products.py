"""Makes the sample shop's products out of the hand-written catalogue: the same ones every time."""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 20160512
VARIANTS = 2
CURRENCY = "GBP"


@dataclass(frozen=True)
class SampleProduct:
    """A product as an import line, and how to draw it."""

    line: dict
    shape: str
    colour: str


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
    line = {
        "taxonomy": leaf["path"],
        "keywords": sorted(
            {word.strip("',&").lower() for word in f"{style} {noun}".split()} - {"", "of", "a", "on"}
        ),
        "brand": brand,
        "name": f"{brand} {style} {noun}",
        "description": f"{sentence} {dice.choice(catalogue['closings'])}",
        "colours": colours,
        "price": {"amount": _price(*leaf["price"], dice), "currency": CURRENCY},
        "delivery": {"amount": leaf["delivery"], "currency": CURRENCY},
        "stock": dice.choice((0, 3, *[dice.randint(8, 120)] * 14)),
    }
    return SampleProduct(line, leaf["shape"], catalogue["colours"][colours[0]])


def _price(low: int, high: int, dice: random.Random) -> int:
    """More cheap ones than dear ones, and a shop's endings: .00, .50, .95, .99."""
    pounds = round((low + (high - low) * dice.random() ** 2) / 100)
    return max(low, pounds * 100 - dice.choice((0, 50, 5, 1)))


def _numbered(item: SampleProduct, number: int) -> SampleProduct:
    productid = f"p{number:04d}"
    line = {"productid": productid, **item.line, "image": f"/media/{productid}.svg"}
    return SampleProduct(line, item.shape, item.colour)
