"""What reports are asked for and answer."""

import marshmallow as ma

from services.orders.declarations import reports
from services.orders.schemas.answers import SignedMoney
from services.orders.schemas.requests import DATE
from shared.web import Shape, request_fields
from shared.web.fields import StrictInteger, Time


class SpanArgs(Shape):
    """`from` is included, `to` is not."""

    class Meta:
        unknown = ma.EXCLUDE

    start = ma.fields.String(data_key="from", load_default=None, validate=ma.validate.Regexp(DATE))
    end = ma.fields.String(data_key="to", load_default=None, validate=ma.validate.Regexp(DATE))


class SalesArgs(SpanArgs):
    by = ma.fields.String(load_default="total", validate=ma.validate.OneOf(reports.GRANULARITIES))
    currency = ma.fields.String(load_default=None, validate=ma.validate.Regexp(r"^[A-Z]{3}$"))


class MarginArgs(SpanArgs):
    """Whole days."""

    by = ma.fields.String(load_default="total", validate=ma.validate.OneOf(["total", "year", "month", "day"]))
    currency = ma.fields.String(load_default=None, validate=ma.validate.Regexp(r"^[A-Z]{3}$"))


class BestSellersArgs(SpanArgs):
    limit = ma.fields.Integer(load_default=20, validate=ma.validate.Range(1, 1000))
    by = ma.fields.String(load_default="product", validate=ma.validate.OneOf(["product", "sku"]))


class ReportRequest(Shape.from_dict(request_fields("Report", reports.REPORT_REQUEST_FIELDS, defaults=True))):  # type: ignore[misc]  # made from the declaration
    start = ma.fields.String(data_key="from", required=True, validate=ma.validate.Regexp(DATE))
    end = ma.fields.String(data_key="to", required=True, validate=ma.validate.Regexp(DATE))


ClosingRequest = Shape.from_dict(request_fields("Closing", reports.CLOSING_FIELDS), name="ClosingRequest")


class SalesSums(Shape):
    orders = StrictInteger()
    units = StrictInteger()
    gross = ma.fields.Nested(SignedMoney)
    refunds = ma.fields.Nested(SignedMoney)
    net = ma.fields.Nested(SignedMoney)


class SalesRow(SalesSums):
    period = ma.fields.String()


class SalesGroup(Shape):
    currency = ma.fields.String()
    rows = ma.fields.List(ma.fields.Nested(SalesRow))
    total = ma.fields.Nested(SalesSums)


class SalesReport(Shape):
    """`total` is null when several currencies were sold in and none was named: see `groups`."""

    rows = ma.fields.List(ma.fields.Nested(SalesRow))
    total = ma.fields.Nested(SalesSums, allow_none=True)
    groups = ma.fields.List(ma.fields.Nested(SalesGroup))


class BestSeller(Shape):
    productid = ma.fields.String()
    sku = ma.fields.String(metadata={"description": "with `by=sku`"})
    name = ma.fields.String()
    units = StrictInteger(1)
    revenue = ma.fields.Nested(SignedMoney)


class BestSellers(Shape):
    rows = ma.fields.List(ma.fields.Nested(BestSeller))


class TaxRow(Shape):
    """What was taken, less what was paid back; `rate` in percent."""

    country = ma.fields.String()
    region = ma.fields.String()
    name = ma.fields.String()
    rate = ma.fields.Float()
    base = ma.fields.Nested(SignedMoney)
    amount = ma.fields.Nested(SignedMoney)


class TaxReport(Shape):
    rows = ma.fields.List(ma.fields.Nested(TaxRow))


class CustomerFigures(Shape):
    """What was paid by customers for the first time, and by those who had paid before; not of whom nobody knows any more."""

    new_customers = StrictInteger(0, metadata={"description": "whose first order was paid"})
    new_gross = ma.fields.Nested(SignedMoney, metadata={"description": "of these first orders"})
    returning_orders = StrictInteger(0, metadata={"description": "paid by customers who had ordered before"})
    returning_gross = ma.fields.Nested(SignedMoney)


