"""A map or index function is sent no document of a type that its text rules out; of what its text does not say for sure it gets all."""

from collections.abc import Callable

import orjson
import pytest

from deploy.local.minicouch import javascript
from deploy.local.minicouch.indexes.for_types import run_for_types
from deploy.local.minicouch.javascript.document_types import types_of
from deploy.local.minicouch.store.rows import StoredDoc
from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN as USERS
from shared.couch import View

EMIT = "emit(doc.a, null);"


@pytest.mark.parametrize(
    ("body", "types"),
    [
        (f'if (doc.type === "a") {EMIT}', {"a"}),
        (f"if (doc.type === 'a' && doc.b > 1 && (doc.c || doc.d)) {{ {EMIT} {EMIT} }}", {"a"}),
        (f'if (doc.type === "a" || doc.type === "b") {EMIT}', {"a", "b"}),
        (f'if (doc.type === "a") {{ {EMIT} }} // of the other\n if (doc.type === "b") {EMIT}', {"a", "b"}),
        (
            'if (doc.type === "a")\n  [doc].concat(doc.b || []).forEach(function (e) {\n emit(e, 1);\n });',
            {"a"},
        ),
        (f'/* one */ if (doc.type !== "a" || doc.b ) return;\n x = `y`; /z/.test(doc.c); {EMIT}', {"a"}),
        (f'if (doc.type !== "a" && doc.type !== "b") return; {EMIT}', {"a", "b"}),
        (f'if (doc.type === "c") {EMIT} if (doc.type !== "a") return; {EMIT}', {"a", "c"}),
        ("", set()),
    ],
)
def test_a_function_that_asks_for_the_type_first_is_for_those(body: str, types: set[str]) -> None:
    assert types_of(f"function (doc) {{ {body} }}") == types
    assert types_of(f"function named(doc) {{\n{body}\n}}\n") == types


@pytest.mark.parametrize(
    "source",
    [
        "function (doc) { emit(1, 1); }",
        '(doc) => { if (doc.type === "a") emit(1, 1); }',
        '(function (doc) { if (doc.type === "a") emit(1, 1); })',
        'function (doc) { if (doc.type == "a") emit(1, 1); }',
        'function (doc) { if (doc.type === "\\u0061") emit(1, 1); }',
        'function (doc) { if (doc.type === "a" || doc.b) emit(1, 1); }',
        'function (doc) { if (doc.type === "a" && doc.b || doc.c) emit(1, 1); }',
        'function (doc) { if (doc.type === "a" && doc.b ? doc.c : doc.d) emit(1, 1); }',
        'function (doc) { if (doc.type === "a" && doc.b, doc.c) emit(1, 1); }',
        'function (doc) { if (doc.type === "a" && /\\)/.test(doc.b)) emit(1, 1); }',
        'function (doc) { if (doc.type === "a") emit(1, 1); else emit(2, 2); }',
        'function (doc) { if (doc.type === "a") { emit(1, 1); } else if (doc.b) { emit(2, 2); } }',
        'function (doc) { if (doc.type === "a") emit(1, 1)\n emit(2, 2); }',
        'function (doc) { if (doc.type === "a") [doc.b]\n emit(2, 2); }',
        'function (doc) { if (doc.type === "a") while (doc.b) {} emit(2, 2); }',
        'function (doc) { if (doc.type === "a") ; emit(2, 2); }',
        'function (doc) { if (doc.type === "a") { emit(1, 1); } emit(2, 2); }',
        'function (doc) { if (doc.type === "a" <!-- ) emit(1, 1);\n || doc.b) emit(2, 2); }',
        'function (doc) { if (doc.type !== "a") emit(1, 1); }',
        'function (doc) { if (doc.type !== "a" && doc.b) return; emit(1, 1); }',
        'function (doc) { if (doc.type !== "a" || doc.b ? doc.c : doc.d) return; emit(1, 1); }',
        "function (doc) { if (doc.type !== doc.b) return; emit(1, 1); }",
        'function (doc) { if (doc.kind !== "a") return; emit(1, 1); }',
        'function (doc) { if (other.type !== "a") return; emit(1, 1); }',
        'function (doc) { var b = 1; if (doc.type !== "a") return; emit(1, 1); }',
        'function (doc, req) { if (doc.type !== "a") return; emit(1, 1); }',
        'function (doc) { if (doc.type === "a") emit(1, 1); }.bind({})',
        'function (doc) { if (doc.type === "a") emit(1, 1); } `x`',
        'function (doc) { if (doc.type === "a") emit(1, 1);',
        "",
        "no function",
    ],
)
def test_a_function_that_may_be_for_more_is_for_all(source: str) -> None:
    assert types_of(source) is None


def stored(number: int, **fields: object) -> StoredDoc:
    return StoredDoc(f"p:{number}", number, "1-0", 0, orjson.dumps(fields))


@pytest.fixture
def sent() -> list[str]:
    return []


def run(sent: list[str]) -> Callable[[list[StoredDoc]], list[str]]:
    def note(docs: list[StoredDoc]) -> list[str]:
        sent.extend(doc.id for doc in docs)
        return [doc.id for doc in docs]

    return note


def test_only_documents_that_may_be_meant_are_sent(sent: list[str]) -> None:
    docs = [
        stored(1, type="a"),
        stored(2, type="b"),
        stored(3),
        stored(4, type="c", of={"type": "a"}),
        stored(5, type=["a"]),
        stored(6, type='quoted"'),
    ]
    only_a = 'function (doc) { if (doc.type === "a") emit(1, 1); }'
    assert run_for_types(map(types_of, [only_a]), docs, run(sent), str) == ["p:1", "", "", "p:4", "", ""]
    assert sent == ["p:1", "p:4"]
    quoted = "function (doc) { if (doc.type === 'quoted\"') emit(1, 1); }"
    assert run_for_types(map(types_of, [only_a, quoted]), docs, run(sent), str) == [
        "p:1",
        "",
        "",
        "p:4",
        "",
        "p:6",
    ]
    everything = "function (doc) { emit(doc.type, 1); }"
    assert run_for_types(map(types_of, [only_a, everything]), docs, run(sent), str) == [
        doc.id for doc in docs
    ]
    sent.clear()
    assert run_for_types(map(types_of, [only_a]), docs[1:3], run(sent), str) == ["", ""]
    assert not sent


def test_what_the_shops_own_views_leave_out_gives_them_no_row() -> None:
    """With the least that every other type of the shop's documents could hold."""
    sources = [
        each.map for design in (ORDERS, PRODUCTS, USERS) for each in design.patterns if isinstance(each, View)
    ]
    known = [(source, types_of(source)) for source in sources]
    assert sum(types is not None for _, types in known) > len(known) // 2
    every = {type for _, types in known for type in types or ()} | {"customer", "notice", "session"}
    for source, types in known:
        for other in sorted(every - types) if types is not None else ():
            [[rows]] = javascript.map_docs(None, [source], [stored(1, type=other).json()])
            assert rows == [], (source, other)
