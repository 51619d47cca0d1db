"""What is answered of a product again without being made again, and what never is."""

from typing import Any

import orjson

from services.products.rules.prices import PriceContext
from services.products.rules.product import checked, complete, document, listed
from services.products.store.product_answers import ProductAnswers
from tests.services.products.conftest import product

NOW = "2026-11-22T12:00:00.000Z"
VISITOR, IN_EUROS = PriceContext(NOW), PriceContext(NOW, "EUR")
STAFF, GROUP = PriceContext(NOW, staff=True), PriceContext(NOW, group="trade")


def doc(rev: str = "1-a", **fields: Any) -> Any:
    made = document(complete(checked(product("answered", **fields)).content), NOW, stock=3)
    return {**made, "_rev": rev}


def shown(answers: ProductAnswers, product: Any, context: PriceContext) -> Any:
    return orjson.loads(orjson.dumps(answers.listed(product, context)))


def test_a_revision_is_answered_again_as_it_was():
    answers = ProductAnswers()
    assert answers.listed(doc(), VISITOR) is answers.listed(doc(), VISITOR)
    assert shown(answers, doc(), VISITOR) == listed(doc(), VISITOR)


def test_another_revision_is_another_answer():
    answers, after = ProductAnswers(), doc("2-b", name="A better name") | {"stock": 2}
    assert shown(answers, doc(), VISITOR)["stock"] == 3
    assert shown(answers, after, VISITOR) == listed(after, VISITOR)
    assert shown(answers, after, VISITOR)["name"] == "A better name"


def test_each_currency_has_its_own_answer():
    answers, both = (
        ProductAnswers(),
        doc(price={"amount": 900, "currency": "GBP"}, prices={"GBP": 900, "EUR": 1100}),
    )
    for context in (VISITOR, IN_EUROS, VISITOR):
        assert shown(answers, both, context) == listed(both, context)


def test_what_depends_on_the_moment_or_on_who_asks_is_made_each_time():
    answers = ProductAnswers()
    sales = [{"from": "2026-11-22T13:00:00.000Z", "prices": {"GBP": 500}}]
    for terms in ({"sales": sales}, {"group_prices": {"trade": {"GBP": 700}}}):
        priced = doc(price={"amount": 900, "currency": "GBP"}, **terms)
        later = PriceContext("2026-11-22T14:00:00.000Z")
        for context in (VISITOR, later, GROUP, STAFF, VISITOR):
            assert shown(answers, priced, context) == listed(priced, context)


def test_no_more_is_kept_than_there_is_room_for():
    answers = ProductAnswers(max_bytes=20_000)
    docs = [doc() | {"_id": f"Mugs:answered{number}"} for number in range(100)]
    first = [answers.listed(each, VISITOR) for each in docs]
    again = [answers.listed(each, VISITOR) for each in docs]
    assert sum(one is other for one, other in zip(first, again, strict=True)) < 40
    long = doc(description="long " * 1000)
    assert answers.listed(long, VISITOR) is not answers.listed(long, VISITOR)
