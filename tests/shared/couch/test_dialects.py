"""One declaration, asked of a real server in each dialect it speaks: the same question finds the same."""

from dataclasses import replace

import pytest

from shared.couch import Band, Database, DatabaseDesign, SearchField, SearchIndex, Server, search_for

FIELDS = (
    SearchField("name", weight=4, short=True),
    SearchField("brand", kind="keyword", called="brand_is", facet=True),
    SearchField("levels", kind="path", called="category", facet=True),
    SearchField("price.amount", kind="number", called="price", facet=True),
    SearchField("traits", kind="pairs", facet=True),
)
INDEX = SearchIndex("find", "?", FIELDS, only=(("type", "product"),))
INSIDE = SearchIndex("find_inside", "?", FIELDS[:2], only=(("type", "product"),), partitioned=True)
DESIGN = DatabaseDesign("dialects", (INDEX, INSIDE))

DOCS = [
    {
        "_id": "a:1",
        "type": "product",
        "name": "Red sofa 028",
        "brand": "Acme & Sons",
        "levels": ["A"],
        "price": {"amount": 30},
        "traits": {"size": ["Extra large", "M"], "washable": True},
    },
    {
        "_id": "a:2",
        "type": "product",
        "name": "Sofa bed",
        "brand": "Zed",
        "levels": ["A", "B's"],
        "price": {"amount": 20},
        "traits": {"size": "M", "seats": 2.0, "none": None},
    },
    {
        "_id": "b:3",
        "type": "product",
        "name": "Café sofas",
        "brand": "Zed",
        "levels": ["C"],
        "price": {"amount": 10},
    },
    {"_id": "b:4", "type": "other", "name": "Sofa"},
]


@pytest.fixture(scope="module", params=["search", "nouveau", "keywords"])
def found(request: pytest.FixtureRequest, server: Server) -> Database:
    """The database as a server with only this feature would have it."""
    speaks = server.features()
    if request.param != "keywords" and request.param not in speaks:
        pytest.skip(f"this server has no {request.param}")
    server.client._features = frozenset({request.param})
    server.prepare([DESIGN], progress=lambda line: None)
    database = server.open(DESIGN)
    database.add_many(DOCS)
    yield database
    server.client._features = frozenset(speaks)


def ids(page) -> list[str]:
    return [doc["_id"] for doc in page.items]


def test_words_prefixes_accents_and_numbers(found: Database):
    search = found.across_partitions.search
    assert sorted(ids(search(INDEX, search_for("sofa")))) == ["a:1", "a:2", "b:3"]
    assert sorted(ids(search(INDEX, search_for("sofa ")))) == ["a:1", "a:2", "b:3"]
    assert sorted(ids(search(INDEX, search_for("sofas")))) == ["a:1", "a:2", "b:3"]
    assert ids(search(INDEX, search_for("sofa's red"))) == ["a:1"]
    assert ids(search(INDEX, search_for("cafe"))) == ["b:3"]
    assert ids(search(INDEX, search_for("028"))) == ["a:1"]
    assert ids(search(INDEX, search_for('"sofa bed"'))) == ["a:2"]
    assert ids(search(INDEX, search_for("sofabed"))) == ["a:2"]
    assert ids(search(INDEX, search_for("sofa NEAR bed"))) == []
    for beginning in ("so", "sof"):
        assert sorted(ids(search(INDEX, search_for(beginning)))) == ["a:1", "a:2", "b:3"]
    assert ids(search(INDEX, search_for("sofab"))) == ["a:2"]
    assert ids(search(INDEX, search_for("sofa0"))) == ids(search(INDEX, search_for("02"))) == ["a:1"]


def test_what_is_found_is_the_document_as_it_is(found: Database):
    search = found.across_partitions.search
    [bed] = search(INDEX, search_for("bed ")).items
    assert bed == found.get("a:2")
    assert bed["traits"] == {"size": "M", "seats": 2, "none": None}
    found.put({**bed, "name": 'Sofa "bed" \u20ac \U0001f6cb'})
    assert search(INDEX, search_for("bed ")).items == [found.get("a:2")] != [bed]
    found.put({**found.get("a:2"), "name": bed["name"]})


