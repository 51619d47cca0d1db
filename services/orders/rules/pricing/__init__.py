"""What an order costs: `items -> discounts -> shipping -> tax -> total`, each step a pure function over a `Cart` (`pipeline`).

The quote and the checkout both call `quote`, so that what was shown is what is charged.
"""

from services.orders.rules.pricing.discounts import CodeNotValid, CodeUsedUp, Shopper, not_valid, used_up
from services.orders.rules.pricing.from_settings import initial_terms, terms_of
from services.orders.rules.pricing.items import (
    MixedCurrencies,
    NoSuchProduct,
    VariantNeeded,
    merged,
)
from services.orders.rules.pricing.pipeline import (
    PriceChanged,
    Quote,
    QuoteRequest,
    by_rate,
    check_expected,
    quote,
)
from services.orders.rules.pricing.promotions import Promotion, Promotions, normalized
from services.orders.rules.pricing.shipping import NotDelivered, ShippingNotAvailable
from services.orders.rules.pricing.tax import NO_TAX
from services.orders.rules.pricing.terms import Destination, Terms

__all__ = [
    "NO_TAX",
    "CodeNotValid",
    "CodeUsedUp",
    "Destination",
    "MixedCurrencies",
    "NoSuchProduct",
    "NotDelivered",
    "PriceChanged",
    "Promotion",
    "Promotions",
    "Quote",
    "QuoteRequest",
    "ShippingNotAvailable",
    "Shopper",
    "Terms",
    "VariantNeeded",
    "by_rate",
    "check_expected",
    "initial_terms",
    "merged",
    "normalized",
    "not_valid",
    "quote",
    "terms_of",
    "used_up",
]
