"""Draft orders, as staff send and read them."""

from typing import Any

import marshmallow as ma

from services.orders.declarations.drafts import OPEN, PLACED, PLACING
from services.orders.rules.manual_payments import MANUAL_PAYMENTS
from services.orders.schemas import offers, requests
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES
from shared.web import Shape, page_schema
from shared.web.fields import MoneyShape, StrictInteger, Text, Time

LINK = "link"
PAYMENT_KINDS = (LINK, *MANUAL_PAYMENTS)
_REASON = {"description": "the customer reads it"}
_ABOUT_PRICE = {
    "description": "of one, as agreed with the customer, with a `reason`; promotions leave it alone"
}


class ManualDiscount(Shape):
    """What staff take off: an amount or a part of the price."""

    amount = ma.fields.Nested(MoneyShape)
    basis_points = StrictInteger(1, 10_000, metadata={"description": "hundredths of a percent"})
    reason = Text(1, 200, required=True, metadata=_REASON)

    @ma.validates_schema
    def check_one_way(self, data: dict[str, Any], **_: Any) -> None:
        if ("amount" in data) == ("basis_points" in data):
            raise ma.ValidationError("Give an amount or basis_points.", "amount")


class DraftItem(requests.RequestedItem):
    price = ma.fields.Nested(MoneyShape, metadata=_ABOUT_PRICE)
    reason = Text(1, 200, metadata=_REASON)
    discount = ma.fields.Nested(ManualDiscount)

    @ma.validates_schema
    def check_price(self, data: dict[str, Any], **_: Any) -> None:
        if "price" in data and "discount" in data:
            raise ma.ValidationError("Give a price or a discount.", "discount")
        if ("price" in data) != ("reason" in data):
            raise ma.ValidationError("A price has a reason.", "reason")


class DraftContent(Shape):
    """All of a draft's content: what is left out is empty."""

    userid = Text(
        1, 100, allow_none=True, load_default=None, metadata={"description": "a customer with an account"}
    )
    email = ma.fields.Email(validate=ma.validate.Length(3, 254), metadata={"description": "guests only"})
    name = Text(0, 200, load_default="", metadata={"description": "guests only"})
    items = ma.fields.List(
        ma.fields.Nested(DraftItem, metadata=requests.NAMED),
        load_default=list,
        validate=ma.validate.Length(0, requests.MAX_LINES),
    )
    discount = ma.fields.Nested(
        ManualDiscount, allow_none=True, load_default=None, metadata={"description": "of all goods"}
    )
    address = requests.PostalAddress(allow_none=True, load_default=None)
    shipping = Text(
        0, 40, load_default="", metadata={"description": "id of a shipping method; empty: the cheapest"}
    )
    codes = ma.fields.List(Text(1, 60), load_default=list, validate=ma.validate.Length(0, requests.MAX_CODES))
    gift_cards = ma.fields.List(
        Text(1, 60),
        load_default=list,
        validate=ma.validate.Length(0, 5),
        metadata={"description": "codes, or the ids of cards that the draft has already; no code is stored"},
    )
    currency = ma.fields.String(
        validate=ma.validate.OneOf(["", *sorted(CURRENCIES)]),
        load_default="",
        metadata={"description": "of all prices; empty: the shop's own"},
    )
    language = ma.fields.String(
        validate=ma.validate.Regexp(f"^(|{LANGUAGE})$"),
        load_default="",
        metadata={"description": "of e-mails and invoices; empty: the shop's own"},
    )
    note = Text(0, 2000, load_default="", metadata={"description": "for the people of the shop alone"})

    @ma.validates_schema
    def check_one_customer(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("userid") and data.get("email"):
            raise ma.ValidationError("Give a userid, or the e-mail of a guest.", "email")


class DraftPayment(Shape):
    kind = ma.fields.String(
        required=True,
        validate=ma.validate.OneOf(PAYMENT_KINDS),
        metadata={
            "description": "`link`: the customer gets an e-mail with the payment page; otherwise the shop has the money"
        },
    )
    reference = Text(
        0,
        200,
        load_default="",
        metadata={"description": "of a payment that the shop has, such as a receipt's number"},
    )
    provider = Text(
        0,
        40,
        load_default="",
        metadata={"description": "whose payment page, of `link`; empty: the first that has one"},
    )


class DraftPlacement(Shape):
    payment = ma.fields.Nested(DraftPayment, required=True)
    expected_total = ma.fields.Nested(
        MoneyShape,
        load_default=None,
        allow_none=True,
        metadata={"description": "409 when the total is another by now"},
    )


class ChosenGiftCard(Shape):
    id = ma.fields.String()
    name = ma.fields.String()


class PlacedOrder(Shape):
    orderid = ma.fields.String()
    number = ma.fields.String(allow_none=True)


class DraftSummary(Shape):
    """A draft order. `state`: `placing` while an attempt to place it has not ended."""

    id = ma.fields.String()
    state = ma.fields.String(validate=ma.validate.OneOf([OPEN, PLACING, PLACED]))
    userid = ma.fields.String(allow_none=True)
    email = ma.fields.String()
    name = ma.fields.String()
    items = ma.fields.List(ma.fields.Nested(DraftItem))
    discount = ma.fields.Nested(ManualDiscount, allow_none=True)
    address = ma.fields.Raw(allow_none=True)
    shipping = ma.fields.String()
    codes = ma.fields.List(ma.fields.String())
    gift_cards = ma.fields.List(ma.fields.Nested(ChosenGiftCard))
    currency = ma.fields.String()
    language = ma.fields.String()
    note = ma.fields.String()
    created = Time()
    created_by = ma.fields.String()
    edited = Time()
    edited_by = ma.fields.String()
    expires = Time(metadata={"description": "when it is removed, unless it is changed before"})
    order = ma.fields.Nested(PlacedOrder, metadata={"description": "once it is placed"})


class DraftProblem(Shape):
    code = ma.fields.String()
    detail = ma.fields.String()


class Draft(DraftSummary):
    quote = ma.fields.Nested(
        offers.Quote,
        allow_none=True,
        metadata={"description": "what it costs now, as `/v1/orders/quote` reckons it"},
    )
    problem = ma.fields.Nested(
        DraftProblem, allow_none=True, metadata={"description": "why there is no quote"}
    )


Drafts = page_schema("Drafts", DraftSummary)


class RefundSettlement(Shape):
    reference = Text(
        0, 200, load_default="", metadata={"description": "of what was paid back, such as a transfer's"}
    )
