"""An order is a partition of immutable documents, declared in `declarations`; its access patterns O1 to O12 stand beside them.

    order{orderid}:order  :customer  :item1 ...  :costs  :outcome  :payment  :decision  :dispatch  :delivery  :cancellation
                  :decision2 ...  :dispatch2 ...  :delivery2 ...       of an order in several parcels: `rules.parcels`
                  :label1shipment ...  :label1  :label1ended  :label1refund    of labels for parcels: `rules.parcel_labels`
                  :waiting1 ...                       how many pieces wait for goods that are to come: `rules.backorders`
                  :session  :processing                                of a payment on the provider's page
                  :capture  :capture2 ...  :captured ...               of reserved money: `rules.captures`
                  :giftcards  :giftcardssent      which gift cards it bought, and that their codes went out
                  :refund1  :refund-{..}settled  :notice-payment ...
                  :invoice  :{..}creditnote  :{..}numberrequest     what was issued of it, under which number
                  :returnrequest1  :return-{..}decision  :return-{..}ended  :return-{..}restocked  :return-{..}label   goods that come back
                  :return-{..}offered  :return-{..}exchanged    and the order with which others are sent for them
                  :summary        what the desk lists of it, made from all of these
                  :archived       in place of most of these once they lie in an archive: `rules.archive`
    report{id}:request  :part001 ...  :result       a report computed by the worker
    report{kind}-{period}:closing1 ...              the sales of a closed period
    reportdaily-{day}:claim-{..}1  :sent-{..}1      to whom the figures of a day were sent
    code{CODE}:claim   promotion{id}:use{n}  :customer{hash}-{n}   how often promotions were used: `declarations.promotions`
    customer{userid}:{provider}                      what the provider knows a customer by who keeps cards there
    giftcard{hash of its code}:entry000001 ...       a gift card, and storecredit{userid}:{currency}-entry000001 ..., store credit: `rules.credits`
    numbers:block000001 ...                          blocks of order numbers: `store.numbers` says who may use one
    invoicenumbers{year}:000001 ...                  numbers of invoices, and creditnotenumbers{year}: `store.invoice_numbers`
    audit{yyyy-mm}:{time-ordered id}                 what staff did: `shared.audit`
    firstorderuser{userid}:claim                     which order of a customer was the first, of a guest firstorderguest{hash}
    drafts:{time-ordered id}                         orders that staff have not placed yet: `declarations.drafts`
    stall{day}:sale-{orderid}  :cashup-{id}          what was sold at stalls on a day, and the cash that was counted: `declarations.stall`
    stalloversold:{time}-{orderid}                   sales at a stall of which the stock had too little, as order{id}:oversold says, until order{id}:oversoldsettled
    dead_letters:{job}.{subject}.{n}                 a job that failed for good, `...retried` when an admin sent it again

Ids are fixed, so a step done twice writes once. A refund's or return's `reference` is what the provider, the stock and the mark behind it know it by:
replicas that meet may give it another number. Nothing is updated but the `:summary`, which anybody can make again from the others (`rules.summaries`), a
draft, and what erasing a person overwrites: `:customer`, notes of staff (`:note-...`) and what a customer wrote beside a return. Events hold their `traceparent`.
"""

from services.orders.declarations import (
    archive,
    credits,
    dead_letters,
    drafts,
    events,
    invoices,
    labels,
    order,
    promotions,
    reports,
    returns,
    sandbox,
    stall,
    summaries,
)
from shared.couch import DatabaseDesign, DocumentType, FindIndex, View, document_id, view_source

