"""The HTTP side of the products service: parse, act, answer."""

from services.products.resources.admin import admin
from services.products.resources.browse import browse
from services.products.resources.bulk import bulk
from services.products.resources.categories import categories
from services.products.resources.files import files
from services.products.resources.internal import internal
from services.products.resources.notes import notes
from services.products.resources.pictures import pictures
from services.products.resources.product_types import product_types
from services.products.resources.reviews import reviews
from services.products.resources.search_rules import search_rules
from services.products.resources.stall import stall
from services.products.resources.stock_value import stock_values
from services.products.resources.supplier_deliveries import supplier_deliveries

BLUEPRINTS = (
    browse,
    reviews,
    admin,
    bulk,
    files,
    pictures,
    product_types,
    categories,
    search_rules,
    supplier_deliveries,
    stock_values,
    stall,
    notes,
    internal,
)

__all__ = ["BLUEPRINTS"]
