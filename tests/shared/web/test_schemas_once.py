"""A schema that a handler's documentation names exists once, however many decorators copy the documentation."""

from collections.abc import Iterator

import marshmallow as ma
from flask import Flask

from shared.web.api import Blueprint, Shape


class Sent(Shape):
    name = ma.fields.String(required=True)


class Answered(Shape):
    sent = ma.fields.Nested(Sent)
    others = ma.fields.List(ma.fields.Nested(Sent))


def named_in(documentation: object) -> Iterator[ma.Schema]:
    """The schemas that it names, wherever they stand."""
    if isinstance(documentation, ma.Schema):
        yield documentation
    elif isinstance(documentation, dict | list):
        for each in documentation.values() if isinstance(documentation, dict) else documentation:
            yield from named_in(each)


def test_decorators_share_the_schemas_of_a_handler() -> None:
    things = Blueprint("things", __name__)
    answered = Answered()

    @things.response(201, answered)
    def make() -> dict[str, object]:
        return {}

    documented = things.doc(operationId="makeThing")(things.arguments(Sent)(make))
    found = list(named_in(documented._apidoc))  # type: ignore[attr-defined]  # flask-smorest's
    assert {type(schema) for schema in found} == {Sent, Answered}
    assert all(schema is answered for schema in found if isinstance(schema, Answered))


def test_one_schema_still_answers_each_for_itself() -> None:
    app, things = Flask("things"), Blueprint("things", __name__)
    answered = Answered()

    @things.get("/one")
    @things.response(200, answered)
    def one() -> dict[str, object]:
        """One."""
        return {"sent": {"name": "a"}, "others": []}

    @things.get("/two")
    @things.response(200, answered)
    def two() -> dict[str, object]:
        """Two."""
        return {"sent": {"name": "b"}}

    app.register_blueprint(things)
    client = app.test_client()
    assert client.get("/one").json == {"sent": {"name": "a"}, "others": []}
    assert client.get("/two").json == {"sent": {"name": "b"}}
