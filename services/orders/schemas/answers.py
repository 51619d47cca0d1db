"""What is answered."""

import marshmallow as ma

from services.orders.declarations import credits, dead_letters, events, labels, order, parts, returns, stall
from services.orders.declarations.exchanges import EXCHANGE_OUTCOMES
from services.orders.rules.order_returns import APPROVED, REQUESTED, RETURN_STATUSES
from services.orders.rules.parcel_labels import LABEL_STATUSES
from services.orders.rules.progress import NONE, PART, STATUSES, WHOLE
from services.orders.schemas.invoices import CreditNote, Invoice
from services.orders.settings import DISPATCH, ORDER
from shared.web import Shape, response_schema
from shared.web.fields import StrictInteger, Text, Time


class SignedMoney(Shape):
    """Money of an answer; a net may be below zero."""

    amount = StrictInteger(required=True)
    currency = ma.fields.String(required=True)


PARTS = (NONE, PART, WHOLE)
LineItem = response_schema("LineItem", parts.LINE_FIELDS)


class Lines(Shape):
    items = ma.fields.List(ma.fields.Nested(LineItem))
    next = ma.fields.String(allow_none=True)


AppliedDiscount = response_schema("AppliedDiscount", parts.APPLIED_DISCOUNT_FIELDS)
CreditPayment = response_schema("CreditPayment", credits.CREDIT_PAYMENT_FIELDS)
AppliedTax = response_schema("AppliedTax", parts.APPLIED_TAX_FIELDS)
ShippingOffer = response_schema("ShippingOffer", parts.SHIPPING_OFFER_FIELDS)
UnpricedShipping = response_schema("UnpricedShipping", parts.UNPRICED_SHIPPING_FIELDS)
Shipping = response_schema("Shipping", parts.SHIPPING_FIELDS)


Payment = response_schema(
    "Payment",
    events.PAYMENT_FIELDS,
    {
        "authorized_total": ma.fields.Nested(
            SignedMoney, metadata={"description": "what the payment provider reserved or took with the order"}
        ),
        "captured_total": ma.fields.Nested(
            SignedMoney, metadata={"description": "what of it was taken; refunds are paid back of this"}
        ),
        "open_total": ma.fields.Nested(
            SignedMoney,
            metadata={"description": "what is still reserved and can be taken with later parcels"},
        ),
    },
)
Dispatch = response_schema("Dispatch", events.DISPATCH_FIELDS)
Delivery = response_schema("Delivery", events.DELIVERY_FIELDS)
Cancellation = response_schema("Cancellation", events.CANCELLATION_FIELDS)
ReturnedLine = response_schema("ReturnedLine", returns.RETURNED_LINE_FIELDS)
OrderedItem = response_schema(
    "OrderedItem",
    parts.LINE_FIELDS,
    {
        "dispatched": StrictInteger(
            0, metadata={"description": "how many of it have left, of an order in several parcels"}
        ),
        "delivered": StrictInteger(0, metadata={"description": "how many of it have arrived, likewise"}),
        "cancelled": StrictInteger(0, metadata={"description": "how many of it were cancelled"}),
        "waiting": StrictInteger(
            0, metadata={"description": "how many of it are sold and not here yet, where there are any"}
        ),
        "returned": StrictInteger(0, metadata={"description": "how many of it came back, if any"}),
        "status": ma.fields.String(
            metadata={
                "description": "where it differs from the order's; also `waiting`, `partly_returned` and `returned`"
            }
        ),
    },
)


SoldLine = response_schema("SoldLine", parts.SOLD_LINE_FIELDS)


class Parcel(Dispatch):  # type: ignore[misc, valid-type]  # made from the declaration
    """Goods that left together."""

    number = StrictInteger(1)
    tracking_url = ma.fields.String(
        allow_none=True, metadata={"description": "where the customer can see how far it is"}
    )
    delivered = Time(allow_none=True, metadata={"description": "when it arrived"})
    lines = ma.fields.List(ma.fields.Nested(SoldLine))


class LineCancelled(response_schema("LineCancellationFields", events.LINE_CANCELLATION_FIELDS)):  # type: ignore[misc]  # made from the declaration
    """Goods that were cancelled before they went out."""

    lines = ma.fields.List(ma.fields.Nested(SoldLine))
    refund = ma.fields.Nested(
        SignedMoney, allow_none=True, metadata={"description": "what is paid back for them"}
    )


class ExchangedItem(Shape):
    productid = ma.fields.String(metadata={"description": "what comes back, by its SKU if it has one"})
    exchange_for = ma.fields.String(metadata={"description": "SKU or productid of what is sent for it"})
    quantity = StrictInteger(1)
    name = ma.fields.String()


class Exchange(Shape):
    """Other goods for those that come back, as an order of their own."""

    status = ma.fields.String(
        validate=ma.validate.OneOf([REQUESTED, APPROVED, *EXCHANGE_OUTCOMES]),
        metadata={
            "description": "approved: the goods are kept; offered: their order waits for the difference to be paid; paid: they are "
            "sent; unpaid, sold_out: the money is paid back instead"
        },
    )
    orderid = ma.fields.String(allow_none=True, metadata={"description": "of the order with these goods"})
    items = ma.fields.List(ma.fields.Nested(ExchangedItem))
    difference = ma.fields.Nested(
        SignedMoney,
        allow_none=True,
        metadata={
            "description": "what all of them cost more than the goods that come back; less if negative"
        },
    )
    paid_with = ma.fields.Nested(
        SignedMoney, allow_none=True, metadata={"description": "how much of the refund pays for them"}
    )


