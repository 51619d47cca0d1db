"""Products and past orders by the thousand, from a fixed seed: NDJSON lines for the admin imports."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

ADJECTIVES = "amber bright compact deep early fine gentle heavy ideal jolly keen light mellow noble open plain quick round soft true".split()
NOUNS = "kettle lamp table chair shelf jacket scarf teapot radio carpet pillow mirror basket candle blanket bottle drawer towel vase clock".split()
BRANDS = "Alder Birch Cedar Dogwood Elm Fir Hazel Juniper Larch Maple".split()
COLOURS = "red green blue black white grey".split()
PER_CATEGORY = 50
PRODUCTS_ORDERED = 10_000
"""Past orders are of so many products, the first ones."""
FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)


def category(number: int) -> list[str]:
    """The taxonomy of the category with this number: three levels, 10 x 20 x as many as it takes."""
    return [f"Department {number % 10}", f"Range {number // 10 % 20}", f"Category {number}"]


def products(count: int) -> Iterator[bytes]:
    """Product lines; every category holds fifty."""
    dice = random.Random(1)
    for number in range(count):
        adjective, noun = dice.choice(ADJECTIVES), dice.choice(NOUNS)
        yield _line(
            productid=f"p{number:07d}",
            taxonomy=category(number // PER_CATEGORY),
            keywords=[noun, dice.choice(ADJECTIVES)],
            brand=dice.choice(BRANDS),
            name=f"{adjective.title()} {noun} {number}",
            description=f"A {adjective} {noun} in {dice.choice(COLOURS)}, made to last. "
            + " ".join(dice.choices(ADJECTIVES + NOUNS, k=20)),
            colours=dice.sample(COLOURS, 2),
            price=_pounds(dice.randrange(100, 20000)),
            delivery=_pounds(399),
            image="",
            stock=1_000_000,
        )


def past_orders(count: int, customers: list[str], seed: int = 2) -> Iterator[bytes]:
    """Order lines of one item each, paid and delivered; three customers of many among them ten each."""
    dice = random.Random(seed)
    for number in range(count):
        moment = FIRST_DAY + timedelta(minutes=number % 1_000_000)
        date = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        item = {
            "productid": f"p{dice.randrange(PRODUCTS_ORDERED):07d}",
            "name": "A thing",
            "quantity": 1,
            "unitPrice": _pounds(dice.randrange(100, 9000)),
        }
        userid = customers[number] if number < len(customers) else f"bench{number // 10:08d}"
        yield _line(
            orderid=f"b{seed}x{number:08d}",
            userid=userid,
            date=date,
            currency="GBP",
            items=[item],
            payment={"provider": "sandbox", "provider_ref": f"ref{number}", "date": date},
        )


def _pounds(amount: int) -> dict[str, int | str]:
    return {"amount": amount, "currency": "GBP"}


def _line(**values: object) -> bytes:
    return json.dumps(values).encode() + b"\n"
