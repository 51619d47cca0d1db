"""One field, one declaration: a field added to a document's type is checked, documented, exported, imported and searched."""

import re
from typing import Annotated, Any, NotRequired

import marshmallow as ma
import pytest
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin

from shared import tables
from shared.couch import DocumentType, SearchField, SearchIndex, StoredDocument, search_fields
from shared.errors import Invalid
from shared.fields import (
    Amount,
    Boolean,
    Choice,
    Declaration,
    Field,
    GroupList,
    Integer,
    JsonObject,
    Lines,
    Moment,
    Rejected,
    Secret,
    Text,
    TextList,
)
from shared.money import Money
from shared.web import Shape, page_schema, request_fields, request_schema, response_schema


class Mug(StoredDocument):
    """A throw-away type, as the last release knew it."""

    sku: Annotated[str, Text(1, 10, pattern="[a-z0-9]+", pattern_message="Letters and digits only.")]
    price: Annotated[Money, Amount()]
    stock: Annotated[int, Integer(0, 1000, writable=False)]
    edited: str


class MugWithGlaze(Mug):
    """The next release: one line more."""

    glaze: NotRequired[
        Annotated[str, Text(0, 20, default="", description="its finish"), SearchField("glaze", weight=3)]
    ]
    tags: NotRequired[Annotated[list[str], TextList(Text(1, 9), 0, 3, default=[])]]


OLD, NEW = Declaration(Mug), Declaration(MugWithGlaze)
PRICE: Money = {"amount": 250, "currency": "GBP"}
BODY: dict[str, Any] = {"sku": "m1", "price": PRICE, "glaze": "matt"}


def openapi(schema: type) -> dict[str, Any]:
    spec = APISpec("t", "1", "3.1.0", plugins=[MarshmallowPlugin()])
    spec.components.schema("It", schema=schema)
    described: dict[str, Any] = spec.to_dict()["components"]["schemas"]["It"]
    return described


def test_a_request_takes_the_new_field_and_the_last_release_refuses_it():
    assert OLD.check(BODY)[1] == {"glaze": ["Unknown field."]}
    assert NEW.check(BODY) == ({"sku": "m1", "price": PRICE, "glaze": "matt", "tags": []}, {})


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({"glaze": 3}, {"glaze": ["Not a text."]}),
        ({"glaze": "x" * 21}, {"glaze": ["Must be 0 to 20 characters long."]}),
        ({"sku": None}, {"sku": ["Missing."]}),
        ({"sku": "M 1"}, {"sku": ["Letters and digits only."]}),
        ({"tags": ["a", "b", "c", "d"]}, {"tags": ["Must have 0 to 3 entries."]}),
        ({"tags": "a"}, {"tags": ["Not a list of texts."]}),
        (
            {"price": {"amount": True, "currency": "GBP"}},
            {
                "price": [
                    "amount must be a whole number of minor units (1250 for 12.50 GBP), 0 to 1000000000000."
                ]
            },
        ),
    ],
)
def test_what_is_wrong_is_said_by_field(change: dict[str, Any], errors: dict[str, list[str]]):
    assert NEW.check(BODY | change)[1] == errors


def test_openapi_describes_what_the_check_takes():
    request = openapi(request_schema("MugBody", NEW, lambda data: data))
    assert request["required"] == ["price", "sku"]
    glaze = request["properties"]["glaze"]
    assert (glaze["type"], glaze["minLength"], glaze["maxLength"]) == ("string", 0, 20)
    assert glaze["description"] == "its finish"
    assert not re.search(glaze["pattern"], "a\x00b")
    answer = openapi(response_schema("MugAnswer", NEW))
    assert set(answer["required"]) == {"sku", "price", "stock", "glaze", "tags"}


def test_an_empty_optional_field_is_not_stored_and_an_older_document_reads_as_empty():
    mug = DocumentType.declared("mug", MugWithGlaze)
    content, _ = NEW.check({"sku": "m1", "price": PRICE})
    doc = mug.new("p:m1", **NEW.stored(content), stock=1, edited="now")
    assert not doc.keys() & {"glaze", "tags"}
    assert NEW.content(doc) == content
    assert NEW.shown(doc) == {**content, "stock": 1}
    with pytest.raises(TypeError, match="price"):
        mug.new("p:m1", sku="m1", stock=1, edited="now")


def test_the_new_field_is_a_column_and_comes_back_as_it_was():
    assert tables.columns(NEW) == (
        "sku",
        "price_amount",
        "price_currency",
        "stock",
        "glaze",
        "tags",
    )
    assert tables.required_columns(NEW) == ("sku", "price_amount", "price_currency")
    doc = {"sku": "m1", "price": PRICE, "stock": 4, "glaze": "=1+1", "tags": ["a|b", "c\\"]}
    row = {column: str(cell) for column, cell in tables.to_row(NEW, doc).items()}
    assert row["glaze"] == "'=1+1"
    assert tables.from_row(NEW, row) == doc


