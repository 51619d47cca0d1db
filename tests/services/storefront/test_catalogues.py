"""The catalogues of pages and e-mails are complete: every text of the code, translated, with the same placeholders and tags."""

import ast
import re
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from tests.messages import SERVICES, SHARED, catalogues, read, service_of, template, updated

VARIABLE = re.compile(r"%\(\w+\)s|\{\w+\}")
TAG = re.compile(r"<[^>]*>")
CATALOGUES = catalogues()


def language(path: Path) -> str:
    return path.parent.parent.name


def name(path: Path) -> str:
    return f"{service_of(path)}-{language(path)}"


def texts(message: Message) -> list[tuple[str, str]]:
    """(what is written, its translation), for each plural form."""
    if isinstance(message.id, str):
        return [(message.id, message.string)]
    return [(message.id[-1], each) for each in message.string]


def test_german_is_there() -> None:
    assert [service_of(path) for path in CATALOGUES if language(path) == "de"] == [
        "orders",
        "storefront",
        "users",
    ]


@pytest.mark.parametrize("path", CATALOGUES, ids=name)
def test_a_catalogue_has_exactly_the_texts_of_the_code(path: Path) -> None:
    assert path.read_bytes() == updated(path), "run `make messages` and translate what is new"


@pytest.mark.parametrize("path", CATALOGUES, ids=name)
def test_every_text_is_translated(path: Path) -> None:
    messages = [message for message in read(path) if message.id]
    assert len(messages) == len([message for message in template(service_of(path)) if message.id])
    missing = [message.id for message in messages if not all(text for _, text in texts(message))]
    assert missing == []
    assert [message.id for message in messages if message.fuzzy] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=name)
def test_a_translation_has_the_placeholders_and_tags_of_its_text(path: Path) -> None:
    for message in read(path):
        for written, translated in texts(message) if message.id else ():
            for pattern in (VARIABLE, TAG):
                assert sorted(pattern.findall(written)) == sorted(pattern.findall(translated)), translated
            plain = TAG.sub("", translated)
            assert '"' not in plain, f"it would end an attribute: {translated}"
            assert "<" not in plain, translated
            assert written.endswith(" ") == translated.endswith(" "), translated


def test_no_text_is_looked_up_within_an_f_string() -> None:
    """Where the extraction of texts does not look in every version of Python."""
    found = [
        f"{path}:{node.lineno}"
        for path in (*SERVICES.rglob("*.py"), *SHARED.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.JoinedStr)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in ("_", "gettext", "ngettext")
        and call.args
        and isinstance(call.args[0], ast.Constant)
    ]
    assert found == []
