"""Sales at a stall, as the desk's device sends and reads them."""

import marshmallow as ma

from services.orders.declarations.stall import OUTCOMES
from services.orders.rules.manual_payments import CASH, TERMINAL
from services.orders.schemas import requests
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES
from shared.web import Shape, page_schema
from shared.web.fields import MoneyShape, StrictInteger, Text, Time

MAX_LINES = 100
DAY = r"^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
KINDS = (CASH, TERMINAL)
_SELLER = {"description": "the userid of the member of staff who sold"}
_STALL = {"description": "what the stall is called", "example": "Market Square"}


class StallItem(requests.RequestedItem):
    price = ma.fields.Nested(
        MoneyShape, required=True, metadata={"description": "of one, as it was taken, with the tax"}
    )
    name = Text(1, 200, required=True)
    product = Text(1, 200, metadata={"description": "the productid, where a SKU is named"})
    taxonomy = ma.fields.List(Text(1, 200), required=True, validate=ma.validate.Length(1, 12))


class StallPayment(Shape):
    kind = ma.fields.String(
        required=True,
        validate=ma.validate.OneOf(KINDS),
        metadata={
            "description": "cash, or a card at the terminal of the stall, which the shop knows nothing of"
        },
    )
    given = ma.fields.Nested(MoneyShape, metadata={"description": "the cash that the customer gave"})
    reference = Text(0, 100, load_default="", metadata={"description": "of the terminal's receipt"})


class StallSale(Shape):
    items = ma.fields.List(
        ma.fields.Nested(StallItem, metadata=requests.NAMED),
        required=True,
        validate=ma.validate.Length(1, MAX_LINES),
    )
    total = ma.fields.Nested(MoneyShape, required=True, metadata={"description": "what was taken"})
    payment = ma.fields.Nested(StallPayment, required=True)
    stall = Text(1, 60, required=True, metadata=_STALL)
    sold_at = Time(required=True, metadata={"description": "when; a time to come is now"})
    sold_by = Text(1, 100, required=True, metadata=_SELLER)
    email = ma.fields.Email(
        load_default="",
        validate=ma.validate.Length(3, 254),
        metadata={"description": "who wants the receipt by e-mail"},
    )
    name = Text(0, 200, load_default="")
    language = Text(0, 20, load_default="", pattern=f"^(|{LANGUAGE})$")


class StallGoodsArgs(Shape):
    category = Text(1, 1000, required=True, metadata={"description": "its path", "example": "Home#Kitchen"})
    currency = ma.fields.String(load_default=None, validate=ma.validate.OneOf(sorted(CURRENCIES)))
    language = Text(0, 20, load_default="", pattern=f"^(|{LANGUAGE})$")


class StallGoods(Shape):
    """What a device of a stall knows of one thing that is sold."""

    key = ma.fields.String(required=True, metadata={"description": "what it is sold by"})
    productid = ma.fields.String(required=True)
    sku = ma.fields.String(required=True, allow_none=True)
    name = ma.fields.String(required=True)
    taxonomy = ma.fields.List(ma.fields.String(), required=True)
    selected_options = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.String(), allow_none=True)
    image = ma.fields.String(required=True, allow_none=True)
    stock = StrictInteger(required=True, allow_none=True)
    price = ma.fields.Nested(MoneyShape, required=True, metadata={"description": "with the tax"})


class StallGoodsList(Shape):
    items = ma.fields.List(ma.fields.Nested(StallGoods), required=True)


class StallEntry(Shape):
    orderid = ma.fields.String(required=True)
    number = ma.fields.String(required=True)
    stall = ma.fields.String(required=True)
    sold_by = ma.fields.String(required=True)
    kind = ma.fields.String(required=True, validate=ma.validate.OneOf(KINDS))
    total = ma.fields.Nested(MoneyShape, required=True)
    oversold = StrictInteger(0, required=True, metadata={"description": "pieces that the stock did not have"})
    price_changed = ma.fields.Boolean(
        required=True, metadata={"description": "the shop's prices were others when the sale came in"}
    )
    date = Time(required=True)


class StallTakings(Shape):
    stall = ma.fields.String(required=True)
    sold_by = ma.fields.String(required=True)
    sales = StrictInteger(1, required=True)
    cash = ma.fields.Nested(MoneyShape, required=True)
    terminal = ma.fields.Nested(MoneyShape, required=True)


class CashUpContent(Shape):
    day = Text(10, 10, required=True, pattern=DAY, metadata={"description": "in the shop's time zone"})
    stall = Text(1, 60, required=True, metadata=_STALL)
    sold_by = Text(1, 100, required=True, metadata=_SELLER)
    counted = ma.fields.Nested(MoneyShape, required=True, metadata={"description": "what is in the till"})
    opening = ma.fields.Nested(MoneyShape, metadata={"description": "what was in it in the morning"})
    paid_out = ma.fields.Nested(
        MoneyShape, metadata={"description": "what was taken out: refunds, purchases"}
    )
    note = Text(0, 500, load_default="")


class CashUp(Shape):
    id = ma.fields.String(required=True)
    day = ma.fields.String(required=True)
    stall = ma.fields.String(required=True)
    sold_by = ma.fields.String(required=True)
    opening = ma.fields.Nested(MoneyShape, required=True)
    sold = ma.fields.Nested(
        MoneyShape, required=True, metadata={"description": "for cash, as it was known then"}
    )
    paid_out = ma.fields.Nested(MoneyShape, required=True)
    expected = ma.fields.Nested(MoneyShape, required=True)
    counted = ma.fields.Nested(MoneyShape, required=True)
    difference = StrictInteger(
        required=True, metadata={"description": "counted less expected, in minor units"}
    )
    note = ma.fields.String(required=True)
    by = ma.fields.String(required=True)
    date = Time(required=True)


class StallDay(Shape):
    day = ma.fields.String(required=True)
    takings = ma.fields.List(ma.fields.Nested(StallTakings), required=True)
    sales = ma.fields.List(ma.fields.Nested(StallEntry), required=True)
    cash_ups = ma.fields.List(ma.fields.Nested(CashUp), required=True)


class StallSalesArgs(Shape):
    first = Text(10, 10, data_key="from", required=True, pattern=DAY, metadata={"description": "a day"})
    last = Text(
        10, 10, data_key="to", required=True, pattern=DAY, metadata={"description": "the last day, included"}
    )
    stall = Text(0, 60, load_default="", metadata={"description": "only what was sold at this one"})


class StallSaleOfDay(StallEntry):
    day = ma.fields.String(required=True)


class StallSalesList(Shape):
    items = ma.fields.List(ma.fields.Nested(StallSaleOfDay), required=True)


class OversoldLine(Shape):
    productid = ma.fields.String(required=True)
    sku = ma.fields.String()
    name = ma.fields.String(required=True)
    quantity = StrictInteger(1, required=True)
    amount = StrictInteger(0, required=True)


class OversoldSale(Shape):
    orderid = ma.fields.String(required=True)
    number = ma.fields.String(required=True)
    stall = ma.fields.String(required=True)
    sold_by = ma.fields.String(required=True)
    lines = ma.fields.List(ma.fields.Nested(OversoldLine), required=True)
    date = Time(required=True)


class OversoldOutcome(Shape):
    outcome = ma.fields.String(
        required=True,
        validate=ma.validate.OneOf(OUTCOMES),
        metadata={
            "description": "others came in; who waits for them gets them later; or they got their money back"
        },
    )


OversoldSales = page_schema("OversoldSales", OversoldSale)
