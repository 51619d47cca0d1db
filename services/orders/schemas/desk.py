"""What the desk's lists of orders are asked for and answer, and those of customers."""

from typing import Any

import marshmallow as ma

from services.orders.rules.progress import STATUSES
from services.orders.schemas.answers import SignedMoney
from services.orders.schemas.requests import DATE
from shared.web import PageArgs, Shape
from shared.web.fields import StrictInteger, Text, Time


class AuthorizationArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    days = ma.fields.Integer(
        load_default=3,
        validate=ma.validate.Range(0, 60),
        metadata={"description": "those that can be taken for so many days more at most"},
    )


class OrderCountArgs(Shape):
    class Meta(PageArgs.Meta):
        pass

    q = ma.fields.String(
        load_default=None,
        validate=ma.validate.Length(max=200),
        metadata={
            "description": "an order's number (A-100042) or id, words of the customer's name, or the e-mail"
        },
    )
    product = ma.fields.String(
        load_default=None,
        validate=ma.validate.Length(max=1000),
        metadata={"description": "a productid or SKU that was ordered"},
    )
    open_returns = ma.fields.Boolean(
        load_default=False, metadata={"description": "only orders with returns that wait"}
    )
    waiting = ma.fields.Boolean(
        load_default=False, metadata={"description": "only orders with goods that are still to come"}
    )
    channel = Text(
        0,
        70,
        load_default="",
        pattern="^(|stall(:.+)?)$",
        metadata={
            "description": "only sales at stalls, or with `stall:NAME` at this one; goes without `q`",
            "example": "stall:Market Square",
        },
    )


class OrdersArgs(OrderCountArgs, PageArgs):
    start = ma.fields.String(data_key="from", load_default=None, validate=ma.validate.Regexp(DATE))
    end = ma.fields.String(data_key="to", load_default=None, validate=ma.validate.Regexp(DATE))
    status = ma.fields.String(load_default=None, validate=ma.validate.OneOf(STATUSES))
    customer = Text(
        0,
        64,
        load_default="",
        metadata={"description": "a userid: all orders of this customer; goes with no other filter"},
    )


class SpendArgs(Shape):
    """Whose: a customer, or who ordered as a guest."""

    class Meta:
        unknown = ma.EXCLUDE

    customer = Text(0, 64, load_default="", metadata={"description": "a userid"})
    email = Text(0, 254, load_default="", metadata={"description": "of a guest"})

    @ma.validates_schema
    def check_one(self, data: dict[str, Any], **_: Any) -> None:
        if bool(data["customer"]) == bool(data["email"]):
            raise ma.ValidationError("Name a customer or the e-mail of a guest.", "customer")


class OrderSummary(Shape):
    orderid = ma.fields.String()
    number = ma.fields.String(
        allow_none=True, metadata={"description": "what people call it; orders of older versions have none"}
    )
    userid = ma.fields.String(allow_none=True)
    date = Time()
    status = ma.fields.String(validate=ma.validate.OneOf(STATUSES))
    refunded = ma.fields.String()
    returned = ma.fields.String()
    open_returns = StrictInteger(metadata={"description": "returns that wait for the shop or for the goods"})
    waiting = StrictInteger(0, metadata={"description": "pieces that are sold and not here yet"})
    total = ma.fields.Nested(SignedMoney)
    units = StrictInteger(0)


class OrderPage(Shape):
    items = ma.fields.List(ma.fields.Nested(OrderSummary))
    next = ma.fields.String(allow_none=True)


class DeskOrder(OrderSummary):
    first_order = ma.fields.Boolean(
        allow_none=True,
        metadata={"description": "whether it is its customer's first that was paid; none while nobody knows"},
    )
    name = ma.fields.String(
        allow_none=True, metadata={"description": "the customer's; none once erased, or just placed"}
    )
    email = ma.fields.String(allow_none=True)
    stall = ma.fields.String(allow_none=True, metadata={"description": "at which stall it was sold"})


class DeskOrderPage(Shape):
    items = ma.fields.List(ma.fields.Nested(DeskOrder))
    next = ma.fields.String(allow_none=True)
    complete = ma.fields.Boolean(
        metadata={"description": "false while orders from before an upgrade are still being listed"}
    )
    unlisted = StrictInteger(
        0,
        allow_none=True,
        metadata={"description": "how many may be missing then; none while nobody has counted them"},
    )


class OrderCounts(Shape):
    counts = ma.fields.Dict(
        keys=ma.fields.String(validate=ma.validate.OneOf(STATUSES)),
        values=StrictInteger(0),
        metadata={"description": "by status; those that no order has are left out"},
    )
    total = StrictInteger(0)


class Spend(Shape):
    """What somebody has spent in one currency."""

    orders = StrictInteger(0, metadata={"description": "that were paid"})
    paid = ma.fields.Nested(SignedMoney)
    repaid = ma.fields.Nested(SignedMoney)
    net = ma.fields.Nested(SignedMoney, metadata={"description": "paid less repaid"})


class SpendByCurrency(Shape):
    items = ma.fields.List(ma.fields.Nested(Spend))
    next = ma.fields.String(allow_none=True)


class Authorization(Shape):
    """Money that is only reserved."""

    orderid = ma.fields.String()
    date = Time()
    total = ma.fields.Nested(SignedMoney, metadata={"description": "what would be taken now"})
    capture_before = ma.fields.String()
    expired = ma.fields.Boolean()


class Authorizations(Shape):
    items = ma.fields.List(ma.fields.Nested(Authorization))
    next = ma.fields.String(allow_none=True)