ORDER = DocumentType.declared("order", order.Order)
CUSTOMER = DocumentType.declared("customer", order.Customer)
COSTS = DocumentType.declared("ordercosts", order.OrderCosts)
LINE_ITEM = DocumentType.declared("orderlineitem", order.OrderLineItem, former_name="item")
SESSION = DocumentType.declared("paymentsession", events.PaymentSession)
PROCESSING = DocumentType.declared("paymentprocessing", events.PaymentProcessing)
CAPTURE = DocumentType.declared("paymentcapture", events.PaymentCapture)
CAPTURED = DocumentType.declared("paymentcaptured", events.PaymentCaptured)
CREDIT_ENTRY = DocumentType.declared("creditentry", credits.CreditEntry)
NUMBER_BLOCK = DocumentType.declared("ordernumberblock", order.NumberBlock)
PAYMENT_CUSTOMER = DocumentType.declared("paymentcustomer", order.PaymentCustomer)
PAYMENT = DocumentType.declared("orderpayment", events.OrderPayment, former_name="payment")
DECISION = DocumentType.declared("decision", events.Decision)
DISPATCH = DocumentType.declared("orderdispatch", events.OrderDispatch, former_name="dispatch")
DELIVERY = DocumentType.declared("orderdelivery", events.OrderDelivery, former_name="delivery")
STOCK_WAIT = DocumentType.declared("stockwait", events.StockWait)
LINE_CANCELLATION = DocumentType.declared("linecancellation", events.LineCancellation)
CANCELLATION = DocumentType.declared("cancellation", events.Cancellation)
REFUND = DocumentType.declared(
    "refund", events.Refund, schema=2, upgrades={1: lambda doc: doc | {"reference": f"refund{doc['number']}"}}
)
SETTLEMENT = DocumentType.declared("settlement", events.Settlement)
REFUND_FAILURE = DocumentType.declared("refundfailure", events.RefundFailure)
RETURN_REQUEST = DocumentType.declared("returnrequest", returns.ReturnRequest)
RETURN_DECISION = DocumentType.declared("returndecision", returns.ReturnDecision)
RETURN = DocumentType.declared(
    "return",
    returns.Return,
    schema=2,
    upgrades={1: lambda doc: doc | {"reference": f"return{doc['number']}"}},
)
RETURN_EXCHANGE = DocumentType.declared("returnexchange", returns.ReturnExchange)
RETURN_SHIPMENT = DocumentType.declared("returnshipment", returns.ReturnShipment)
RETURN_LABEL = DocumentType.declared("returnlabel", labels.Label)
LABEL_PROBLEM = DocumentType.declared("labelproblem", returns.LabelProblem)
LABEL_REFUND = DocumentType.declared("labelrefund", labels.LabelRefund)
PARCEL_SHIPMENT = DocumentType.declared("parcelshipment", labels.ParcelShipment)
PARCEL_LABEL = DocumentType.declared("parcellabel", labels.Label)
PARCEL_LABEL_END = DocumentType.declared("parcellabelend", labels.ParcelLabelEnd)
SPARE_SHIPMENT = DocumentType.declared("spareshipment", labels.SpareShipment)
GIFT_CARD_ISSUE = DocumentType.declared("giftcardissue", events.GiftCardIssue)
ATTEMPT_OUTCOME = DocumentType.declared("attemptoutcome", events.AttemptOutcome)
GIFT_CARDS_SENT = DocumentType.declared("giftcardssent", events.GiftCardsSent)
RESTOCK = DocumentType.declared("restock", returns.Restock)
NOTE = DocumentType.declared("ordernote", events.OrderNote)
NOTICE = DocumentType.declared("notice", events.Notice)
RESENT_EMAIL = DocumentType.declared("resentemail", events.ResentEmail)
NUMBER_REQUEST = DocumentType.declared("numberrequest", invoices.NumberRequest)
ISSUED_NUMBER = DocumentType.declared("issuednumber", invoices.IssuedNumber)
INVOICE = DocumentType.declared(invoices.INVOICE, invoices.Invoice)
CREDIT_NOTE = DocumentType.declared(invoices.CREDIT_NOTE, invoices.CreditNote)
ORDER_SUMMARY = DocumentType.declared("ordersummary", summaries.OrderSummary)
FIRST_ORDER = DocumentType.declared("firstorder", summaries.FirstOrder)
ARCHIVED_ORDER = DocumentType.declared("archivedorder", archive.ArchivedOrder)
DRAFT_ORDER = DocumentType.declared("draftorder", drafts.DraftOrder)
OVERSOLD = DocumentType.declared("oversold", stall.Oversold)
OVERSOLD_SETTLEMENT = DocumentType.declared("oversoldsettlement", stall.OversoldSettlement)
STALL_ENTRY = DocumentType.declared("stallentry", stall.StallEntry)
OVERSOLD_ENTRY = DocumentType.declared("oversoldentry", stall.OversoldEntry)
CASH_UP = DocumentType.declared("cashup", stall.CashUp)

REPORT_REQUEST = DocumentType.declared("reportrequest", reports.ReportRequest)
REPORT_PART = DocumentType.declared("reportpart", reports.ReportPart)
REPORT_RESULT = DocumentType.declared("reportresult", reports.ReportResult)
CLOSING = DocumentType.declared("closing", reports.Closing)
DAILY_FIGURES = DocumentType.declared("dailyfigures", reports.DailyFigures)
DEADLETTER = DocumentType.declared("deadletter", dead_letters.DeadLetter)
DEADLETTER_RETRIED = DocumentType.declared("deadletterretried", dead_letters.DeadLetterRetried)

CODE_CLAIM = DocumentType.declared("codeclaim", promotions.CodeClaim)
PROMOTION_USE = DocumentType.declared("promotionuse", promotions.PromotionUse)
SLOT_CHOICE = DocumentType.declared("slotchoice", promotions.SlotChoice)

