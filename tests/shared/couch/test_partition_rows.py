"""Partitions of more rows than Cloudant gives to one query: nothing is left out, and nothing refused."""

from collections.abc import Callable, Iterator

import pytest

from shared.couch import Database, DatabaseDesign, Partition, Server, View
from shared.couch.database import PARTITION_ROWS
from shared.couch.tally import counting
from tests.processes import running_minicouch

PER_NUMBER = View(
    "per_number", "numbers and how often", "function (doc) { emit(doc.n, 1); }", "_sum", partitioned=True
)
DESIGN = DatabaseDesign("rows", (PER_NUMBER,))
PLAN = "1000000,1000000,1000000"
COUNTS = (PARTITION_ROWS - 1, PARTITION_ROWS, PARTITION_ROWS + 1, 2 * PARTITION_ROWS + 5)


@pytest.fixture(scope="module")
def couch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own, with the limits of a plan that nobody uses up."""
    with running_minicouch(tmp_path_factory.mktemp("rows") / "data", "--plan", PLAN) as url:
        yield url


@pytest.fixture(scope="module")
def database(server: Server, prepared: Callable[..., None]) -> Database:
    prepared(DESIGN)
    database = server.open(DESIGN)
    for count in COUNTS:
        database.put_many({"_id": f"p{count}:{n:06}", "type": "number", "n": n} for n in range(count))
    return database


@pytest.fixture(params=COUNTS)
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def partition(database: Database, count: int) -> Partition:
    return database.partition(f"p{count}")


def numbers(docs: list) -> list[int]:
    return [doc["n"] for doc in docs]


def test_all_of_a_partition_are_read_in_both_directions(partition: Partition, count: int):
    assert numbers(partition.all()) == list(range(count))
    assert numbers(partition.all("00", descending=True)) == list(range(count))[::-1]
    assert numbers(partition.all(begin_at=f"{partition.key}:000007")) == list(range(7, count))


def test_as_many_as_are_wanted_and_no_more(partition: Partition, count: int):
    for limit in (0, 1, PARTITION_ROWS, PARTITION_ROWS + 1, 3 * PARTITION_ROWS):
        assert numbers(partition.all(limit=limit)) == list(range(min(limit, count))), limit
        groups = partition.view(PER_NUMBER, group=True, limit=limit)
        assert [row["key"] for row in groups] == list(range(min(limit, count))), limit


def test_each_group_is_there_once_from_where_one_asks(partition: Partition, count: int):
    assert [(row["key"], row["value"]) for row in partition.view(PER_NUMBER, group=True)] == [
        (n, 1) for n in range(count)
    ]
    downwards = partition.view(PER_NUMBER, group=True, start=count - 3, descending=True)
    assert [row["key"] for row in downwards] == list(range(count - 2))[::-1]
    assert [row["key"] for row in partition.view(PER_NUMBER, group=True, key=5)] == [5]


def test_groups_end_with_the_one_that_has_no_key(database: Database):
    """As many as one query gives, downwards: null comes last."""
    docs = [{"_id": f"null:{n:06}", "type": "number", "n": n or None} for n in range(PARTITION_ROWS)]
    database.put_many(docs)
    keys = [row["key"] for row in database.partition("null").view(PER_NUMBER, group=True, descending=True)]
    assert keys == [*range(PARTITION_ROWS - 1, 0, -1), None]


def test_what_fits_into_one_query_is_one_query(database: Database):
    with counting() as spent:
        database.partition(f"p{PARTITION_ROWS - 1}").all()
        database.partition(f"p{PARTITION_ROWS - 1}").view(PER_NUMBER, group=True)
    assert spent.calls == {"partition": 2, "global": 0, "read": 0, "write": 0}