def test_the_new_field_is_searched():
    index = SearchIndex("find", "?", search_fields(MugWithGlaze))
    assert [field.weight for field in search_fields(MugWithGlaze)] == [3]
    assert 'index("glaze"' in index.index_function()


@pytest.mark.parametrize(
    ("field", "value", "cleaned"),
    [
        (Lines(30), " 1 Mill Lane\r\nYork\r", "1 Mill Lane\nYork"),
        (Choice(("a", "b")), "b", "b"),
        (Boolean(), False, False),
        (Moment(), "2026-11-20T23:11:00.000Z", "2026-11-20T23:11:00.000Z"),
        (Secret(3, 9), " a b ", " a b "),
        (JsonObject(), {"a": [1]}, {"a": [1]}),
        (TextList(Choice(("a", "b")), 0, 2), ["b"], ["b"]),
    ],
)
def test_each_kind_takes_what_it_is_for(field: Field, value: Any, cleaned: Any):
    assert field.clean(value) == cleaned


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Lines(30), "  "),
        (Lines(30), "x\ty"),
        (Lines(30), "x" * 31),
        (Lines(30), None),
        (Choice(("a", "b")), "c"),
        (Choice(("a", "b")), ["a"]),
        (Boolean(), 1),
        (Boolean(), "true"),
        (Moment(), "2026-11-20"),
        (Secret(3, 9), "ab"),
        (Secret(3, 9), 12345),
        (JsonObject(), [1]),
        (TextList(Choice(("a", "b")), 0, 2), ["c"]),
    ],
)
def test_each_kind_refuses_what_it_is_not_for(field: Field, value: Any):
    with pytest.raises(Rejected):
        field.clean(value)


def test_a_request_of_some_fields_and_others_is_checked_by_the_declaration():
    schema = request_schema(
        "Sale", NEW.select("sku", "price").plus(code=Secret(4, 9), gift=Boolean(default=False))
    )
    body = {"sku": "m1", "price": PRICE, "code": " 12 "}
    assert schema().load(body) == {**body, "gift": False}
    with pytest.raises(ma.ValidationError) as refused:
        schema().load({**body, "glaze": "matt", "code": "1"})
    assert refused.value.messages == {
        "glaze": ["Unknown field."],
        "code": ["Must be 4 to 9 characters long."],
    }
    with pytest.raises(ma.ValidationError):
        schema().load([])
    described = openapi(schema)
    assert (described["required"], described["properties"]["gift"]["default"]) == (
        ["code", "price", "sku"],
        False,
    )


def test_a_patch_needs_nothing_and_fills_nothing_in():
    schema = request_schema("MugChange", NEW, partial=True)
    assert schema().load({"tags": ["new"]}) == {"tags": ["new"]}
    assert schema().load({}) == {}
    with pytest.raises(ma.ValidationError) as refused:
        schema().load({"sku": None, "size": 1})
    assert refused.value.messages == {"sku": ["Not a text."], "size": ["Unknown field."]}
    assert "required" not in openapi(schema)
    with pytest.raises(Invalid):
        NEW.load_changes({"size": 1})


def test_a_page_of_answers():
    page = openapi(page_schema("Mugs", response_schema("MugAnswer", NEW)))
    assert sorted(page["required"]) == ["items", "next"]


def test_a_body_of_more_than_the_document_takes_the_new_field_as_its_declaration_does():
    """A checkout holds what is bought besides what is written into the order."""
    fields = request_fields("Mug", NEW.select("glaze"))
    schema = Shape.from_dict({**fields, "quantity": ma.fields.Integer(required=True)}, name="Buy")()
    assert schema.load({"quantity": 1, "glaze": " matt "}) == {"quantity": 1, "glaze": "matt"}
    assert schema.load({"quantity": 1}) == {"quantity": 1}, (
        "so its fingerprint is what it was before the field"
    )
    assert schema.validate({"quantity": 1, "glaze": "x" * 21}) == {
        "glaze": ["Must be 0 to 20 characters long."]
    }
    assert openapi(type(schema))["properties"]["glaze"]["description"] == "its finish"


def test_a_list_of_objects_is_checked_and_answered_by_the_fields_of_one():
    lines = Declaration({"lines": GroupList(NEW.select("sku", "stock").fields)})
    assert lines.check({"lines": [{"sku": "m1", "stock": 2.0}]})[0] == {"lines": [{"sku": "m1"}]}
    assert lines.check({"lines": {}})[1] == {"lines": ["Not a list of objects."]}
    assert lines.check({"lines": [{"sku": "M 1"}]})[1] == {
        "lines": ["Entry 1, sku: Letters and digits only."]
    }
    answered = openapi(response_schema("Lines", lines))["properties"]["lines"]
    assert (answered["type"], list(answered["items"])) == ("array", ["$ref"])
