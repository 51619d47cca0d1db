"""Tells everybody who keeps something made of products that these have changed: call it after writing."""

from collections.abc import Iterable, Mapping
from typing import Any

from services.products.dependencies import Dependencies
from services.products.documents import partition_of
from services.products.rules.publishing import is_public
from services.products.rules.variants import skus_of
from shared.cache_tags import CATALOGUE, category_tags, product_tag

Product = Mapping[str, Any]


def invalidate(deps: Dependencies, products: Iterable[Product], *, menu: bool = False) -> None:
    """Products with these contents are there, or were; `menu`: some came, went or moved."""
    changed = list(products)
    if menu:
        deps.menu.changed()
    deps.answer_cache.changed([each["taxonomy"] for each in changed])
    deps.marks.change({partition_of(each["taxonomy"]) for each in changed})
    invalidate_pages(deps, changed)


def invalidate_changed(
    deps: Dependencies, pairs: Iterable[tuple[Product, Product]], *, menu: bool = False
) -> None:
    """Products were those and are these now; some may be shown that were not, or no longer."""
    pairs = list(pairs)
    shown = [(is_public(before), is_public(now)) for before, now in pairs]
    if (True, False) in shown:
        deps.suggestion_cache.clear()
    moved = any(before != now for before, now in shown)
    invalidate(deps, [each for pair in pairs for each in pair], menu=menu or moved)


def invalidate_pages(deps: Dependencies, products: Iterable[Product]) -> None:
    """Products look otherwise wherever they are shown: other stock, or another rating."""
    tags = {tag for each in products for tag in (*category_tags(each["taxonomy"]), *_own_tags(each))}
    if tags:
        deps.cache_tags.invalidate({*tags, CATALOGUE})


def invalidate_after_sums(deps: Dependencies, before: Iterable[Product], now: Iterable[Product]) -> None:
    """Stock and ratings were summed up: lists show of the stock only whether there is any."""
    before = list(before)
    deps.marks.change({partition_of(each["taxonomy"]) for each in before})
    shown = {each["productid"]: _in_lists(each) for each in before}
    deps.cache_tags.invalidate({tag for each in before for tag in _own_tags(each)})
    invalidate_pages(deps, [each for each in now if _in_lists(each) != shown[each["productid"]]])


def _own_tags(product: Product) -> list[str]:
    """Of its page, and of those of its variants."""
    return [product_tag(key) for key in (product["productid"], *skus_of(product))]


def _in_lists(product: Product) -> tuple[Any, ...]:
    return product["stock"] > 0, product["rating"], product["rank"]
