"""Bodies that are as they should be are read quickly, to the same as marshmallow makes of them; of others it says what is wrong."""

import copy
import cProfile as profile
import pstats
import random
from collections.abc import Iterable
from typing import Any

import marshmallow as ma
import pytest

from services.products.schemas.requests import Reservation
from shared.web import Shape
from shared.web.fields import AddressText, MoneyShape, StrictInteger, Text, Time
from shared.web.quick_checks import Unsuited

LINE = {
    "productid": Text(1, 10, required=True),
    "sku": Text(0, 5, load_default=""),
    "taxonomy": ma.fields.List(Text(1, 5), required=True, validate=ma.validate.Length(1, 2)),
    "quantity": StrictInteger(1, 100, required=True),
    "unit": Text(1, 5, data_key="of", load_default="piece"),
}
BODY = {
    "orderid": Text(1, 5, required=True, pattern="^[a-z]+$"),
    "expires": Time(),
    "again": ma.fields.Boolean(load_default=False),
    "note": ma.fields.String(
        load_default=None, validate=[ma.validate.Length(1, 3), ma.validate.OneOf(["a", "bb"])]
    ),
    "address": AddressText(),
    "codes": ma.fields.List(Text(1, 5), load_default=list, validate=ma.validate.Length(max=2)),
    "email": ma.fields.Email(),
    "total": ma.fields.Nested(MoneyShape, allow_none=True),
}
MONEY = [{"amount": 5, "currency": "GBP"}, {"amount": -1, "currency": "GBP"}, {"amount": 5}, None, "5", []]
VALUES: dict[str, list[Any]] = {
    "orderid": ["abc", " abc ", "ABC", "", "a\x00", 5, None, b"abc"],
    "expires": ["2026-11-26T13:35:53.296Z", "2026", 5, None],
    "again": [True, False, "yes", 1, None, [], 7],
    "note": ["a", "bb", "c", "bbbb", "", None, 5],
    "address": ["1 Mill Lane\r\nYork", "", "\u202e", 5, None],
    "codes": [[], ["a"], ["a", "b", "c"], ["too long"], [5], [None], ("a",), "a", None],
    "email": ["ada@example.com", "ada", None],
    "total": MONEY,
    "productid": ["p1", "", "p" * 11, None, 5],
    "sku": ["", "s", None, "s" * 6],
    "taxonomy": [["a"], [" a ", "b"], [], ["a", "b", "c"], [""], None, "a", [["a"]]],
    "of": ["m", "", 5],
    "quantity": [1, 100, 0, 101, True, 2.0, 2.5, "2", None, 10**30],
}


