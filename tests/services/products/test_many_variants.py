"""Many products of eight variants each: imported, then searched by size and colour, none found whose variant is sold out."""

import os

from tests.services.products.conftest import Shop, eventually, product

COUNT, FILE = int(os.environ.get("MANY_VARIANTS", "160")), 80
"""`MANY_VARIANTS=10000` imports eighty thousand variants, in a quarter of an hour."""
SIZES, COLOURS = ("S", "M", "L", "XL"), ("red", "blue")
SOLD_OUT_EVERY = 7


def windbreaker(number: int) -> dict:
    """Of every seventh the red M is sold out."""
    productid = f"wind{number:05d}"
    variants = [
        {
            "sku": f"{productid}-{size}-{colour}",
            "options": {"Size": size, "Colour": colour},
            "stock": 0 if (size, colour) == ("M", "red") and number % SOLD_OUT_EVERY == 0 else 4,
        }
        for size in SIZES
        for colour in COLOURS
    ]
    options = [{"name": "Size", "values": [*SIZES]}, {"name": "Colour", "values": [*COLOURS]}]
    return product(
        productid,
        taxonomy=["Outdoor", f"Windbreakers {number % 20}"],
        name=f"Windbreaker {number}",
        options=options,
        variants=variants,
    )


def test_red_m_finds_no_product_whose_red_m_is_sold_out(shop: Shop) -> None:
    for first in range(0, COUNT, FILE):
        lines = [windbreaker(number) for number in range(first, min(first + FILE, COUNT))]
        assert shop.load(lines) == {"created": len(lines), "updated": 0, "unchanged": 0, "failed": []}
    sold_out = {f"wind{number:05d}" for number in range(0, COUNT, SOLD_OUT_EVERY)}
    wanted = min(sold_out)
    delivery = {"delta": 2, "reason": "delivery", "sku": f"{wanted}-L-red"}
    assert shop.admin("POST", f"/v1/products/{wanted}/stock", delivery).status == 201, (
        "right after the import"
    )

    def total(q: str) -> int:
        return int(shop.ok("/v1/products", q=q, limit=1).get("total", 0))

    eventually(lambda: total("windbreaker") == COUNT)
    eventually(lambda: total("windbreaker red M") == COUNT - len(sold_out))
    assert total("windbreaker blue M") == total("windbreaker red L") == COUNT
    assert total("windbreaker green M") == 0 or "green" in str(
        shop.ok("/v1/products", q="windbreaker green M").get("dropped_words")
    )
    found = [each["productid"] for each in shop.walk(q="windbreaker red M", limit=100)]
    assert len(set(found)) == COUNT - len(sold_out)
    assert sold_out.isdisjoint(found)
    chosen = {"options.Size": "M", "options.Colour": "red"}
    assert shop.ok("/v1/products", q="windbreaker", limit=1, **chosen)["total"] == COUNT - len(sold_out)
    assert shop.get("/v1/products", q="windbreaker red M").calls == {"global": 1}
    some = min(sold_out)
    delta, once = {"delta": 2, "reason": "delivery", "sku": f"{some}-M-red"}, {"Idempotency_Key": "restocked"}
    eventually(lambda: shop.admin("POST", f"/v1/products/{some}/stock", delta, **once).status == 201)
    eventually(lambda: total("windbreaker red M") == COUNT - len(sold_out) + 1)
