"""Bodies that are as they should be are read quickly, to the same as marshmallow makes of them; of others it says what is wrong."""

import copy
import cProfile as profile
import pstats
import random
from typing import Any

import marshmallow as ma
import pytest

from services.products.schemas.requests import Reservation
from shared.web import Shape
from shared.web.fields import AddressText, MoneyShape, StrictInteger, Text, Time

LINE = {
    "productid": Text(1, 10, required=True),
    "sku": Text(0, 5, load_default=""),
    "taxonomy": ma.fields.List(Text(1, 5), required=True, validate=ma.validate.Length(1, 2)),
    "quantity": StrictInteger(1, 100, required=True),
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


def members(dice: random.Random, names: dict[str, Any], wrong: float) -> dict[str, Any]:
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
    for number in range(3000):
        wrong = dice.choice((0, 0.05, 0.3))
        data: Any = members(dice, BODY, wrong)
        data["items"] = [members(dice, LINE, wrong) for _ in range(dice.randrange(5))]
        if number % 100 == 0:
            data["items"] = dice.choice((None, {}, "items", [None], [[]], [1]))
        found = loaded(quick, data)
        assert found == loaded(slow, data), data
        assert repr(found[0]) == repr(loaded(slow, data)[0])
        taken += found[1] is None
    assert 200 < taken < 2800


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
