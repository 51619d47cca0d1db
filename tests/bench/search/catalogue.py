"""A large catalogue out of the sample: each of its products once as it is, and again under the brands of others of its department.

What a customer finds must not get worse when a shop grows. Names, categories and descriptions stay the real ones; only brands and
productids are others, so that words are as frequent, and stand in names or in descriptions alone, as they do in the sample.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

Product = dict[str, Any]


def large(products: Sequence[Product], copies: int) -> Iterator[Product]:
    """The products, then the copies, always the same."""
    brands: dict[str, list[str]] = {}
    for each in products:
        brands.setdefault(each["taxonomy"][0], []).append(brand_of(each))
    brands = {department: sorted(filter(None, set(its))) for department, its in brands.items()}
    yield from products
    for copy in range(1, copies):
        for number, each in enumerate(products):
            others = brands[each["taxonomy"][0]]
            other = others[(number + copy) % len(others)] if others else ""
            yield _under(other, each, copy)


def brand_of(product: Product) -> str:
    """As the sample has it; else what the name and the last level of the taxonomy begin with; else the first word of the name."""
    name, brand = product["name"], product["brand"]
    if brand and name.startswith(brand):
        return str(brand)
    pairs = zip(name.split(), product["taxonomy"][-1].split(), strict=False)
    shared = " ".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared if shared and shared != name else str(name.split()[0])


def _under(brand: str, product: Product, copy: int) -> Product:
    """The product under another brand, in its name, its categories and its description."""
    own = brand_of(product)
    changed = {
        name: product[name].replace(own, brand) if brand else product[name]
        for name in ("name", "description")
    }
    taxonomy = [level.replace(own, brand) if brand else level for level in product["taxonomy"]]
    return (
        product
        | changed
        | {
            "productid": f"{product['productid']}{copy:02}",
            "taxonomy": taxonomy,
            "brand": brand if product["brand"] else "",
        }
    )
