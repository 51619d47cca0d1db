"""Design functions in V8: what they find around them, and that no function harms more than its own request."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from deploy.local.minicouch import javascript
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.javascript.pool import Pool

HARMLESS = "function(doc){ emit(doc.n, 1) }"
DOCS = [b'{"_id":"a","n":1}', b'{"_id":"b","n":2}']


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    pool = Pool(timeout=30.0)
    monkeypatch.setattr(javascript, "pool", pool)
    yield pool
    pool.stop()


def mapped(source: str, docs: list[bytes] = DOCS) -> list[list[list[object]]]:
    return [per_map[0] for per_map in javascript.map_docs(None, [source], docs)]


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (HARMLESS, [[[1, 1]], [[2, 1]]]),
        ("(doc) => { emit(doc.n, 1) }; ", [[[1, 1]], [[2, 1]]]),
        ("function named(doc){ emit(doc.missing, undefined) }", [[[None, None]], [[None, None]]]),
        ("function(doc){ if (doc.n == 1) throw new Error('x'); emit(doc.n, 1) }", [[], [[2, 1]]]),
        ("function(doc){ doc.n = 5; emit(doc.n, 1) }", [[[1, 1]], [[2, 1]]]),
        ("function(doc){ emit(sum([1, doc.n]), isArray([])) }", [[[2, True]], [[3, True]]]),
        (
            "function(doc){ emit(toJSON({n: doc.n}), '\\ud800!') }",
            [[['{"n":1}', "\ufffd!"]], [['{"n":2}', "\ufffd!"]]],
        ),
        ("function(doc){ eval('1') ; emit(1) }", [[], []]),
    ],
)
def test_map_functions(pool: Pool, source: str, rows: list[list[list[object]]]) -> None:
    assert mapped(source) == rows


def test_modules_of_the_library(pool: Pool) -> None:
    lib = {"a": "exports.f = function(n){ return require('./b') + n }", "b": "module.exports = 10"}
    source = "function(doc){ emit(require('views/lib/a').f(doc.n), null) }"
    assert javascript.map_docs(lib, [source], DOCS) == [[[[11, None]]], [[[12, None]]]]


def test_what_one_design_does_to_its_globals_reaches_no_other(pool: Pool) -> None:
    nasty = "function(doc){ Array.prototype.push = function(){}; emit = null; leak = 1 }"
    javascript.map_docs({"x": "1"}, [nasty], DOCS)
    assert mapped("function(doc){ emit(typeof leak, [1].push(2)) }") == [
        [["undefined", 2]],
        [["undefined", 2]],
    ]


@pytest.mark.parametrize("source", ["function(doc){", "1 + 1", "", "function(doc){ return }}"])
def test_what_does_not_compile(pool: Pool, source: str) -> None:
    with pytest.raises(CouchError) as refused:
        javascript.check("map", "v", source)
    assert (refused.value.status, refused.value.error) == (400, "compilation_error")
    assert refused.value.reason.startswith("Compilation of the map function in the 'v' view failed: ")


RUNAWAYS = {
    "loops": "function(doc){ while (true) {} }",
    "loops in a regular expression": "function(doc){ /(a+)+$/.test('a'.repeat(60) + 'b') }",
    "arrays": "function(doc){ var a = []; while (true) a.push(new Array(10000).fill(a.length)) }",
    "buffers": "function(doc){ var a = []; while (true) a.push(new Uint8Array(1e7).fill(1)) }",
    "one long string": "function(doc){ emit(1, 'x'.repeat(5e8)) }",
    "many strings": "function(doc){ var s = 'x', a = []; while (true) { a.push(s + a.length); s += s.slice(0, 9999) } }",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", RUNAWAYS)
def test_a_runaway_fails_by_itself(pool: Pool, name: str) -> None:
    """It ends within its time; what it did not finish is refused or skipped, and the next call is served."""
    mapped(HARMLESS)
    pool.timeout = 1.0
    assert outcome(RUNAWAYS[name]) in ("skipped", (500, "os_process_error"))
    pool.timeout = 30.0
    assert mapped(HARMLESS) == [[[1, 1]], [[2, 1]]]


def outcome(source: str) -> object:
    try:
        return "skipped" if mapped(source, DOCS[:1]) == [[]] else "rows"
    except CouchError as refused:
        return refused.status, refused.error


def test_the_time_is_for_one_document(pool: Pool) -> None:
    mapped(HARMLESS)
    pool.timeout = 1.5
    slow = "function(doc){ var end = Date.now() + 300; while (Date.now() < end); emit(doc.n, 1) }"
    docs = [b'{"_id":"%d","n":%d}' % (n, n) for n in range(6)]
    assert mapped(slow, docs) == [[[n, 1]] for n in range(6)]


def test_a_few_documents_are_mapped_between_the_pieces_of_many(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader waits for an index that lacks some documents, while another index is built, in the one process that there is."""
    monkeypatch.setattr(sys.modules[Pool.__module__], "MAX_WORKERS", 1)
    mapped(HARMLESS)
    slow = "function(doc){ var end = Date.now() + 20; while (Date.now() < end); emit(doc.n, 1) }"
    many = [b'{"_id":"%d","n":%d}' % (n, n) for n in range(2000)]
    with ThreadPoolExecutor(1) as builder:
        build = builder.submit(mapped, slow, many)
        while not pool._busy:
            time.sleep(0.01)
        assert [mapped(HARMLESS) for _ in range(3)] == [[[[1, 1]], [[2, 1]]]] * 3
        assert not build.done()
        pool.stop()
        assert isinstance(build.exception(), CouchError)