CHARGE = DocumentType.declared("charge", sandbox.LedgerCharge)
LEDGER_REFUND = DocumentType.declared("ledgerrefund", sandbox.LedgerRefund)
FAULT = DocumentType.declared("fault", sandbox.LedgerFault)

DEADLETTERS = "deadletters"
DRAFTS = "drafts"
STALL_OVERSOLD = "stalloversold"


def order_partition(orderid: str) -> str:
    return f"order{orderid}"


def report_partition(reportid: str) -> str:
    return f"report{reportid}"


def order_key(orderid: str, key: str) -> str:
    """The id of one document of an order: `order42:payment`."""
    return document_id(order_partition(orderid), key)


def report_key(reportid: str, key: str) -> str:
    return document_id(report_partition(reportid), key)


def draft_key(id: str) -> str:
    """`drafts:01h...`"""
    return document_id(DRAFTS, id)


def stall_partition(day: str) -> str:
    """`stall2026-11-23`: the sales of a day."""
    return f"stall{day}"


def stall_key(day: str, key: str) -> str:
    """`stall2026-11-23:sale-01h...`"""
    return document_id(stall_partition(day), key)


def oversold_key(date: str, orderid: str) -> str:
    """`stalloversold:20261123101500000-01h...`: in the order of time."""
    return document_id(STALL_OVERSOLD, f"{''.join(filter(str.isdigit, date))}-{orderid}")


def first_order_key(customer: str) -> str:
    """`firstorderuser42:claim`"""
    return document_id(f"firstorder{customer}", "claim")


NUMBER_PARTITION, NUMBER_PREFIX = "numbers", "A-"


def number_block_key(block: int) -> str:
    """`numbers:block000001`"""
    return document_id(NUMBER_PARTITION, f"block{block:06d}")


def issued_numbers_partition(kind: str, year: int) -> str:
    """`invoicenumbers2026`"""
    return f"{kind}numbers{year}"


def issued_number_key(kind: str, year: int, number: int) -> str:
    """`invoicenumbers2026:000001`"""
    return document_id(issued_numbers_partition(kind, year), f"{number:06d}")


def payment_customer_key(userid: str, provider: str) -> str:
    """`customer42:stripe`"""
    return document_id(f"customer{userid}", provider)


def code_key(code: str) -> str:
    """`codeTEN:claim`"""
    return document_id(f"code{code}", "claim")


def promotion_partition(id: str) -> str:
    return f"promotion{id}"


def use_key(promotion: str, number: int) -> str:
    """`promotion42:use000001`"""
    return document_id(promotion_partition(promotion), f"use{number:06d}")


def customer_use_key(promotion: str, customer: str, number: int) -> str:
    """`promotion42:customer1f2e-1`"""
    return document_id(promotion_partition(promotion), f"customer{customer}-{number}")


def choice_key(orderid: str, promotion: str, attempt: int) -> str:
    """`order42:use-promotion-1`"""
    return order_key(orderid, f"use-{promotion}-{attempt}")


def credit_partition(kind: str, id: str) -> str:
    """Of a gift card by its id, or of a customer's store credit by user id."""
    return f"{kind.replace('_', '')}{id}"


def _with_archived(source: str) -> str:
    """A map function that sees of an archived order the documents that it stands for."""
    return view_source(__file__, "archived").replace("MAP", source)


def _view(name: str) -> str:
    return _with_archived(view_source(__file__, name))


def _progress(key: str) -> str:
    return _with_archived(view_source(__file__, "progress").replace("KEY", key))


