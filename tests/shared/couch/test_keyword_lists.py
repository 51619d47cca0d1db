"""A server without a search engine lists everything in an order, however much there is: page by page, nothing left out."""

import random

import pytest

from shared.couch import Database, DatabaseDesign, SearchField, SearchIndex, SearchQuery, Server
from shared.couch.errors import BadRequest
from shared.couch.search.keywords import MAX_DOCUMENTS
from tests.waiting import eventually

INDEX = SearchIndex(
    "find",
    "?",
    (
        SearchField("name", weight=4),
        SearchField("name", kind="order", called="name_order"),
        SearchField("rank", kind="number"),
        SearchField("prices", kind="numbers", called="price_"),
        SearchField("brand", kind="keyword", called="brand_is", facet=True),
    ),
    only=(("type", "product"),),
)
DESIGN = DatabaseDesign("lists", (INDEX,))
COUNT = MAX_DOCUMENTS + 150


@pytest.fixture(scope="module")
def found(server: Server) -> Database:
    speaks = server.features()
    server.client._features = frozenset(speaks) - {"search", "nouveau"}
    server.prepare([DESIGN], progress=lambda line: None)
    database = server.open(DESIGN)
    ranks = random.Random(5).sample(range(COUNT), COUNT)
    docs = [
        {"_id": f"a:{n:05}", "type": "product", "name": f"Lamp {n}", "brand": "Odd" if n % 2 else "Even"}
        | (
            {}
            if rank < 3
            else {"rank": rank, "prices": {"GBP": rank, **({"EUR": 2 * rank} if rank % 2 else {})}}
        )
        for n, rank in enumerate(ranks)
    ]
    database.add_many(docs)
    everything = SearchQuery(sort="rank")
    eventually(lambda: sum(map(len, listed(database, everything, 500))) == COUNT)  # one node's copy lists it
    yield database
    server.client._features = frozenset(speaks)


def listed(database: Database, query: SearchQuery, limit: int) -> list[list[dict]]:
    """All pages."""
    search = database.across_partitions.search
    pages = [search(INDEX, query, limit=limit)]
    while pages[-1].next:
        pages.append(search(INDEX, query, limit=limit, bookmark=pages[-1].next))
    assert not any(page.unsupported for page in pages)
    return [page.items for page in pages]


def ranks(pages: list[list[dict]]) -> list[int]:
    return [doc.get("rank", -1) for page in pages for doc in page]


def test_the_best_of_very_many_come_first_and_every_page_follows(found: Database):
    pages = listed(found, SearchQuery(sort="-rank"), 100)
    assert [len(page) for page in pages] == [100] * (COUNT // 100) + [COUNT % 100]
    assert ranks(pages) == [*range(COUNT - 1, 2, -1), -1, -1, -1]
    assert ranks(listed(found, SearchQuery(sort="rank"), 500)) == [-1, -1, -1, *range(3, COUNT)]


def test_a_filtered_list_has_all_that_match_in_order(found: Database):
    query = SearchQuery(sort="-rank", filters={"brand_is": ("Odd",)})
    pages = listed(found, query, 40)
    assert len(pages[0]) == 40
    shown = [doc for page in pages for doc in page]
    assert {doc["brand"] for doc in shown} == {"Odd"}
    assert len({doc["_id"] for doc in shown}) == len(shown) == COUNT // 2
    assert ranks(pages) == sorted(ranks(pages), reverse=True)


def test_what_hardly_anything_has_is_found_behind_pages_that_have_none(found: Database):
    query = SearchQuery(sort="name_order", ranges={"rank": (COUNT - 1, None)})
    assert ranks(listed(found, query, 20)) == [COUNT - 1]


def test_a_short_list_knows_its_length_and_a_cursor_its_list(found: Database):
    search = found.across_partitions.search
    assert search(INDEX, SearchQuery(sort="name_order"), limit=COUNT).total == COUNT
    first = search(INDEX, SearchQuery(sort="name_order"), limit=5)
    assert first.total is None
    with pytest.raises(BadRequest):
        search(INDEX, SearchQuery(sort="-rank"), limit=5, bookmark=first.next)


def test_a_list_by_price_is_whole_in_each_currency(found: Database):
    assert ranks(listed(found, SearchQuery(sort="price_GBP"), 100)) == list(range(3, COUNT))
    assert ranks(listed(found, SearchQuery(sort="-price_EUR"), 100)) == list(
        range(COUNT - 1 - COUNT % 2, 2, -2)
    )


def test_bounds_of_its_order_are_where_a_list_begins_and_ends(found: Database):
    search = found.across_partitions.search
    for sort, expected in (("price_GBP", range(500, 511)), ("-price_GBP", range(510, 499, -1))):
        query = SearchQuery(sort=sort, ranges={"price_GBP": (500, 510)})
        first = search(INDEX, query, limit=8)
        second = search(INDEX, query, limit=8, bookmark=first.next)
        assert ranks([first.items, second.items]) == list(expected)
        assert [len(first.items), second.next] == [8, None]
    assert listed(found, SearchQuery(sort="price_GBP", ranges={"price_GBP": (9, 5)}), 8) == [[]]


def test_a_list_with_counts_begins_with_the_first_of_all_and_says_what_it_did_not_count(found: Database):
    query = SearchQuery(sort="-price_GBP", counts=("brand_is",))
    page = found.across_partitions.search(INDEX, query, limit=20)
    assert ranks([page.items]) == list(range(COUNT - 1, COUNT - 21, -1))
    assert sum(page.counts["brand_is"].values()) == MAX_DOCUMENTS
    assert page.unsupported == (f"filter, count or sort more than {MAX_DOCUMENTS} matches",)
