"""Products that go with one: named by hand, then those that are bought with it."""

import hashlib
import logging
from typing import cast

from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.rules.publishing import is_public
from shared.cache_tags import product_tag
from shared.errors import Unavailable

log = logging.getLogger(__name__)

SHOWN = 6
ASKED = 24
"""Some of what is bought with it may be sold out, or no longer sold."""
_LEFT_OUT = ("description", "variant_stock", "former_skus", "attributes", "bulk_edits", "_rev")


def related(deps: Dependencies, product: Product) -> list[Product]:
    """What its page shows beside it. No database call: it is kept, and made again behind the answer."""
    productid = product["productid"]
    by_hand = hashlib.sha1(" ".join(product.get("related", ())).encode(), usedforsecurity=False).hexdigest()
    return deps.related_products.get(
        f"{productid}:{by_hand[:12]}",
        lambda: find_related(deps, product),
        lambda: deps.cache_tags.invalidate([product_tag(productid)]),
    )


def find_related(deps: Dependencies, product: Product) -> list[Product]:
    """The same as it is now. 1 global query here and 1 in orders."""
    by_hand = product.get("related", [])
    together = _bought_with(deps, product["productid"])
    found = deps.catalogue.all_by_productid(list(dict.fromkeys([*by_hand, *together])))
    shown = [found[each] for each in by_hand if each in found]
    shown += [found[each] for each in together if each in found and found[each]["stock"] > 0]
    public = {doc["productid"]: doc for doc in shown if is_public(doc)}
    public.pop(product["productid"], None)
    return [_slim(doc) for doc in list(public.values())[:SHOWN]]


def _bought_with(deps: Dependencies, productid: str) -> list[str]:
    try:
        return deps.orders.bought_together(productid, ASKED)
    except Unavailable as error:
        log.warning("what is bought with %s is not known now: %s", productid, error.detail)
        return []


def _slim(doc: Product) -> Product:
    slim = {name: value for name, value in doc.items() if name not in _LEFT_OUT}
    if "translations" in doc:
        slim["translations"] = {
            each: {name: said[name] for name in ("name", "labels") if name in said}
            for each, said in doc["translations"].items()
        }
    return cast(Product, slim)
