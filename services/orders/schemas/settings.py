"""The settings of the desk, as they are sent and answered."""

from services.orders.promotion_settings import PROMOTION_FIELDS
from services.orders.shop_settings import SHIPPING_METHOD_FIELDS, SHOP_FIELDS, TAX_RATE_FIELDS
from shared.web import Shape, page_schema, request_schema, response_schema
from shared.web.fields import StrictInteger

ShippingMethodContent = request_schema("ShippingMethodContent", SHIPPING_METHOD_FIELDS)
ShippingMethod = response_schema("ShippingMethod", SHIPPING_METHOD_FIELDS)
ShippingMethods = page_schema("ShippingMethods", ShippingMethod)

TaxRateContent = request_schema("TaxRateContent", TAX_RATE_FIELDS)
TaxRate = response_schema("TaxRate", TAX_RATE_FIELDS)
TaxRates = page_schema("TaxRates", TaxRate)

PromotionContent = request_schema("PromotionContent", PROMOTION_FIELDS)
Promotion = response_schema("Promotion", PROMOTION_FIELDS)
Promotions = page_schema("Promotions", Promotion)


class PromotionUses(Shape):
    """Of what has no limit nothing is counted."""

    used = StrictInteger(0)
    limit = StrictInteger(1, allow_none=True)


ShopSettingsContent = request_schema("ShopSettingsContent", SHOP_FIELDS)
ShopSettings = response_schema("ShopSettings", SHOP_FIELDS)
ShopSettingsVersions = page_schema("ShopSettingsVersions", ShopSettings)