ReturnLabel = response_schema("ReturnLabel", labels.LABEL_FIELDS)


class BoughtLabel(ReturnLabel):  # type: ignore[misc, valid-type]  # made from the declaration
    """A label that the shop has bought for the parcel of a return."""

    cost = ma.fields.Nested(SignedMoney, metadata={"description": "what the shop has paid for it"})


class LabelledLine(Shape):
    productid = ma.fields.String()
    sku = ma.fields.String()
    name = ma.fields.String()
    quantity = StrictInteger(1)


class ParcelLabel(ReturnLabel):  # type: ignore[misc, valid-type]  # made from the declaration
    """A label for goods that go out, as staff see it."""

    number = StrictInteger(1)
    status = ma.fields.String(
        validate=ma.validate.OneOf(LABEL_STATUSES),
        metadata={
            "description": "used: a parcel has left with it; unused: its goods were sent or cancelled otherwise; refused: the carrier "
            "does not sell it, as `problem` says"
        },
    )
    date = Time()
    lines = ma.fields.List(ma.fields.Nested(LabelledLine))
    weight_grams = StrictInteger(1)
    cost = ma.fields.Nested(SignedMoney, allow_none=True, metadata={"description": "once it is bought"})
    problem = ma.fields.String()
    refunded = ma.fields.Boolean(
        metadata={"description": "its money was asked back: no parcel leaves with it"}
    )


class Return(Shape):
    """Goods that a customer sends back; nothing is paid back before they are received, unless the shop's settings say so."""

    number = StrictInteger(1)
    status = ma.fields.String(validate=ma.validate.OneOf(RETURN_STATUSES))
    date = Time()
    reason = ma.fields.String()
    note = ma.fields.String()
    lines = ma.fields.List(
        ma.fields.Nested(ReturnedLine), metadata={"description": "as received, until then as requested"}
    )
    requested_lines = ma.fields.List(ma.fields.Nested(ReturnedLine))
    approved = Time(allow_none=True)
    refused = Time(allow_none=True)
    refusal_reason = ma.fields.String()
    received = Time(allow_none=True)
    refund = ma.fields.Nested(
        SignedMoney, allow_none=True, metadata={"description": "what is paid back for it"}
    )
    restocked = ma.fields.Boolean(metadata={"description": "what can be sold again is in stock"})
    exchange = ma.fields.Nested(
        Exchange, allow_none=True, metadata={"description": "what is sent instead of the money, if anything"}
    )
    label = ma.fields.Nested(
        ReturnLabel,
        allow_none=True,
        metadata={"description": "that the shop has bought for the parcel: `.../returns/{number}/label.pdf`"},
    )

    label_problem = ma.fields.String(
        metadata={"description": "for staff: why no label was bought at the approval"}
    )


class OrderReturn(Return):
    orderid = ma.fields.String()


Refund = response_schema(
    "Refund",
    events.REFUND_FIELDS,
    {
        "settled": ma.fields.Boolean(metadata={"description": "the provider paid it back"}),
        "failed_total": ma.fields.Nested(
            SignedMoney,
            metadata={
                "description": "what the provider could not pay back: staff do, and record it (`by_hand`)"
            },
        ),
    },
)


class SavedMethod(Shape):
    """A card that the customer keeps at a provider."""

    provider = ma.fields.String()
    id = ma.fields.String(metadata={"description": "what an order's `payment.saved_method` takes"})
    brand = ma.fields.String()
    last4 = ma.fields.String()
    expires = ma.fields.String(metadata={"description": "the last month: 2027-12"})
    charged_at = ma.fields.String(
        validate=ma.validate.OneOf((ORDER, DISPATCH)),
        metadata={
            "description": "`order`: charged with the order; `dispatch`: reserved then, and charged as its parcels leave"
        },
    )


class SavedMethods(Shape):
    items = ma.fields.List(ma.fields.Nested(SavedMethod))


class PaymentPage(Shape):
    """A page of the payment provider."""

    url = ma.fields.String()
    expires = Time()
    problem = ma.fields.String(
        metadata={"description": "why the last try to pay failed, where the provider was just asked"}
    )


class Step(Shape):
    status = ma.fields.String()
    date = Time()


class OversoldSettlement(Shape):
    outcome = ma.fields.String(validate=ma.validate.OneOf(stall.OUTCOMES))
    date = Time()


class Oversold(response_schema("OversoldFields", stall.OVERSOLD_FIELDS)):  # type: ignore[misc]  # made from the declaration
    """Pieces of a sale at a stall that the stock did not have."""

    settled = ma.fields.Nested(
        OversoldSettlement, allow_none=True, metadata={"description": "how that was settled at the desk"}
    )


