"""The pure rules of orders: the transition table, prices, periods, plans, returns, signatures."""

import cProfile as profile
import pstats
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.orders.clients import signatures
from services.orders.clients.couriers import AUTOMATIC_COURIERS, COURIERS
from services.orders.clients.providers import PROVIDERS
from services.orders.documents import PAYMENT
from services.orders.rules import steps
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import orderid_for
from services.orders.rules.parcel_answers import timeline
from services.orders.rules.pricing import (
    NoSuchProduct,
    PriceChanged,
    QuoteRequest,
    Terms,
    check_expected,
    initial_terms,
    quote,
)
from services.orders.rules.progress import (
    STATUSES,
    TRANSITIONS,
    NotPossible,
    Progress,
    is_finished,
    progress_of,
    require,
    status_of,
)
from services.orders.rules.returns import returned_lines
from services.orders.rules.summaries import summary_document
from services.orders.rules.writing import (
    cancellation_of,
    decision_of,
    delivery_of,
    dispatch_of,
    items_of,
    notice_of,
    payment_of,
)
from services.orders.settings import Settings
from shared.couch import Doc
from shared.errors import Invalid
from shared.money import Money, money, shown

VERBS = ("pay", "abandon", "dispatch", "cancel", "cancel_lines", "refund", "deliver", "return")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = "2026-03-01"


def product(productid: str, price: int, delivery: int = 0, currency: str = "GBP") -> Doc:
    return {
        "productid": productid,
        "taxonomy": ["Home"],
        "name": productid.title(),
        "price": money(price, currency),
        "delivery": money(delivery, currency),
    }


GOODS = {each["productid"]: each for each in (product("tea", 500, 100), product("pot", 1999, 300))}


def order_document(**more: Any) -> Doc:
    priced = quote(
        QuoteRequest([{"productid": "tea", "quantity": 2}, {"productid": "pot", "quantity": 1}], TODAY),
        GOODS,
        initial_terms(),
    )
    return {
        "_id": "order1:order",
        "type": "order",
        "schema": 1,
        "orderid": "1",
        "userid": "u",
        "basket": priced.lines,
        "goods": priced.goods,
        "delivery": priced.delivery,
        "tax": priced.tax,
        "shipping": priced.shipping,
        "taxes": priced.taxes,
        "total": priced.total,
        "date": "2026-03-01T12:00:00.000Z",
        "provider": "sandbox",
        "fingerprint": "f",
        **more,
    }


def paid_order() -> tuple[Doc, Doc]:
    order = order_document()
    return order, payment_of(order, "sandbox", "ref", order["total"], "2026-03-01T12:00:01.000Z")


def test_the_table_alone_decides_what_may_happen() -> None:
    examples = {
        "placed": Progress(orders=1),
        "paid": Progress(orders=1, payments=1),
        "partly_dispatched": Progress(orders=1, payments=1, units=3, dispatches=1, parcel_units=1),
        "dispatched": Progress(orders=1, payments=1, dispatches=1),
        "partly_delivered": Progress(
            orders=1, payments=1, units=3, dispatches=2, parcel_units=3, deliveries=1
        ),
        "delivered": Progress(orders=1, payments=1, dispatches=1, deliveries=1),
        "cancelled": Progress(orders=1, payments=1, cancellations=1),
        "returned": Progress(orders=1, payments=1, dispatches=1, deliveries=1, returns=1),
    }
    assert set(examples) == set(STATUSES)
    for status, progress in examples.items():
        assert status_of(progress) == status
        for verb in VERBS:
            if (status, verb) in TRANSITIONS:
                assert require(progress, verb) in STATUSES
            else:
                with pytest.raises(NotPossible) as refused:
                    require(progress, verb)
                assert refused.value.extra["order_status"] == status


def test_a_list_row_and_an_order_read_whole_have_the_same_progress() -> None:
    order, payment = paid_order()
    dispatch = dispatch_of(order, payment, "post", "p1", "2026-03-02T00:00:00.000Z")
    docs = [order, *items_of(order), payment, dispatch, delivery_of(order, dispatch)]
    progress = progress_of(docs)
    assert progress == Progress(
        orders=1,
        ordered=3399,
        paid=3399,
        units=3,
        payments=1,
        dispatches=1,
        deliveries=1,
        unsummarised=4,
    )


