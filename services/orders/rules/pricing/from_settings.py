"""The terms of sale out of the settings' documents; where there are none of a kind, the environment's."""

import re
from collections.abc import Sequence
from dataclasses import replace

from services.orders.promotion_settings import PROMOTION_FIELDS, PROMOTION_TYPE
from services.orders.rules.pricing.promotions import (
    WHOLE,
    Action,
    AmountOff,
    BuyGet,
    FreeDelivery,
    Percent,
    Promotion,
    promotions,
    with_newer,
)
from services.orders.rules.pricing.rates import (
    Band,
    FlatRate,
    ProductCharges,
    ProviderRate,
    ValueRate,
    WeightRate,
)
from services.orders.rules.pricing.terms import (
    IDENTITY,
    RETURNS,
    CustomsTerms,
    Rate,
    ReturnTerms,
    ShippingMethod,
    ShopIdentity,
    TaxRate,
    Terms,
    Zone,
)
from services.orders.shop_settings import (
    MERCHANDISE,
    SHIPPING_METHOD_FIELDS,
    SHIPPING_METHOD_TYPE,
    SHOP_SETTINGS_TYPE,
    TAX_RATE_FIELDS,
    TAX_RATE_TYPE,
)
from shared.couch import Doc, Document
from shared.money import CURRENCIES


def initial_terms(
    country: str = "GB",
    *,
    delivery_per: str = "line",
    free_delivery_from: int = 0,
    tax_name: str = "VAT",
    tax_basis_points: int = 2000,
    tax_included: bool = True,
    gift_card_days: int = 0,
    returns: ReturnTerms = RETURNS,
    shop: ShopIdentity = IDENTITY,
) -> Terms:
    """The terms of a shop that has set none at the desk: products' own delivery charges and one tax rate, everywhere."""
    free = dict.fromkeys(CURRENCIES, free_delivery_from) if free_delivery_from else {}
    method = ShippingMethod("standard", "Delivery", ProductCharges(delivery_per), free_from=free)
    return Terms(
        country,
        (method,),
        (TaxRate(tax_name, tax_basis_points * 100, tax_included),),
        gift_card_days=gift_card_days,
        returns=returns,
        shop=shop,
    )


def terms_of(docs: Sequence[Document], initial: Terms) -> Terms:
    """Documents of the partition `settings`; `initial` holds for a kind that has none."""
    shop: Document = next(iter(SHOP_SETTINGS_TYPE.among(docs)), {})
    methods = sorted(
        (SHIPPING_METHOD_FIELDS.content(doc) for doc in SHIPPING_METHOD_TYPE.among(docs)),
        key=lambda content: (content["position"], content["id"]),
    )
    rates = [TAX_RATE_FIELDS.content(doc) for doc in TAX_RATE_TYPE.among(docs)]
    return Terms(
        shop.get("country", initial.country),
        tuple(_method(each) for each in methods if each["active"]) if methods else initial.methods,
        tuple(_tax_rate(each) for each in rates if each["active"]) if rates else initial.tax_rates,
        promotions(_promotion(doc) for doc in PROMOTION_TYPE.among(docs)),
        shop.get("gift_card_days", initial.gift_card_days),
        shop.get("region", ""),
        shop.get("postcode", ""),
        ReturnTerms(
            shop.get("return_days", initial.returns.days),
            shop.get("approve_returns", initial.returns.approved),
            shop.get("refund_before_receipt", initial.returns.refund_first),
            shop.get("exchange_before_receipt", initial.returns.exchange_first),
            shop.get("return_address", initial.returns.address),
            shop.get("buy_return_labels", initial.returns.buys_labels),
        ),
        ShopIdentity(
            shop.get("name") or initial.shop.name,
            address_lines(shop.get("address", "")) or initial.shop.address,
            shop.get("logo", ""),
        ),
        CustomsTerms(
            shop.get("customs_signer", ""),
            shop.get("customs_origin", ""),
            shop.get("customs_contents", MERCHANDISE),
        ),
    )


def with_promotions(terms: Terms, docs: Sequence[Document]) -> Terms:
    """The same terms, with the promotions of these documents as they say."""
    newer = [_promotion(doc) for doc in PROMOTION_TYPE.among(docs)]
    return replace(terms, promotions=with_newer(terms.promotions, newer))


def address_lines(text: str) -> tuple[str, ...]:
    """Of an address whose lines semicolons or line breaks part."""
    return tuple(filter(None, (line.strip() for line in re.split("[;\n]", text))))


def _method(content: Doc) -> ShippingMethod:
    return ShippingMethod(
        id=content["id"],
        name=content["name"],
        rate=_rate(content),
        zones=tuple(_zone(zone) for zone in content["zones"]),
        free_from=content["free_from"],
        min_days=content["min_days"],
        max_days=content["max_days"],
        max_grams=content["max_grams"],
        parcel_grams=content["parcel_grams"],
        collect_from=content["collect_from"],
        tax_class=content["tax_class"],
    )


def _rate(content: Doc) -> Rate:
    bands = tuple(
        Band(band["from"], band["price"]["amount"], band["price"]["currency"]) for band in content["bands"]
    )
    match content["rate"]:
        case "flat":
            return FlatRate(content["prices"])
        case "weight":
            return WeightRate(bands)
        case "value":
            return ValueRate(bands)
        case "carrier":
            return ProviderRate(content["provider"], content["service"], content["fallback_prices"])
        case _:
            return ProductCharges(content["per"])


def _zone(zone: Doc) -> Zone:
    return Zone(
        zone["country"],
        tuple(zone["regions"]),
        tuple(zone["postcodes"]),
        tuple(zone["excluded_postcodes"]),
    )


def _tax_rate(content: Doc) -> TaxRate:
    return TaxRate(
        content["name"],
        round(content["rate"] * 10_000),
        content["included"],
        content["tax_class"],
        content["country"],
        content["region"],
        content["valid_from"],
    )


def _promotion(doc: Document) -> Promotion:
    content = PROMOTION_FIELDS.content(doc)
    conditions = content["conditions"]
    first_order = any(each["kind"] == "first_order" for each in conditions)
    return Promotion(
        id=doc["id"],
        version=doc["version"],
        name=content["name"],
        actions=tuple(map(_action, content["actions"])),
        codes=tuple(content["codes"]),
        active=content["active"],
        categories=tuple(
            tuple(path.split("#")) for each in conditions for path in each.get("categories", ())
        ),
        products=frozenset(product for each in conditions for product in each.get("products", ())),
        groups=frozenset(group for each in conditions for group in each.get("groups", ())),
        minimums={
            each["amount"]["currency"]: each["amount"]["amount"]
            for each in conditions
            if each["kind"] == "minimum"
        },
        first_order=first_order,
        starts=content["from"],
        ends=content["to"],
        limit=content["limit"],
        per_customer=1 if first_order else content["per_customer"],
        priority=content["priority"],
        combines=content["combines"],
    )


def _action(action: Doc) -> Action:
    match action["kind"]:
        case "percent":
            return Percent(action["basis_points"])
        case "amount":
            return AmountOff(action["amount"]["amount"], action["amount"]["currency"])
        case "buy_x_get_y":
            return BuyGet(action["buy"], action["get"], action.get("basis_points", WHOLE))
        case _:
            return FreeDelivery(frozenset(action.get("methods", ())))