class GiftCardDelivery(Shape):
    """The codes of the gift cards that were bought go out by e-mail."""

    email = ma.fields.String(metadata={"description": "of whom they are for, or of the customer"})
    name = ma.fields.String()
    sent = Time(allow_none=True, metadata={"description": "the last time to this address"})


class Order(response_schema("OrderFields", order.ORDER_FIELDS)):  # type: ignore[misc]  # made from the declaration
    """An order: what was bought never changes, what happened next is added."""

    status = ma.fields.String(validate=ma.validate.OneOf(STATUSES))
    refunded = ma.fields.String(validate=ma.validate.OneOf(PARTS))
    returned = ma.fields.String(
        validate=ma.validate.OneOf(PARTS), metadata={"description": "how much of the goods came back"}
    )
    returnable_until = Time(
        allow_none=True,
        metadata={"description": "the last moment to request a return; null before delivery, or for ever"},
    )
    items = ma.fields.List(ma.fields.Nested(OrderedItem))
    waiting = StrictInteger(0, metadata={"description": "pieces that are sold and not here yet"})
    oversold = ma.fields.Nested(
        Oversold, metadata={"description": "what of a sale at a stall the stock did not have"}
    )
    deliveryCharge = ma.fields.Nested(SignedMoney)
    first_order = ma.fields.Boolean(
        allow_none=True,
        metadata={
            "description": "for staff: whether it is its customer's first that was paid; null while nobody knows"
        },
    )
    archived = ma.fields.Boolean(
        metadata={
            "description": "whether it is read from the archive of its year: nothing can be done with it until staff bring it back"
        }
    )
    imported = ma.fields.Boolean(
        metadata={
            "description": "for staff: whether it came with the order history; no e-mails are sent about it"
        }
    )
    name = ma.fields.String(allow_none=True)
    email = ma.fields.String(allow_none=True)
    deliveryAddress = ma.fields.Raw(allow_none=True)
    credits = ma.fields.List(ma.fields.Nested(CreditPayment))
    to_pay = ma.fields.Nested(SignedMoney)
    payment = ma.fields.Nested(Payment, allow_none=True)
    payment_page = ma.fields.Nested(
        PaymentPage, allow_none=True, metadata={"description": "where an order without a payment can be paid"}
    )
    invoice = ma.fields.Nested(Invoice, allow_none=True, metadata={"description": "once it was asked for"})
    credit_notes = ma.fields.List(ma.fields.Nested(CreditNote))
    payment_processing = ma.fields.Boolean(
        metadata={"description": "the customer has paid, and the provider will tell whether the money comes"}
    )
    dispatch = ma.fields.Nested(Dispatch, allow_none=True)
    delivery = ma.fields.Nested(Delivery, allow_none=True)
    parcels = ma.fields.List(
        ma.fields.Nested(Parcel), metadata={"description": "`dispatch` and `delivery` are the first one's"}
    )
    cancellation = ma.fields.Nested(Cancellation, allow_none=True)
    line_cancellations = ma.fields.List(ma.fields.Nested(LineCancelled))
    refunds = ma.fields.List(ma.fields.Nested(Refund))
    returns = ma.fields.List(ma.fields.Nested(Return))
    timeline = ma.fields.List(ma.fields.Nested(Step))
    gift_card_delivery = ma.fields.Nested(
        GiftCardDelivery,
        metadata={"description": "of an order with gift cards, until its customer is erased"},
    )
    labels = ma.fields.List(
        ma.fields.Nested(ParcelLabel),
        metadata={
            "description": "for staff: that were bought for its parcels: `/v1/admin/orders/{id}/labels`"
        },
    )
    guest_token = ma.fields.String(metadata={"description": "guests only: send it as X-Order-Token"})


class FailedLine(Shape):
    line = StrictInteger(1)
    code = ma.fields.String()
    detail = ma.fields.String()


class ImportResult(Shape):
    lines = StrictInteger(0)
    created = StrictInteger(0)
    updated = StrictInteger(0)
    unchanged = StrictInteger(0)
    documents = StrictInteger(0, metadata={"description": "documents written"})
    failures = StrictInteger(0)
    failed = ma.fields.List(ma.fields.Nested(FailedLine), metadata={"description": "the first 1000"})
    reported = ma.fields.Boolean(
        metadata={"description": "whether the reports hold all of it by now; else they follow by themselves"}
    )


DeadLetter = response_schema(
    "DeadLetter",
    dead_letters.DEAD_LETTER_FIELDS,
    {"id": ma.fields.String(), "orderid": ma.fields.String(), "attempts": StrictInteger(1)},
)


class DeadLetters(Shape):
    items = ma.fields.List(ma.fields.Nested(DeadLetter))
    next = ma.fields.String(allow_none=True)


class Bought(Shape):
    bought = ma.fields.Boolean()


class CountedProduct(Shape):
    productid = ma.fields.String(required=True)
    orders = StrictInteger(1, required=True)


class BoughtTogether(Shape):
    items = ma.fields.List(ma.fields.Nested(CountedProduct), required=True)


class Anonymised(Shape):
    orders = StrictInteger(0)


class Accepted(Shape):
    status = Text()