@pytest.mark.parametrize(
    ("terms", "delivery", "tax", "total"),
    [
        (initial_terms(), 400, 567, 3399),
        (initial_terms(delivery_per="unit"), 500, 583, 3499),
        (initial_terms(delivery_per="highest"), 300, 550, 3299),
        (initial_terms(free_delivery_from=2999), 0, 500, 2999),
        (initial_terms(tax_included=False), 400, 680, 4079),
        (initial_terms(tax_basis_points=0), 400, 0, 3399),
    ],
)
def test_totals_follow_the_terms(terms: Terms, delivery: int, tax: int, total: int) -> None:
    wanted = [
        {"productid": "tea", "quantity": 1},
        {"productid": "pot", "quantity": 1},
        {"productid": "tea", "quantity": 1},
    ]
    found = quote(QuoteRequest(wanted, TODAY), GOODS, terms)
    assert [line["quantity"] for line in found.lines] == [2, 1]
    assert (found.delivery["amount"], found.tax["total"]["amount"], found.total["amount"]) == (
        delivery,
        tax,
        total,
    )


def test_what_cannot_be_priced_is_refused() -> None:
    with pytest.raises(NoSuchProduct) as unknown:
        quote(
            QuoteRequest([{"productid": "tea", "quantity": 1}, {"productid": "gone", "quantity": 1}], TODAY),
            GOODS,
            initial_terms(),
        )
    assert list(unknown.value.errors) == ["items.1.productid"]
    mixed = GOODS | {"sushi": product("sushi", 900, currency="JPY")}
    with pytest.raises(Invalid):
        quote(
            QuoteRequest([{"productid": "tea", "quantity": 1}, {"productid": "sushi", "quantity": 1}], TODAY),
            mixed,
            initial_terms(),
        )
    priced = quote(QuoteRequest([{"productid": "tea", "quantity": 1}], TODAY), GOODS, initial_terms())
    check_expected(priced, money(600, "GBP"))
    for other in (money(599, "GBP"), money(600, "EUR")):
        with pytest.raises(PriceChanged):
            check_expected(priced, other)


def test_order_ids_follow_from_whose_key_it_is() -> None:
    ids = {
        orderid_for(*whose)
        for whose in (("a", "k"), ("b", "k"), ("a", "l"), ("a", "k", 2), ("a\nk", ""), ("a", "k\n1"))
    }
    assert len(ids) == 6
    assert orderid_for("a", "k") == orderid_for("a", "k", 1)
    assert all(len(orderid) == 26 and orderid.isalnum() for orderid in ids)


def test_what_an_order_still_calls_for() -> None:
    order, payment = paid_order()
    policy, placed = steps.Policy("sandbox", 30, True, False, 5, 10), [order]
    assert steps.plan(OrderDocuments(placed), NOON + timedelta(seconds=10), policy) == steps.Plan((), 20.0)
    assert steps.plan(OrderDocuments(placed), NOON + timedelta(seconds=30), policy).due == (steps.RECONCILE,)
    paid = [*placed, payment]
    sold = [*placed, {**payment, "sold": True}]
    assert steps.plan(OrderDocuments(sold), NOON + timedelta(seconds=1), policy) == steps.Plan(
        (steps.CONFIRM,), 5.0
    )
    assert steps.plan(OrderDocuments(sold), NOON + timedelta(seconds=6), policy).due == (
        steps.CONFIRM,
        steps.DISPATCH,
    )
    assert steps.plan(OrderDocuments(paid), NOON + timedelta(seconds=6), policy).due == (steps.CONFIRM,)
    confirmed = [*paid, notice_of(order, "payment", "sent")]
    assert steps.plan(OrderDocuments(confirmed), NOON + timedelta(seconds=6), policy).due == (steps.DISPATCH,)
    by_hand = steps.Policy("manual", 30, False, True, 5, 10)
    assert steps.plan(OrderDocuments(paid), NOON + timedelta(hours=1), by_hand) == steps.Plan(
        (steps.CONFIRM,)
    )
    sent = [
        *confirmed,
        dispatch_of(order, payment, "bike", "b1", payment["date"]),
        notice_of(order, "dispatch", "sent"),
    ]
    reporting = steps.Policy("bike", 30, True, True, 5, 10)
    assert steps.plan(OrderDocuments(confirmed), NOON + timedelta(seconds=6), reporting).due == (
        steps.DISPATCH,
    )
    assert steps.plan(OrderDocuments(sent), NOON + timedelta(hours=1), reporting) == steps.Plan()
    imported = [order, {**payment, "imported": True}]
    assert steps.plan(OrderDocuments(imported), NOON + timedelta(hours=1), policy) == steps.Plan()
    gone = [order, cancellation_of(order, "abandoned", "", "shop", was_paid=False)]
    assert steps.plan(OrderDocuments(gone), NOON + timedelta(hours=1), policy) == steps.Plan()


