"""Products that are sold as variants, for tests: six shirts, and what is done with one of them."""

from datetime import timedelta
from typing import Any

from shared.clock import iso, now
from tests.services.products.conftest import Shop, product

KITCHEN = ["Home", "Kitchen"]
SIZES, COLOURS = ["S", "M", "L"], ["red", "blue"]


def shirt(productid: str, **fields: Any) -> dict[str, Any]:
    """Six variants, ten of each; the large ones cost more."""
    variants = [
        {
            "sku": f"{productid}-{size}-{colour}",
            "options": {"Size": size, "Colour": colour},
            "stock": 10,
            **({"prices": {"GBP": 1200}} if size == "L" else {}),
        }
        for size in SIZES
        for colour in COLOURS
    ]
    options = [{"name": "Size", "values": [*SIZES]}, {"name": "Colour", "values": [*COLOURS]}]
    return product(productid, options=options, variants=variants, **fields)


def variants_by_sku(found: dict[str, Any]) -> dict[str, Any]:
    return {variant["sku"]: variant for variant in found["variants"]}


def line(productid: str, sku: str, quantity: int = 1) -> dict[str, Any]:
    return {"productid": productid, "sku": sku, "taxonomy": KITCHEN, "quantity": quantity}


def reserve(shop: Shop, orderid: str, *lines: dict[str, Any]) -> Any:
    body = {"orderid": orderid, "items": list(lines), "expires": iso(now() + timedelta(minutes=15))}
    return shop.service("/v1/internal/reservations", body)


def level(shop: Shop, productid: str, sku: str) -> int:
    return int(shop.admin("GET", f"/v1/products/{productid}/stock?sku={sku}").json["stock"])


def edit(shop: Shop, productid: str, **changes: Any) -> Any:
    return shop.admin("PUT", f"/v1/products/{productid}", shop.ok(f"/v1/products/{productid}") | changes)