class ComparedFigures(CustomerFigures):
    orders = StrictInteger(0)
    gross = ma.fields.Nested(SignedMoney)
    discounts = ma.fields.Nested(SignedMoney)
    tax = ma.fields.Nested(SignedMoney, metadata={"description": "less that of refunds"})
    refunds = ma.fields.Nested(SignedMoney)
    returns = StrictInteger(0, metadata={"description": "receipts of goods that came back"})
    returned_units = StrictInteger(0)
    damaged_units = StrictInteger(0)


class ComparedCurrency(Shape):
    currency = ma.fields.String()
    present = ma.fields.Nested(ComparedFigures)
    before = ma.fields.Nested(ComparedFigures, metadata={"description": "of as many days before"})


class Comparison(Shape):
    start = ma.fields.String(data_key="from")
    end = ma.fields.String(data_key="to")
    rows = ma.fields.List(ma.fields.Nested(ComparedCurrency))


class CustomersOfMonth(CustomerFigures):
    period = ma.fields.String(metadata={"description": "2026-11"})


class ComparedCustomers(Shape):
    currency = ma.fields.String()
    present = ma.fields.Nested(CustomerFigures)
    before = ma.fields.Nested(CustomerFigures, metadata={"description": "of as many days before"})


class CustomersReport(Shape):
    start = ma.fields.String(data_key="from")
    end = ma.fields.String(data_key="to")
    rows = ma.fields.List(ma.fields.Nested(CustomersOfMonth))
    totals = ma.fields.List(ma.fields.Nested(ComparedCustomers))


class MarginFigures(Shape):
    """Of goods, without tax and delivery, less what came back and was paid back. The cost is that of the day of the order."""

    units = StrictInteger(metadata={"description": "pieces sold"})
    known_units = StrictInteger(metadata={"description": "those of them whose cost is known"})
    sales = ma.fields.Nested(SignedMoney, metadata={"description": "what all of them were sold for"})
    known_sales = ma.fields.Nested(SignedMoney, metadata={"description": "of those whose cost is known"})
    cost = ma.fields.Nested(
        SignedMoney,
        metadata={"description": "of these; what came back damaged has cost what it has cost"},
    )
    margin = ma.fields.Nested(SignedMoney, metadata={"description": "known_sales less cost"})
    labels = ma.fields.Nested(
        SignedMoney,
        metadata={
            "description": "what labels of parcels cost, of those that went out and came back; not taken off the margin"
        },
    )
    margin_percent = ma.fields.Float(
        allow_none=True, metadata={"description": "of known_sales; null where these are nothing"}
    )


class MarginRow(MarginFigures):
    period = ma.fields.String(metadata={"description": "2026, 2026-11, 2026-11-20 or total"})


class MarginTotal(MarginFigures):
    currency = ma.fields.String()


class MarginReport(Shape):
    rows = ma.fields.List(ma.fields.Nested(MarginRow))
    totals = ma.fields.List(ma.fields.Nested(MarginTotal))


class Stage(Shape):
    stage = ma.fields.String()
    count = StrictInteger(0)
    average_seconds = ma.fields.Float(allow_none=True)
    min_seconds = ma.fields.Float(allow_none=True)
    max_seconds = ma.fields.Float(allow_none=True)
    least_seconds = ma.fields.Float(allow_none=True)
    most_seconds = ma.fields.Float(allow_none=True)


class Fulfilment(Shape):
    rows = ma.fields.List(ma.fields.Nested(Stage))


class ReportCreated(Shape):
    id = ma.fields.String()


class Report(Shape):
    id = ma.fields.String()
    kind = ma.fields.String()
    by = ma.fields.String()
    start = Time(data_key="from")
    end = Time(data_key="to")
    status = ma.fields.String(validate=ma.validate.OneOf(["queued", "running", "done"]))
    progress = ma.fields.Float(metadata={"description": "0 to 1"})
    date = Time()
    result = ma.fields.Raw(allow_none=True)


class ReportLine(Shape):
    id = ma.fields.String()
    kind = ma.fields.String()
    type = ma.fields.String()
    start = Time(data_key="from")
    end = Time(data_key="to")
    date = Time()


class ReportPage(Shape):
    items = ma.fields.List(ma.fields.Nested(ReportLine))
    next = ma.fields.String(allow_none=True)