def test_planning_and_summing_up_an_order_takes_few_calls() -> None:
    """The worker does so after each step of each order; 882 when all documents were looked through for each question."""
    order, payment = paid_order()
    dispatch = dispatch_of(order, payment, "snail", "1")
    happened = [payment, dispatch, delivery_of(order, dispatch)]
    notices = [notice_of(order, kind, "m") for kind in ("payment", "dispatch", "delivery")]
    decision = decision_of(order, "dispatch", "", "worker", courier="snail", courierid="1")

    def work() -> None:
        found = OrderDocuments([order, *items_of(order), decision, *happened, *notices])
        assert not steps.plan(found, NOON, steps.Policy("snail")).due
        assert summary_document(found, True)["status"] == "delivered"

    work()
    calls = profile.Profile()
    calls.runcall(work)
    assert pstats.Stats(calls).total_calls < 760


def test_the_sweep_passes_over_what_is_finished_or_waits() -> None:
    policy, placed = steps.Policy("sandbox", 30, True, False, 5, 10), "2026-03-01T12:00:00.000Z"
    waiting = Progress(orders=1, payments=1, notices=1)
    assert steps.may_be_due(waiting, placed, NOON + timedelta(seconds=9), policy) is False
    assert steps.may_be_due(waiting, placed, NOON + timedelta(seconds=11), policy) is True
    unpaid = Progress(orders=1)
    assert steps.may_be_due(unpaid, placed, NOON + timedelta(seconds=29), policy) is False
    assert steps.may_be_due(unpaid, placed, NOON + timedelta(seconds=31), policy) is True
    done = Progress(orders=1, payments=1, dispatches=1, deliveries=1, notices=3)
    assert is_finished(done)
    back = done._replace(paid=9, returns=1, refunds=1, settlements=1, restocks=1)
    assert is_finished(back._replace(repaid=1))
    assert not is_finished(back._replace(repaid=1, restocks=0))
    assert not is_finished(back), "the refund was another one"
    assert steps.may_be_due(done, placed, NOON, policy) is None
    assert (
        steps.may_be_due(done._replace(refunds=1, refunded=5), placed, NOON + timedelta(minutes=1), policy)
        is True
    )


def test_more_cannot_come_back_than_was_bought() -> None:
    basket, wanted = order_document()["basket"], [{"productid": "tea", "quantity": 1}]
    first = returned_lines(basket, [], wanted)
    assert first == [{"productid": "tea", "name": "Tea", "quantity": 1, "amount": 500}]
    returned_lines(basket, [{"lines": first}], wanted)
    for earlier, more in (
        ([{"lines": first}, {"lines": first}], wanted),
        ([], [{"productid": "sofa", "quantity": 1}]),
    ):
        with pytest.raises(Invalid):
            returned_lines(basket, earlier, more)


def test_webhook_signatures() -> None:
    body, now = b'{"event":1}', int(datetime.now(UTC).timestamp())
    header = signatures.sign("secret", body)
    signatures.check(("secret",), header, body, 300)
    signatures.check(("secret",), f"{header},v1={'0' * 64}", body, 300)
    bad = [
        (header, b'{"event":2}', "secret"),
        (header, body, "other"),
        (signatures.sign("secret", body, now - 301), body, "secret"),
        (signatures.sign("secret", body, now + 400), body, "secret"),
        ("", body, "secret"),
        (None, body, "secret"),
        ("t=1,v1=zz", body, "secret"),
        (header.replace("t=", "t=1,t="), body, "secret"),
        (signatures.sign("", body), body, ""),
    ]
    for sent, content, secret in bad:
        with pytest.raises(signatures.BadSignature):
            signatures.check((secret,), sent, content, 300)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (money(123456, "GBP"), "£1,234.56"),
        (money(5, "EUR"), "€0.05"),
        (money(1250, "JPY"), "¥1,250"),
        (money(1250, "KWD"), "KWD 1.250"),
        (money(-199, "USD"), "−$1.99"),
    ],
)
def test_emails_and_errors_write_money_as_people_do(value: Money, text: str):
    assert shown(value) == text


def test_every_provider_and_courier_that_can_be_chosen_has_its_row():
    choices = {
        each.name: set(each.metadata["choices"]) for each in fields(Settings) if each.metadata.get("choices")
    }
    assert choices["payment_providers"] == set(PROVIDERS)
    assert choices["courier"] == set(COURIERS)
    assert {"sandbox"} == AUTOMATIC_COURIERS


def test_nothing_comes_before_an_order_is_placed() -> None:
    """It is to the millisecond, and the provider's payment to the second."""
    documents: list[Any] = [
        {"_id": "order1:payment", "type": PAYMENT.name, "date": "2026-11-23T12:00:00.000Z"},
        {"_id": "order1:order", "type": "order", "date": "2026-11-23T12:00:00.400Z"},
    ]
    assert [step["status"] for step in timeline(documents, [], all_sent=False)] == ["placed", "paid"]
