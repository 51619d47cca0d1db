"""The pure parts of search: the query language, analyzers, highlighting."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.search.analysis import Analyzers, analyzer
from deploy.local.minicouch.search.highlights import fragments, matchers
from deploy.local.minicouch.search.syntax import (
    Clauses,
    Everything,
    Phrase,
    RangeOf,
    Regexp,
    Term,
    Wildcard,
    parse,
)


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("a", Term(None, "a")),
        ("name:a^2", Term("name", "a", boost=2.0)),
        ("a~", Term(None, "a", edits=0.5)),
        ("a~1^3", Term(None, "a", edits=1.0, boost=3.0)),
        ('n:"a b"~2', Phrase("n", "a b", 2)),
        ("ab*", Wildcard(None, (("ab", False), ("*", True)))),
        ("a\\*b", Term(None, "a*b")),
        ("a\\:b", Term(None, "a:b")),
        ("x:/a\\/b/", Regexp("x", "a/b")),
        ("p:[1 TO 5}", RangeOf("p", "1", "5", True, False)),
        ("p:{* TO x]", RangeOf("p", None, "x", False, True)),
        ("*:*", Everything()),
        ("a b", Clauses((("should", Term(None, "a")), ("should", Term(None, "b"))))),
        ("a AND NOT b", Clauses((("must", Term(None, "a")), ("not", Term(None, "b"))))),
        (
            "a OR b AND c",
            Clauses((("should", Term(None, "a")), ("must", Term(None, "b")), ("must", Term(None, "c")))),
        ),
        ("f:(a -b)^2", Clauses((("should", Term("f", "a")), ("not", Term("f", "b"))), 2.0)),
        ("wi-fi", Term(None, "wi-fi")),
        ("ANDROID", Term(None, "ANDROID")),
    ],
)
def test_syntax(query: str, tree: object) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    "query",
    ["", " ", "a AND", "AND a", "(a", "a)", '"a', "f:", "[1 TO 2", "[1 2]", "a^", "-", "/a", "(" * 200],
)
def test_wrong_syntax_is_refused(query: str) -> None:
    with pytest.raises(CouchError) as refused:
        parse(query)
    assert refused.value.status == 400


@given(
    st.text(
        st.sampled_from('ab1 "()[]{}+-!:^~*?\\/&|\t') | st.characters(exclude_categories=["Cs"]), max_size=30
    )
)
def test_any_text_is_parsed_or_refused(query: str) -> None:
    with contextlib.suppress(CouchError):
        assert parse(query) == parse(query)


@given(
    st.text(max_size=40),
    st.sampled_from(["standard", "classic", "email", "simple", "english", "cjk", "whitespace"]),
)
def test_tokens_lie_where_they_say(text: str, name: str) -> None:
    tokens = analyzer(name).tokens(text)
    assert [token.position for token in tokens] == sorted(token.position for token in tokens)
    for token in tokens:
        assert 0 <= token.start < token.end <= len(text)


@given(
    st.text(st.sampled_from("ab the and 's.:1é漢") | st.characters(), max_size=60),
    st.sampled_from(["keyword", "standard", "classic", "email", "simple", "english", "cjk", "whitespace"]),
)
def test_places_are_those_of_the_tokens(text: str, name: str) -> None:
    """An index is filled without making a token of each word."""
    expected: list[str | None] = []
    for token in analyzer(name).tokens(text):
        expected += [None] * (token.position - len(expected))
        expected.append(token.term)
    assert analyzer(name).places(text) == expected


def test_stop_words_leave_a_gap() -> None:
    assert [(token.term, token.position) for token in analyzer("standard").tokens("salt and pepper")] == [
        ("salt", 0),
        ("pepper", 2),
    ]


def test_an_unknown_analyzer_is_refused() -> None:
    with pytest.raises(CouchError):
        Analyzers({"name": "perfield", "fields": {"a": "nonsense"}})


def test_the_best_fragments_are_marked() -> None:
    standard = Analyzers("standard")
    text = "red " + "x " * 60 + "red pan, red lid " + "y " * 60
    tests = matchers(parse("red -lid blu*"), standard)
    pieces = fragments(text, standard.of("f").tokens(text), tests, ("<b>", "</b>"), 1, 60)
    assert len(pieces) == 1
    assert pieces[0].count("<b>red</b>") == 2
