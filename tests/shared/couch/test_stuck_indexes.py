"""An indexer that waits for ever for a Nouveau that was killed: what it does not add, another one does."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from shared.couch import (
    Database,
    DatabaseDesign,
    DatabaseUnavailable,
    SearchField,
    SearchIndex,
    SearchUnavailable,
    Server,
    search_for,
)
from shared.couch.stuck_indexes import SECOND
from tests.nouveau_away import Nouveau, without_nouveau
from tests.waiting import eventually

SEARCH = SearchIndex("words", "?", (SearchField("name"),), only=(("type", "thing"),))
INDEX = SEARCH.on(["nouveau"])
JOB_SECONDS = 20.0


@pytest.fixture
def design() -> DatabaseDesign:
    return DatabaseDesign(f"stuck{secrets.token_hex(3)}", (SEARCH,))


@pytest.fixture(params=["3.5.0", "3.5.2"])
def nouveau(request: pytest.FixtureRequest, couch_url: str, server: Server) -> Iterator[Nouveau]:
    if "nouveau" not in server.features():
        pytest.skip("this server has no Nouveau")
    with without_nouveau(couch_url) as nouveau:
        nouveau.away, nouveau.versioned = False, request.param == "3.5.2"
        yield nouveau


@pytest.fixture
def worker(nouveau: Nouveau, server: Server, design: DatabaseDesign) -> Server:
    """The same databases as a job sees them, prepared."""
    worker = Server(nouveau.url, prefix=server.prefix, timeout=JOB_SECONDS)
    worker.prepare([design], progress=lambda line: None)
    return worker


@pytest.fixture
def shop(worker: Server, nouveau: Nouveau, server: Server, design: DatabaseDesign) -> Database:
    """As a service sees them."""
    return Server(nouveau.url, prefix=server.prefix).open(design)


def add(shop: Database, docid: str) -> None:
    shop.put({"_id": docid, "type": "thing", "name": "Pan"})


def found(shop: Database) -> list[str]:
    """Nothing while no search is answered."""
    try:
        page = shop.across_partitions.search(SEARCH, search_for("pan"))
    except SearchUnavailable:
        return []
    return sorted(doc["_id"] for doc in page.items)


def declarations(shop: Database) -> dict[str, dict[str, Any]]:
    ids = (f"_design/{INDEX.design_id}", f"_design/{INDEX.design_id}{SECOND}")
    return shop.get_many(ids)


def function_of(shop: Database, ending: str = "") -> str:
    return str(declarations(shop)[f"_design/{INDEX.design_id}{ending}"]["nouveau"]["words"]["index"])


def caught_up(worker: Server, shop: Database, seconds: float) -> int:
    """How many documents the index has of all that were written. Raises DatabaseUnavailable where it has not caught up in that time."""
    everything = {"q": "*:*", "limit": 1}
    answer = worker.client.nouveau(
        {"db": shop.name}, INDEX.design_id, "words", everything, call_timeout=seconds
    )
    return int(answer["total_hits"])


def after_a_job(worker: Server, design: DatabaseDesign, shop: Database) -> dict[str, dict[str, Any]]:
    worker.restore_indexes(design)
    return declarations(shop)


def test_nothing_is_changed_while_all_is_well(worker: Server, shop: Database, design: DatabaseDesign) -> None:
    before = declarations(shop)
    worker.restore_indexes(design)
    assert declarations(shop) == before


def test_it_is_built_anew_beside_itself(
    worker: Server, shop: Database, design: DatabaseDesign, nouveau: Nouveau
) -> None:
    add(shop, "a:1")
    eventually(lambda: found(shop) == ["a:1"])
    nouveau.lose_indexer(shop.name, INDEX.design_id, "words")
    add(shop, "a:2")
    with pytest.raises(DatabaseUnavailable):
        caught_up(worker, shop, seconds=1.0)
    worker.restore_indexes(design)
    assert function_of(shop, SECOND).endswith("// 2")
    eventually(lambda: after_a_job(worker, design, shop).keys() == {f"_design/{INDEX.design_id}"})
    assert function_of(shop).endswith("// 2")
    eventually(lambda: found(shop) == ["a:1", "a:2"])
    assert caught_up(worker, shop, seconds=60.0) == 2
    built = declarations(shop)
    worker.restore_indexes(design)
    assert declarations(shop) == built, "who waits for ever is listed still, and is none of this index's"


def test_the_second_one_may_be_stuck_as_well(
    worker: Server, shop: Database, design: DatabaseDesign, nouveau: Nouveau
) -> None:
    add(shop, "a:1")
    nouveau.lose_indexer(shop.name, INDEX.design_id, "words")
    worker.restore_indexes(design)
    nouveau.lose_indexer(shop.name, INDEX.design_id + SECOND, "words")
    worker.restore_indexes(design)
    assert function_of(shop, SECOND).endswith("// 3")
    eventually(lambda: after_a_job(worker, design, shop).keys() == {f"_design/{INDEX.design_id}"})
    assert function_of(shop).endswith("// 3")
    nouveau.lose_indexer(shop.name, INDEX.design_id, "words")
    worker.restore_indexes(design)
    assert function_of(shop, SECOND).endswith("// 4"), "and it happens again"