def test_members_of_an_object_filter_and_are_counted(found: Database):
    search = found.across_partitions.search
    page = search(INDEX, search_for("sofa", counts=("traits",)))
    assert page.counts["traits"] == {
        "size=M": 2,
        "size=Extra large": 1,
        "washable=true": 1,
        "seats=2": 1,
        "seats=2..5": 1,
    }
    for filters, expected in (
        ({"traits.size": ("M",)}, ["a:1", "a:2"]),
        ({"traits.size": ("Extra large", "XXL")}, ["a:1"]),
        ({"traits.size": ("M",), "traits.washable": ("true",)}, ["a:1"]),
        ({"traits.seats": ("2",)}, ["a:2"]),
        ({"traits.size": ("large",)}, []),
        ({"traits.size": ('M" OR traits:"seats=2',)}, []),
    ):
        assert sorted(ids(search(INDEX, search_for("sofa", filters=filters)))) == expected, filters


def test_synonyms_stand_for_words_in_a_row(found: Database):
    def matched(text: str, **synonyms: list[tuple[str, ...]]) -> list[str]:
        rows = {tuple(row.split("_")): others for row, others in synonyms.items()}
        page = found.across_partitions.search(INDEX, search_for(text, synonyms=rows))
        assert page.total == len(page.items)
        return sorted(ids(page))

    assert matched("couch") == []
    assert matched("couch", couch=[("sofa",)]) == ["a:1", "a:2", "b:3"]
    assert matched("red couch", couch=[("sofa",)]) == ["a:1"]
    assert matched("guest couch", guest_couch=[("sofa", "bed"), ("café",)]) == ["a:2"]
    assert matched("guest couch", guest_couch=[("sofa", "bed"), ("cafe",)]) == ["a:2", "b:3"]
    assert matched("guest red", guest_couch=[("sofa", "bed")]) == []
    assert matched("bed", bed=[("028",)]) == ["a:1", "a:2"]
    assert matched("bed so", bed=[("cafe",)]) == ["a:2", "b:3"]


def test_filters_ranges_sort_and_facets(found: Database):
    search = found.across_partitions.search
    assert ids(search(INDEX, search_for("", filters={"brand_is": ["Acme & Sons"]}))) == ["a:1"]
    assert ids(search(INDEX, search_for("", filters={"category": ["A"]}, sort="price"))) == ["a:2", "a:1"]
    assert ids(search(INDEX, search_for("", ranges={"price": (15, None)}, sort="-price"))) == ["a:1", "a:2"]
    counted = search(
        INDEX,
        search_for(
            "sof",
            counts=("brand_is", "category"),
            bands={"price": [Band("low", 0, 19), Band("high", 20, 99)]},
        ),
    )
    assert counted.counts == {
        "brand_is": {"Acme & Sons": 1, "Zed": 2},
        "category": {"A": 2, "A#B's": 1, "C": 1},
    }
    assert counted.ranges == {"price": {"low": 1, "high": 2}}
    assert counted.total == 3


def test_within_a_partition(found: Database):
    assert sorted(ids(found.partition("a").search(INSIDE, search_for("sofa")))) == ["a:1", "a:2"]
    assert ids(found.partition("b").search(INSIDE, search_for("red sofa"))) == []


def test_pages_follow_on(found: Database):
    query = search_for("sof", sort="price")
    first = found.across_partitions.search(INDEX, query, limit=2)
    second = found.across_partitions.search(INDEX, query, limit=2, bookmark=first.next)
    assert ids(first) + ids(second) == ["b:3", "a:2", "a:1"]


def test_a_typo_is_forgiven_where_the_server_can(found: Database):
    page = found.across_partitions.search(INDEX, replace(search_for("sfoa "), forgiven=frozenset(["sfoa"])))
    assert "a:2" in ids(page) or page.unsupported == ("forgive typos",)
