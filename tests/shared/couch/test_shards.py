"""Each shard has a part of a partitioned index of its own: whoever waits for the index waits for all of them."""

import secrets
from typing import Any

import pytest

from shared.couch import DatabaseDesign, FindIndex, SearchField, SearchIndex, Server, View, search_for

SHARDS = 8
BY_NAME = FindIndex("by_name", "?", fields=("name",))
INSIDE = View("inside", "?", map="function (doc) { emit(doc.name, 1); }", partitioned=True)
SEARCH = SearchIndex("words", "?", (SearchField("name"),), partitioned=True)
PARTITIONS = [f"shelf{n}" for n in range(40)]


@pytest.fixture
def design(server: Server) -> DatabaseDesign:
    """Of a database with more shards than a server on one node makes by itself."""
    design = DatabaseDesign(f"shards{secrets.token_hex(3)}", (BY_NAME, INSIDE, SEARCH))
    server.client.call("put_database", db=server.name_of(design), partitioned=True, q=SHARDS)
    return design


def shard_of(server: Server, design: DatabaseDesign, partition: str) -> str:
    found = server.client.call(
        "get_document_shards_info", db=server.name_of(design), doc_id=f"{partition}:one"
    )
    return str(found["range"])


def test_a_partition_of_each_shard_is_known(server: Server, design: DatabaseDesign) -> None:
    keys = server.client.partition_of_each_shard(server.name_of(design))
    assert len({shard_of(server, design, key) for key in keys}) == len(keys) == SHARDS


def test_who_waits_for_an_index_asks_the_part_of_each_shard(
    server: Server, design: DatabaseDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, set[str]] = {}
    call, nouveau = server.client.call, server.client.nouveau

    def noted(operation: str, **arguments: Any) -> Any:
        if operation in ("post_partition_find", "post_partition_view", "post_partition_search"):
            asked.setdefault(operation, set()).add(arguments["partition_key"])
        return call(operation, **arguments)

    def noted_nouveau(at: dict[str, str], *more: Any, **options: Any) -> Any:
        asked.setdefault("nouveau", set()).add(at["partition_key"])
        return nouveau(at, *more, **options)

    monkeypatch.setattr(server.client, "call", noted)
    monkeypatch.setattr(server.client, "nouveau", noted_nouveau)
    server.prepare([design], progress=lambda line: None)
    assert len(asked) >= 2
    for operation, keys in asked.items():
        assert len({shard_of(server, design, key) for key in keys}) == SHARDS, operation


def test_what_was_written_is_in_the_index_of_every_shard(server: Server, design: DatabaseDesign) -> None:
    server.prepare([design], progress=lambda line: None)
    docs = [{"_id": f"{each}:one", "name": f"lamp {each}"} for each in PARTITIONS]
    server.client.call("post_bulk_docs", db=server.name_of(design), bulk_docs={"docs": docs})
    server.wait_for_indexes(design)
    database = server.open(design)
    for each in PARTITIONS:
        rows = server.client.call(
            "post_partition_view",
            db=server.name_of(design),
            partition_key=each,
            ddoc=INSIDE.design_id,
            view=INSIDE.name,
            update="false",
        )["rows"]
        assert len(rows) == 1, each
        assert database.partition(each).search(SEARCH, search_for("lamp")).total == 1