class Quick(Shape.from_dict(BODY)):  # type: ignore[misc]  # made from the fields
    items = ma.fields.List(
        ma.fields.Nested(Shape.from_dict(LINE)), required=True, validate=ma.validate.Length(1, 3)
    )

    @ma.validates_schema
    def says_again(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("again") and "expires" not in data:
            raise ma.ValidationError("Say until when.", "expires")


class Slow(ma.Schema.from_dict(BODY)):  # type: ignore[misc]  # made from the fields
    items = ma.fields.List(
        ma.fields.Nested(ma.Schema.from_dict(LINE)), required=True, validate=ma.validate.Length(1, 3)
    )
    says_again = Quick.says_again


def members(dice: random.Random, names: Iterable[str], wrong: float) -> dict[str, Any]:
    found = {}
    for name in names:
        values = VALUES[name]
        if dice.random() < 0.85:
            found[name] = copy.deepcopy(dice.choice(values) if dice.random() < wrong else values[0])
    if dice.random() < wrong / 4:
        found["unknown"] = 1
    return found


def loaded(schema: ma.Schema, data: Any) -> tuple[Any, Any]:
    try:
        return schema.load(copy.deepcopy(data)), None
    except ma.ValidationError as error:
        return None, error.messages


def test_a_body_is_read_as_marshmallow_reads_it() -> None:
    dice, quick, slow, taken = random.Random(7), Quick(), Slow(), 0
    sent = ["of" if name == "unit" else name for name in LINE]
    for number in range(3000):
        wrong = dice.choice((0, 0.05, 0.3))
        data: Any = members(dice, BODY, wrong)
        data["items"] = [members(dice, sent, wrong) for _ in range(dice.randrange(5))]
        if number % 100 == 0:
            data["items"] = dice.choice((None, {}, "items", [None], [[]], [1]))
        found = loaded(quick, data)
        assert found == loaded(slow, data), data
        assert repr(found[0]) == repr(loaded(slow, data)[0])
        taken += found[1] is None
    assert 200 < taken < 2800


def test_a_query_is_read_as_marshmallow_reads_it() -> None:
    """Nothing is said twice in it, and what it need not say is left out."""
    fields = {
        "limit": ma.fields.Integer(load_default=20, validate=ma.validate.Range(1, 100)),
        "failed": ma.fields.Boolean(load_default=True),
        "cursor": ma.fields.String(load_default=None, validate=ma.validate.Length(1, 5)),
        "by": ma.fields.String(data_key="of", required=True),
    }
    quick, slow = Shape.from_dict(fields)(), ma.Schema.from_dict(fields)(unknown=ma.EXCLUDE)
    values = {"limit": ["5", "0", "101", "x", ""], "failed": ["false", "1", "maybe"], "cursor": ["abc", ""]}
    dice, taken = random.Random(3), 0
    for _ in range(500):
        data: Any = {name: dice.choice(texts) for name, texts in values.items() if dice.random() < 0.5}
        data |= {name: "month" for name in ("of", "other") if dice.random() < 0.7}
        found, problems = loaded(slow, data)
        if problems:
            with pytest.raises(Unsuited):
                quick.load_query(data)
        else:
            assert quick.load_query(data) == found, data
            taken += 1
    assert 50 < taken < 450


def test_a_query_that_may_say_something_twice_is_left_to_marshmallow() -> None:
    with pytest.raises(Unsuited):
        Shape.from_dict({"codes": ma.fields.List(ma.fields.String())})().load_query({})
    with pytest.raises(Unsuited):
        Quick().load_query({})


@pytest.mark.parametrize("data", [None, [], "body", 5, [{}]])
def test_what_is_no_object_is_refused_as_marshmallow_refuses_it(data: Any) -> None:
    assert loaded(Quick(), data) == loaded(Slow(), data)


def test_a_schema_of_some_of_the_fields_takes_those_alone() -> None:
    class Whole(Shape):
        money = ma.fields.Nested(MoneyShape(), required=True)
        some = ma.fields.Nested(MoneyShape(), only=("amount",), required=True)

    money = {"amount": 5, "currency": "GBP"}
    MoneyShape().load(money)
    assert Whole().load({"money": money, "some": {"amount": 5}})["some"] == {"amount": 5}
    assert loaded(Whole(), {"money": money, "some": money})[1] == {"some": {"currency": ["Unknown field."]}}
    assert MoneyShape(partial=True).load({"amount": 5}) == {"amount": 5}
    assert MoneyShape(many=True).load([money, money]) == [money, money]
    assert MoneyShape(unknown=ma.EXCLUDE).load(money | {"more": 1}) == money


def test_reading_a_reservation_takes_few_calls() -> None:
    """Marshmallow alone made 414 of one with two lines; each checkout sends two bodies of this kind."""
    line = {"productid": "p1", "taxonomy": ["Home", "Kitchen", "Knives"], "quantity": 1}
    body = {"orderid": "a1", "items": [line, line], "expires": "2026-11-26T13:35:53.296Z", "again": False}
    schema = Reservation()
    schema.load(body)
    calls = profile.Profile()
    calls.runcall(lambda: schema.load(body))
    assert pstats.Stats(calls).total_calls < 200
