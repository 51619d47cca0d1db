"""A translated product is found by its words in each dialect of search, and index functions read it as Python does."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.local.minicouch import javascript as v8
from services.products.actions import browse, importing
from services.products.actions.question import Question
from services.products.category_documents import CATEGORY, category_id
from services.products.dependencies import Dependencies
from services.products.documents import design_in
from services.products.translations import translated, translation_into
from shared.clock import timestamp
from shared.couch import Server
from shared.couch.client import Client
from tests.services.products.conftest import eventually, open_as_worker, product
from tests.services.products.variants import shirt

GOODS = [
    shirt(
        "wear-1",
        taxonomy=["Clothing"],
        name="Linen tunic",
        translations={"de": {"name": "Tunika aus Leinen", "labels": {"red": "rot", "Size": "Größe"}}},
    ),
    product("tool-1", taxonomy=["Kitchen"], name="Fork", translations={"de": {"name": "Gabel"}}),
    product("tool-2", taxonomy=["Kitchen"], name="Axe and knife", translations={"de": {"name": "Messer"}}),
    product("tool-3", taxonomy=["Kitchen"], name="éclair tray", translations={"de": {"name": "Ölkanne"}}),
    product("tool-4", taxonomy=["Kitchen"], name="Grater", translations={"de": {"name": "ofenblech"}}),
    product("tool-5", taxonomy=["Kitchen"], name="Zester", translations={"de": {"name": "Pfanne"}}),
]


@pytest.fixture(params=["search", "nouveau", "keywords"])
def deps(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    prepared: Callable,
    environment: dict[str, str],
) -> Dependencies:
    """The shop on a server that has no other dialect."""
    if request.param != "keywords" and request.param not in server.features():
        pytest.skip(f"this server has no {request.param}")
    others = frozenset(server.features()) - {"search", "nouveau"}
    monkeypatch.setattr(Client, "features", lambda self: others | {request.param})
    prepared(design_in("en", "de"))
    found = open_as_worker(environment | {"LANGUAGES": "en,de"})
    lines = (importing.Line(n, each) for n, each in enumerate(GOODS, 1))
    importing.run(found, lines, lambda state: None, importing.write)
    stored = found.category_documents.get("Kitchen")
    labelled = {"translations": {"de": {"label": "Küche"}}, "edited": timestamp(), "edited_by": "admin"}
    if stored is None:
        found.category_documents.put(CATEGORY.build(category_id("Kitchen"), path="Kitchen", **labelled))
    found.categories.reread()
    return found


def found(deps: Dependencies, language: str, **asked: Any) -> list[str]:
    return [doc["name"] for doc in browse.products(deps.in_language(language), Question(**asked)).docs]


def test_words_sorting_and_phrases_are_of_the_language(deps: Dependencies):
    eventually(lambda: found(deps, "de", q="tunika") == ["Tunika aus Leinen"])
    assert found(deps, "de", q="rot leinen") == ["Tunika aus Leinen"]
    assert found(deps, "de", q='"aus leinen"') == ["Tunika aus Leinen"]
    assert found(deps, "de", q="fork") == found(deps, "", q="gabel") == []
    assert found(deps, "", q="linen") == ["Linen tunic"]
    eventually(
        lambda: sorted(found(deps, "de", q="kueche")) == ["Gabel", "Messer", "Pfanne", "ofenblech", "Ölkanne"]
    )
    assert found(deps, "de", q="küche messer") == found(deps, "de", q="messer küche") == ["Messer"]
    assert found(deps, "de", q="küche tunika", sort="name") == found(deps, "", q="küche") == []
    kitchen = {"category": ("Kitchen",), "sort": "name"}
    german = ["Gabel", "Messer", "ofenblech", "Ölkanne", "Pfanne"]
    english = ["Axe and knife", "éclair tray", "Fork", "Grater", "Zester"]
    assert found(deps, "de", **kitchen) == german
    assert found(deps, "", **kitchen) == english
    everywhere = kitchen | {"subcategories": True, "facets": ("brand",)}
    assert found(deps, "de", **everywhere) == german
    assert found(deps, "", **everywhere) == english


TEXTS = st.sampled_from(["Red", "M", "Size", "Größe", "constructor", "rot", "Wool"])
LABELS = st.dictionaries(TEXTS, TEXTS, max_size=4)


@st.composite
def products(draw: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {"_id": "a:b", "type": "product", "name": draw(TEXTS), "description": "own"}
    doc["colours"] = draw(st.lists(TEXTS, max_size=2))
    if draw(st.booleans()):
        doc["options"] = [{"name": draw(TEXTS), "values": draw(st.lists(TEXTS, max_size=3))}]
        doc["variants"] = [
            {"sku": "s", "options": draw(st.dictionaries(TEXTS, TEXTS, max_size=1)), "stock": 2}
        ]
    if draw(st.booleans()):
        doc["attributes"] = {"a": draw(TEXTS), "b": draw(st.lists(TEXTS, max_size=2)), "c": 3, "d": True}
    said = {
        "name": draw(TEXTS),
        "keywords": draw(st.lists(TEXTS, max_size=2)),
        "labels": draw(LABELS),
        "attributes": draw(st.dictionaries(st.sampled_from(["a", "b"]), TEXTS, max_size=1)),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(said))))
    doc["translations"] = {draw(st.sampled_from(["de", "fr"])): {each: said[each] for each in sorted(chosen)}}
    return doc


@settings(max_examples=50, deadline=None, database=None)
@given(docs=st.lists(products(), min_size=1, max_size=8))
def test_index_functions_translate_as_python_does(docs: list[dict[str, Any]]):
    source = f"function (doc) {{ index('doc', JSON.stringify({translation_into('de').script}(doc)), {{}}); }}"
    made = v8.run_index(source, [orjson.dumps(doc) for doc in docs])
    texts = [orjson.loads(rows[0][1]) for rows in made]
    for doc, script in zip(docs, texts, strict=True):
        python = {**translated(doc, "de")}  # type: ignore[arg-type]
        python.pop("translated_to", None)
        script = {
            name: value
            for name, value in script.items()
            if name != "translations" or "translations" in python
        }
        assert script == python
