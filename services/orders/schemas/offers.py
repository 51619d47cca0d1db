"""What is answered before anything is ordered: promotions, shipping methods, what a basket would cost."""

import marshmallow as ma

from services.orders.schemas import answers
from shared.web import Shape
from shared.web.fields import StrictInteger

_PRICES = {"description": "minor units by currency"}


class OfferedPromotion(Shape):
    """What applies by itself, while its dates and conditions hold."""

    id = ma.fields.String()
    name = ma.fields.String()


class OfferedPromotions(Shape):
    items = ma.fields.List(ma.fields.Nested(OfferedPromotion))


class OfferedMethod(Shape):
    """A shipping method before anything is ordered."""

    id = ma.fields.String()
    name = ma.fields.String()
    countries = ma.fields.List(
        ma.fields.String(), metadata={"description": "where it goes; everywhere when empty"}
    )
    prices_from = ma.fields.Dict(
        keys=ma.fields.String(),
        values=StrictInteger(0),
        metadata={"description": "by currency; empty: the products' own delivery charges"},
    )
    free_from = ma.fields.Dict(keys=ma.fields.String(), values=StrictInteger(0), metadata=_PRICES)
    days = ma.fields.Dict(keys=ma.fields.String(), values=StrictInteger(0))
    parcel_grams = StrictInteger(
        1, metadata={"description": "prices are of a parcel of so much; a heavier order goes in several"}
    )
    collect_from = ma.fields.String()


class OfferedMethods(Shape):
    """`countries`: where the shop delivers to; everywhere when empty."""

    country = ma.fields.String()
    countries = ma.fields.List(ma.fields.String())
    items = ma.fields.List(ma.fields.Nested(OfferedMethod))


class Quote(Shape):
    """What an order would cost now; its `total` is a checkout's `expected_total`."""

    items = ma.fields.List(ma.fields.Nested(answers.LineItem))
    goods = ma.fields.Nested(answers.SignedMoney, metadata={"description": "before discounts"})
    discounts = ma.fields.List(ma.fields.Nested(answers.AppliedDiscount))
    deliveryCharge = ma.fields.Nested(answers.SignedMoney)
    shipping_options = ma.fields.List(ma.fields.Nested(answers.ShippingOffer))
    unpriced_shipping = ma.fields.List(ma.fields.Nested(answers.UnpricedShipping))
    shipping = ma.fields.Nested(answers.Shipping)
    tax = ma.fields.List(ma.fields.Nested(answers.AppliedTax))
    total = ma.fields.Nested(answers.SignedMoney)
    credits = ma.fields.List(ma.fields.Nested(answers.CreditPayment))
    to_pay = ma.fields.Nested(
        answers.SignedMoney,
        metadata={"description": "what gift cards and store credit leave to the payment provider"},
    )
