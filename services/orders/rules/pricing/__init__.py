"""What an order costs: `items -> discounts -> shipping -> tax -> total`, each step a pure function over a `Cart` (`pipeline`).

The quote and the checkout both call `quote`, so that what was shown is what is charged.
"""

from services.orders.rules.pricing.carriers import Destination
from services.orders.rules.pricing.discounts import CodeNotValid, CodeUsedUp, Shopper, not_valid, used_up
from services.orders.rules.pricing.exchanges import exchange_price, offered_line, offered_quote
from services.orders.rules.pricing.from_settings import (
    address_lines,
    initial_terms,
    terms_of,
    with_promotions,
)
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
    TaxStep,
    asked_of_carriers,
    by_rate,
    check_expected,
    quote,
)
from services.orders.rules.pricing.promotions import Promotion, Promotions, normalized
from services.orders.rules.pricing.shipping import CarrierUnavailable, NotDelivered, ShippingNotAvailable
from services.orders.rules.pricing.tax import NO_TAX
from services.orders.rules.pricing.terms import ReturnTerms, ShopIdentity, Terms

__all__ = [
    "NO_TAX",
    "CarrierUnavailable",
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
    "ReturnTerms",
    "ShippingNotAvailable",
    "ShopIdentity",
    "Shopper",
    "TaxStep",
    "Terms",
    "VariantNeeded",
    "address_lines",
    "asked_of_carriers",
    "by_rate",
    "check_expected",
    "exchange_price",
    "initial_terms",
    "merged",
    "normalized",
    "not_valid",
    "offered_line",
    "offered_quote",
    "quote",
    "terms_of",
    "used_up",
    "with_promotions",
]