LINES_OF_AN_ORDER = FindIndex(
    "lines_of_an_order",
    "O1: the lines of an order, in their order",
    fields=("line",),
    partitioned=True,
)
FREE_USES = FindIndex(
    "free_uses",
    "the slots of a promotion with a limit that no order has, the first one first",
    fields=("number",),
    partitioned=True,
    partial={"type": "promotionuse", "free": True, "customer": {"$exists": False}},
)
ORDERS_OF_A_CUSTOMER = View(
    "orders_of_a_customer",
    "O3: a customer's paid orders, newest first, with what became of each",
    map=_progress(
        "doc.userid && ['order', 'ordersummary', 'paymentsession', 'paymentprocessing'].indexOf(doc.type) < 0 && doc.kind !== 'payment-link' && doc.was_paid !== false ? [doc.userid, placed, doc.orderid, currency] : null"
    ),
    reduce="_sum",
)
ORDERS_BETWEEN = View(
    "orders_between",
    "O4, O7: orders placed between two times, with what became of each",
    map=_progress("[placed, doc.orderid, doc.userid, currency]"),
    reduce="_sum",
)
SALES = View(
    "sales",
    "O5: orders, units, gross and refunds per currency and period, without gift cards that were sold; payments plus, refunds minus",
    map=_view("sales"),
    reduce="_sum",
)
ORDERS_BY_NUMBER = View(
    "orders_by_number",
    "O12: the order that people call by a number",
    map=_with_archived("function (doc) { if (doc.type === 'order' && doc.number) emit(doc.number, null); }"),
)
BEST_SELLERS = View(
    "best_sellers",
    "O6: units and amount sold per product and SKU, by all time, year, month and day",
    map=_view("best_sellers"),
    reduce="_sum",
)
TAX = View(
    "tax",
    "O9: base and tax per country, region, name and rate, by all time, year, month and day; payments plus, refunds minus",
    map=_view("tax"),
    reduce="_sum",
)
PERSONAL = View(
    "personal",
    "the documents that still name a person, by user id: what erasing looks for",
    map=view_source(__file__, "personal"),
)
CONFLICTS = View(
    "conflicts",
    "documents that diverged replicas wrote differently, for the rules to settle",
    map="""function (doc) {
  var others = ["creditentry", "promotionuse", "codeclaim", "shopsettings", "shippingmethod", "taxrate", "promotion"];
  if (doc._conflicts && (doc.orderid || others.indexOf(doc.type) >= 0)) emit(null, null);
}""",
)
AUTHORIZATIONS = View(
    "authorizations",
    "payments whose money was only reserved, by the time until when it can be taken",
    map="function (doc) { if (doc.captured === false && doc.capture_before) emit(doc.capture_before, null); }",
)
BOUGHT = View(
    "bought",
    "how many of a product a customer has paid for and kept",
    map=_view("bought"),
    reduce="_sum",
)
BOUGHT_TOGETHER = View(
    "bought_together",
    "in how many paid orders each other product stands beside one",
    map=_view("bought_together"),
    reduce="_sum",
)
FULFILMENT = View(
    "fulfilment",
    "seconds from payment to dispatch and from dispatch to delivery, by day",
    map=_view("fulfilment"),
    reduce="_stats",
)
CREDIT_BALANCES = View(
    "credit_balances",
    "O10: what a gift card, or a customer's store credit by currency, holds",
    map="function (doc) { if (doc.type === 'creditentry') emit([doc.kind, doc.id, doc.currency, doc.name, doc.issued, doc.expires], doc.delta); }",
    reduce="_sum",
    partitioned=True,
)
GIFT_CARDS = View(
    "gift_cards",
    "O11: gift cards with their balances, newest first",
    map="function (doc) { if (doc.type === 'creditentry' && doc.kind === 'gift_card') emit([doc.issued, doc.id, doc.currency, doc.name, doc.expires], doc.delta); }",
    reduce="_sum",
)
SUMMARIES = View(
    "summaries",
    "O13, O14: orders by open returns, product, customer's name or e-mail and status, newest first, and how many there are of each status",
    map=view_source(__file__, "summaries"),
    reduce="_count",
)
COMPARISON = View(
    "comparison",
    "O16: orders, gross, discounts, tax, refunds, returns and the pieces in them, and what new and returning customers brought, and sales and costs of goods, by day and currency",
    map=_view("comparison"),
    reduce="_sum",
)
SPEND = View(
    "spend",
    "O15: orders, and what was paid and paid back, by customer (a guest by e-mail) and currency",
    map="function (doc) { if (doc.type === 'ordersummary' && doc.paid && (doc.userid || doc.email)) emit(doc.userid ? ['user', doc.userid, doc.currency] : ['email', doc.email.toLowerCase(), doc.currency], [1, doc.paid, doc.repaid]); }",
    reduce="_sum",
)
EXPIRING_DRAFTS = View(
    "expiring_drafts",
    "draft orders by when they are removed, for the worker",
    map="function (doc) { if (doc.type === 'draftorder') emit(doc.expires, null); }",
)
REPORTS = View(
    "reports",
    "O8: reports asked for and closings made, newest first",
    map=view_source(__file__, "reports"),
)

DESIGN = DatabaseDesign(
    "orders",
    (
        LINES_OF_AN_ORDER,
        FREE_USES,
        ORDERS_OF_A_CUSTOMER,
        ORDERS_BETWEEN,
        ORDERS_BY_NUMBER,
        SALES,
        BEST_SELLERS,
        TAX,
        BOUGHT,
        BOUGHT_TOGETHER,
        PERSONAL,
        CONFLICTS,
        AUTHORIZATIONS,
        FULFILMENT,
        SUMMARIES,
        SPEND,
        COMPARISON,
        EXPIRING_DRAFTS,
        REPORTS,
        CREDIT_BALANCES,
        GIFT_CARDS,
    ),
    types=(LINE_ITEM, PAYMENT, DISPATCH, DELIVERY, REFUND, RETURN),
)
SANDBOX_LEDGER = DatabaseDesign("sandboxledger", ())
"""The sandbox provider's own ledger: another database, so that reconciling compares two independent records."""
