"""Synonyms, redirects and pins do the same in each dialect of search, since they act on the query."""

from collections.abc import Callable, Iterator

import pytest

from services.products.actions import browse, importing, search_rules
from services.products.actions.question import Listed, Question
from services.products.actions.search_rules import PINS, REDIRECTS, SYNONYMS, RuleKind
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN
from shared.clock import timestamp
from shared.couch import Doc, Server
from shared.couch.client import Client
from tests.services.products.conftest import open_as_worker, product

GOODS = [
    product("sofa-1", taxonomy=["Home", "Sofas"], name="Leather sofa"),
    product("sofa-2", taxonomy=["Home", "Sofas"], name="Corner sofas"),
    product("phone-1", taxonomy=["Phones"], name="Mobile phone cover"),
    product("lamp", taxonomy=["Home", "Lights"], name="Night lamp"),
]


@pytest.fixture(params=["search", "nouveau", "keywords"])
def deps(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    prepared: Callable,
    environment: dict[str, str],
) -> Iterator[Dependencies]:
    """The shop on a server that has no other dialect."""
    if request.param != "keywords" and request.param not in server.features():
        pytest.skip(f"this server has no {request.param}")
    others = frozenset(server.features()) - {"search", "nouveau"}
    monkeypatch.setattr(Client, "features", lambda self: others | {request.param})
    prepared(DESIGN)
    found = open_as_worker(environment)
    importing.run(
        found,
        (importing.Line(n, each) for n, each in enumerate(GOODS, 1)),
        lambda state: None,
        importing.write,
    )
    yield found
    for kind in (SYNONYMS, REDIRECTS, PINS):
        for doc in search_rules.rules(found, kind):
            search_rules.remove(found, kind, doc, actor="admin", date=timestamp())


def put(deps: Dependencies, kind: RuleKind, query: str, content: Doc) -> None:
    content = kind.fields.load(content)
    search_rules.put(deps, kind, query, content, None, only_before=True, actor="admin", date=timestamp())


def found(deps: Dependencies, q: str) -> tuple[list[str], Listed]:
    listed = browse.products(deps, Question(q=q))
    return [doc["productid"] for doc in listed.docs], listed


def test_rules_of_search_in_each_dialect(deps: Dependencies) -> None:
    assert found(deps, "settee")[0] == []
    put(deps, SYNONYMS, "sofa", {"synonyms": ["settee"]})
    put(deps, SYNONYMS, "handy", {"synonyms": ["mobile phone"]})
    put(deps, SYNONYMS, "night lamp", {"synonyms": ["moonlight"], "one_way": True})
    assert set(found(deps, "settees")[0]) == {"sofa-1", "sofa-2"}
    assert found(deps, "leather settee")[0] == ["sofa-1"]
    assert found(deps, "handy cover")[0] == ["phone-1"]
    assert found(deps, "moonlight")[0] == []
    put(deps, PINS, "settee", {"productids": ["lamp"]})
    ids, listed = found(deps, "settee")
    assert ids[0] == "lamp"
    assert set(ids) == {"lamp", "sofa-1", "sofa-2"}
    assert listed.more["total"] == 3
    put(deps, REDIRECTS, "settee", {"category": "Home#Sofas"})
    assert found(deps, "settee")[1].more["redirect"] == {"category": "Home#Sofas"}