def test_a_process_nobody_uses_is_ended(pool: Pool) -> None:
    pool.idle = 0.2
    mapped(HARMLESS)
    process = pool._free[0].process
    process.wait(10)
    assert mapped(HARMLESS) == [[[1, 1]], [[2, 1]]]


def test_validation_functions(pool: Pool) -> None:
    source = "function(doc, old, user, security){ require('lib/rules').check(doc, user) }"
    rules = """exports.check = function(doc, user) {
        if (!doc.type) throw {forbidden: 'no type, ' + user.name};
        if (doc.type === 'secret') throw {unauthorized: 'log in'};
        if (doc.type === 'odd') throw {other: 'odd'};
    }"""
    ddocs = [("_design/v", source, {"_id": "_design/v", "lib": {"rules": rules}})]

    def refusal(doc: bytes) -> tuple[int, str, str | None]:
        with pytest.raises(CouchError) as refused:
            javascript.validate(ddocs, doc, None, {"name": "ann"}, {})
        return refused.value.status, refused.value.error, refused.value.reason

    javascript.validate(ddocs, b'{"type":"fine"}', None, {"name": "ann"}, {})
    assert refusal(b"{}") == (403, "forbidden", "no type, ann")
    assert refusal(b'{"type":"secret"}') == (401, "unauthorized", "log in")
    assert refusal(b'{"type":"odd"}') == (500, "unknown_error", "odd")


def test_filters(pool: Pool) -> None:
    assert javascript.filter_docs(
        {}, "function(doc, req){ return doc.n > req.query.n }", DOCS, {"query": {"n": 1}}
    ) == [
        False,
        True,
    ]
    assert javascript.filter_view({}, "function(doc){ if (doc.n == 1) emit(1) }", DOCS) == [True, False]


def test_search_functions(pool: Pool) -> None:
    source = "function(doc){ index('n', doc.n, {store: true}); index('_no', 1) }"
    assert javascript.run_index(source, DOCS) == [[], []]
    source = "function(doc){ index('n', doc.n, {store: true}); index('t', 'x') }"
    assert javascript.run_index(source, DOCS[:1]) == [[["n", 1, {"store": True}], ["t", "x", {}]]]
