"""Products out of the files that other shops export."""

from collections.abc import Callable, Iterator
from typing import Final

from services.products.rules.shop_exports import shopify, woocommerce
from services.products.rules.shop_exports.product import ExportedProduct, Options, Picture
from services.products.rules.shop_exports.table import MAX_BYTES

READERS: Final[dict[str, Callable[[bytes, Options], Iterator[ExportedProduct]]]] = {
    "shopify": shopify.products_of,
    "woocommerce": woocommerce.products_of,
}

__all__ = ["MAX_BYTES", "READERS", "ExportedProduct", "Options", "Picture"]
