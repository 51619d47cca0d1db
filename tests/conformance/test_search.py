"""`_search`: Cloudant's query syntax, analyzers, sorting, facets, highlights, groups, bookmarks, partitions, refusals."""

from typing import Any

import pytest

pytestmark = pytest.mark.conformance

COLOURS = ["red", "blue", "green"]
BRANDS = ["Acme", "Bolt", "Zed"]
INDEX = """function (doc) {
  if (doc.type !== 'product') return;
  index('default', doc.name + ' ' + doc.description);
  index('name', doc.name, {store: true});
  index('description', doc.description, {store: true});
  index('brand', doc.brand, {facet: true, store: true});
  doc.colours.forEach(function (colour) { index('colour', colour, {facet: true}); });
  index('price', doc.price, {facet: true, store: true});
  if (doc.rare) index('rare', doc.rare);
}"""
ANALYZER = {"name": "perfield", "default": "standard", "fields": {"brand": "keyword", "colour": "keyword"}}
DOCS = [
    {
        "_id": f"cat{n % 2}:p{n:02d}",
        "type": "product",
        "name": f"{COLOURS[n % 3]} pan number n{n}",
        "brand": BRANDS[n % 3],
        "colours": [COLOURS[n % 3], COLOURS[(n + 1) % 3]],
        "price": 100 * n,
        "description": "A very fine kettle for the kitchen. It boils water",
    }
    for n in range(30)
] + [
    {
        "_id": "cat0:cafe",
        "type": "product",
        "name": "Zoë's Café grinder",
        "brand": "Ünder Co",
        "colours": [],
        "price": 5.5,
        "description": "Grinds coffee, not tea",
        "rare": "wi-fi 500",
    },
    {"_id": "cat0:not-indexed", "type": "other"},
]


@pytest.fixture(scope="module")
def path(couch) -> str:
    if "search" not in couch.get("/").json()["features"]:
        pytest.skip("this server has no text search")
    db = couch.make("search", "?partitioned=true")
    couch.post(db + "/_bulk_docs", {"docs": DOCS})
    definition = {"all": {"index": INDEX, "analyzer": ANALYZER}}
    couch.put(db + "/_design/everywhere", {"options": {"partitioned": False}, "indexes": definition})
    couch.put(db + "/_design/inside", {"indexes": definition})
    yield db
    couch.delete(db)


def search(couch, path: str, q: str, **options: Any) -> Any:
    return couch.post(path + "/_design/everywhere/_search/all", {"q": q, "limit": 100, **options}).json()


def found(couch, path: str, q: str, **options: Any) -> list[str]:
    return sorted(row["id"].split(":")[1] for row in search(couch, path, q, **options)["rows"])


def ids(*numbers: int) -> list[str]:
    return [f"p{n:02d}" for n in numbers]


def every_third(start: int) -> list[str]:
    return ids(*range(start, 30, 3))


@pytest.mark.parametrize(
    ("q", "wanted"),
    [
        ("name:red", every_third(0)),
        ("name:RED", every_third(0)),
        ("name:red AND brand:Acme", every_third(0)),
        ("name:red AND brand:acme", []),  # the keyword analyzer keeps case
        ("name:red && name:n3", ids(3)),
        ("+name:red -name:n3 +price:[0 TO 600]", ids(0, 6)),
        ("name:n1 name:n2", ids(1, 2)),
        ("name:n1 OR name:n2 || name:n4", ids(1, 2, 4)),
        ("name:(n1 n2)^2", ids(1, 2)),
        ('name:"pan number"', ids(*range(30))),
        ('name:"number pan"', []),
        ('name:"number pan"~2', ids(*range(30))),
        ("name:n2*", ids(2, *range(20, 30))),
        ("name:n?9", ids(19, 29)),
        ("name:*8", ids(8, 18, 28)),
        ("name:grindr~", ["cafe"]),
        ("name:grindr~1", ["cafe"]),
        ("name:grndr~1", []),
        ("name:/n1[23]/", ids(12, 13)),
        ("price:[100 TO 300]", ids(1, 2, 3)),
        ("price:{100 TO 300}", ids(2)),
        ("price:{100 TO 300]", ids(2, 3)),
        ("price:[2900 TO *]", ids(29)),
        ("price:[-Infinity TO 5.5]", ["cafe", "p00"]),
        ("price:500", ids(5)),
        ("price:5.5", ["cafe"]),
        ("rare:500", []),  # a bare number is a number, the word needs quotes
        ('rare:"500"', ["cafe"]),
        ("rare:wi-fi", ["cafe"]),
        ("brand:[A TO B]", every_third(0)),
        ("brand:Ü*", ["cafe"]),
        ("brand:Ünder\\ Co", ["cafe"]),
        ("café", ["cafe"]),
        ("zoë's", ["cafe"]),
        ("coffee AND NOT tea", []),
        ("NOT name:red", []),
        ("*:* AND NOT name:pan", ["cafe"]),
        ("rare:*", ["cafe"]),
        ("nothing:here", []),
        ("kettle AND name:n7", ids(7)),
        ("the", []),  # a stop word
        ('_id:"cat0:cafe"', ["cafe"]),
    ],
)
def test_query_syntax(couch, path: str, q: str, wanted: list[str]) -> None:
    assert found(couch, path, q) == sorted(wanted)


def test_boosts_decide_the_order(couch, path: str) -> None:
    rows = search(couch, path, "name:n4 OR name:n5^5", limit=2)["rows"]
    assert [row["id"] for row in rows] == ["cat1:p05", "cat0:p04"]
    assert rows[0]["order"][0] > rows[1]["order"][0]


def test_rows_fields_and_documents(couch, path: str) -> None:
    row = search(couch, path, "café", include_docs=True)["rows"][0]
    assert row["fields"]["brand"] == "Ünder Co"
    assert row["fields"]["price"] == 5.5
    assert row["doc"]["_id"] == row["id"] == "cat0:cafe"
    assert search(couch, path, "café", include_fields=["price"])["rows"][0]["fields"] == {"price": 5.5}
    assert search(couch, path, "*:*")["total_rows"] == 31


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("price<number>", ["p00", "cafe", "p01"]),
        ("-price", ["p29", "p28", "p27"]),
        (["-brand<string>", "price<number>"], ["cafe", "p02", "p05"]),
        (["brand<string>", "-price<number>"], ["p27", "p24", "p21"]),
        ('"-price<number>"', ["p29", "p28", "p27"]),
    ],
)
def test_sort(couch, path: str, sort: Any, first: list[str]) -> None:
    if isinstance(sort, str) and sort.startswith('"'):
        answer = couch.get(
            path + "/_design/everywhere/_search/all", params={"q": "*:*", "limit": "3", "sort": sort}
        ).json()
    else:
        answer = search(couch, path, "*:*", sort=sort, limit=3)
    assert [row["id"].split(":")[1] for row in answer["rows"]] == first


@pytest.mark.parametrize(
    "sort", [None, "price", "-price<number>", "brand<string>", ["-brand<string>", "-price<number>"]]
)
def test_bookmarks_lead_through_everything_once(couch, path: str, sort: Any) -> None:
    options = {} if sort is None else {"sort": sort}
    whole = [row["id"] for row in search(couch, path, "*:*", **options)["rows"]]
    pages: list[str] = []
    bookmark = None
    while True:
        answer = search(couch, path, "*:*", **options, limit=7, bookmark=bookmark)
        if not answer["rows"]:
            break
        pages += [row["id"] for row in answer["rows"]]
        bookmark = answer["bookmark"]
    assert pages == whole
    assert len(set(pages)) == 31


def test_counts_ranges_and_drilldown(couch, path: str) -> None:
    ranges = {"price": {"cheap": "[0 TO 1000]", "dear": "{1000 TO Infinity}"}}
    answer = search(couch, path, "colour:green", counts=["brand", "colour"], ranges=ranges, limit=0)
    assert answer["counts"] == {
        "brand": {"Bolt": 10, "Zed": 10},
        "colour": {"green": 20, "blue": 10, "red": 10},
    }
    assert answer["ranges"] == {"price": {"cheap": 7, "dear": 13}}
    assert answer["rows"] == []
    answer = search(
        couch, path, "*:*", drilldown=[["brand", "Acme", "Zed"], ["colour", "red"]], counts=["brand"]
    )
    assert (answer["total_rows"], answer["counts"]) == (20, {"brand": {"Acme": 10, "Zed": 10}})


def test_ranges_overlap_and_end_where_they_say(couch, path: str) -> None:
    everything = {row["id"]: row["fields"]["price"] for row in search(couch, path, "*:*", limit=100)["rows"]}
    prices = sorted(everything.values())
    low, high = prices[3], prices[-3]
    tests = {
        f"[{low} TO {high}]": lambda price: low <= price <= high,
        f"{{{low} TO {high}}}": lambda price: low < price < high,
        f"[{low} TO {low}]": lambda price: price == low,
        f"[-Infinity TO {high}}}": lambda price: price < high,
    }
    answer = search(couch, path, "*:*", ranges={"price": {text: text for text in tests}}, limit=0)
    assert answer["ranges"]["price"] == {
        text: sum(fits(price) for price in prices) for text, fits in tests.items()
    }


def test_the_same_search_again_shows_what_changed_meanwhile(couch, path: str) -> None:
    """Counts and documents too, whether or not the change touches what is indexed."""
    question: dict[str, Any] = {"include_docs": True, "counts": ["brand"], "drilldown": [["brand", "Again"]]}
    doc = DOCS[0] | {"_id": "cat1:again", "name": "twice sold", "brand": "Again"}

    def answer() -> tuple[list[dict[str, Any] | None], dict[str, float]]:
        found = search(couch, path, "name:twice", **question)
        return [row["doc"] for row in found["rows"]], found["counts"]["brand"]

    assert answer() == ([], {})
    rev = couch.put(f"{path}/cat1:again", doc).json()["rev"]
    assert answer() == ([doc | {"_rev": rev}], {"Again": 1})
    unindexed = doc | {"stock": 3}
    rev = couch.put(f"{path}/cat1:again?rev={rev}", unindexed).json()["rev"]
    assert answer() == ([unindexed | {"_rev": rev}], {"Again": 1})
    rev = couch.put(f"{path}/cat1:again?rev={rev}", doc | {"name": "once"}).json()["rev"]
    assert answer() == ([], {})
    rev = couch.put(f"{path}/cat1:again?rev={rev}", doc).json()["rev"]
    assert answer() == ([doc | {"_rev": rev}], {"Again": 1})
    couch.delete(f"{path}/cat1:again?rev={rev}")
    assert answer() == ([], {})


def test_ranges_that_only_touch_count_a_hit_once(couch, path: str) -> None:
    ranges = {"low": "[0 TO 1000}", "middle": "[1000 TO 2000}", "high": "[2000 TO Infinity]"}
    answer = search(couch, path, "colour:green", ranges={"price": ranges}, counts=["brand"], limit=0)
    found = answer["ranges"]["price"]
    assert sum(found.values()) == answer["total_rows"] == sum(answer["counts"]["brand"].values())
    assert found == {"low": 6, "middle": 7, "high": 7}


def test_highlights(couch, path: str) -> None:
    row = search(couch, path, "description:kettle AND name:n7", highlight_fields=["description", "name"])[
        "rows"
    ][0]
    assert "<em>kettle</em>" in row["highlights"]["description"][0]
    assert "<em>n7</em>" in row["highlights"]["name"][0]
    row = search(
        couch,
        path,
        "kettle AND name:n7",
        highlight_fields=["description"],
        highlight_pre_tag="*",
        highlight_post_tag="*",
    )
    assert "*kettle*" in row["rows"][0]["highlights"]["description"][0]


def test_groups(couch, path: str) -> None:
    answer = search(
        couch, path, "name:pan", group_field="brand", limit=2, group_sort="-brand<string>", sort="-price"
    )
    assert answer["total_rows"] == 30
    assert [(group["by"], group["total_rows"]) for group in answer["groups"]] == [
        ("Zed", 10),
        ("Bolt", 10),
        ("Acme", 10),
    ]
    assert [row["id"] for row in answer["groups"][0]["rows"]] == ["cat1:p29", "cat0:p26"]
    assert len(search(couch, path, "name:pan", group_field="brand", group_limit=2)["groups"]) == 2


def test_partitions(couch, path: str) -> None:
    inside = path + "/_partition/cat1/_design/inside/_search/all"
    answer = couch.post(inside, {"q": "name:red", "sort": "price"}).json()
    assert [row["id"] for row in answer["rows"]] == [f"cat1:p{n:02d}" for n in (3, 9, 15, 21, 27)]
    assert couch.get(path + "/_partition/none/_design/inside/_search/all?q=*:*").json()["total_rows"] == 0
    refused = couch.post(inside, {"q": "x", "counts": ["brand"]})
    assert refused.status_code == 400
    assert "are incompatible" in refused.json()["reason"]
    refused = couch.post(path + "/_design/inside/_search/all", {"q": "x"}).json()
    assert refused["reason"] == "`partition` parameter is mandatory for queries to this index."
    refused = couch.post(path + "/_partition/cat1/_design/everywhere/_search/all", {"q": "x"}).json()
    assert refused["reason"] == "`partition` not supported on this index"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, "query_parse_error"),
        ({"q": "name:"}, "bad_request"),
        ({"q": "a AND"}, "bad_request"),
        ({"q": "(a"}, "bad_request"),
        ({"q": '"a'}, "bad_request"),
        ({"q": "[1 TO"}, "bad_request"),
        ({"q": "a", "limit": 2001}, "query_parse_error"),
        ({"q": "a", "limit": -1}, "query_parse_error"),
        ({"q": "a", "limit": "x"}, "query_parse_error"),
        ({"q": "a", "sort": "x<y>"}, "bad_request"),
        ({"q": "a", "sort": "!"}, "bad_request"),
        ({"q": "a", "bookmark": "nonsense"}, "bad_request"),
        ({"q": "a", "ranges": {"price": {"x": "1 to 2"}}}, "bad_request"),
        ({"q": "a", "counts": "brand"}, "bad_request"),
        ({"q": "a", "group_field": "brand", "group_limit": 0}, "query_parse_error"),
    ],
)
def test_refusals(couch, path: str, options: dict[str, Any], error: str) -> None:
    answer = couch.post(path + "/_design/everywhere/_search/all", options)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_unknown_indexes_are_404(couch, path: str) -> None:
    assert couch.get(path + "/_design/everywhere/_search/none?q=x").status_code == 404
    assert couch.get(path + "/_design/none/_search/all?q=x").status_code == 404


def test_changes_reach_the_index(couch, path: str) -> None:
    new = path + "/cat0:fresh"
    rev = couch.put(
        new,
        {
            "type": "product",
            "name": "purple haze",
            "brand": "X",
            "colours": [],
            "price": 1,
            "description": "",
        },
    ).json()["rev"]
    assert found(couch, path, "purple") == ["fresh"]
    rev = couch.put(
        new,
        {
            "type": "product",
            "name": "yellow",
            "brand": "X",
            "colours": [],
            "price": 1,
            "description": "",
            "_rev": rev,
        },
    ).json()["rev"]
    assert (found(couch, path, "purple"), found(couch, path, "yellow")) == ([], ["fresh"])
    couch.delete(f"{new}?rev={rev}")
    assert found(couch, path, "yellow") == []


def test_more_fields_than_a_schema_has(couch, path: str, db: str) -> None:
    couch.put(
        db + "/_design/x",
        {"indexes": {"i": {"index": "function (d) { for (var k in d.f) index(k, d.f[k]); }"}}},
    )
    docs = [{"_id": f"d{n}", "f": {f"field {n}.{m}": f"word{m}" for m in range(4)}} for n in range(25)]
    couch.post(db + "/_bulk_docs", {"docs": docs})
    for n in (0, 13, 24):
        q = f"field\\ {n}.3:word3"
        assert [row["id"] for row in couch.post(db + "/_design/x/_search/i", {"q": q}).json()["rows"]] == [
            f"d{n}"
        ]


@pytest.mark.parametrize(
    ("analyzer", "text", "tokens"),
    [
        ("standard", "The Quick-Brown fox's 3.5mm plug", ["quick", "brown", "fox's", "3.5mm", "plug"]),
        ("keyword", "As It Is", ["As It Is"]),
        ("whitespace", "Quick-Brown fox", ["Quick-Brown", "fox"]),
        ("simple", "Quick-Brown 3 foxes", ["quick", "brown", "foxes"]),
        ("email", "write to me@example.com now", ["write", "me@example.com", "now"]),
        ("english", "running dogs' houses", ["run", "dog", "hous"]),
        ("german", "die Häuser", ["haus"]),
        ({"name": "standard", "stopwords": ["quick"]}, "the quick fox", ["the", "fox"]),
    ],
)
def test_analyzers(couch, path: str, analyzer: Any, text: str, tokens: list[str]) -> None:
    assert couch.post("/_search_analyze", {"analyzer": analyzer, "text": text}).json() == {"tokens": tokens}


def test_cleanup_keeps_what_is_used(couch, path: str, db: str) -> None:
    couch.put(db + "/x", {"t": "word"})
    index = {"i": {"index": "function (d) { index('t', d.t); }"}}
    rev = couch.put(db + "/_design/x", {"indexes": index}).json()["rev"]
    ask = {"q": "t:word"}
    assert couch.post(db + "/_design/x/_search/i", ask).json()["total_rows"] == 1
    assert couch.post(db + "/_search_cleanup", {}).status_code == 202
    assert couch.get(db + "/_design/x/_search_info/i").json()["search_index"]["doc_count"] == 1
    couch.delete(f"{db}/_design/x?rev={rev}")
    assert couch.post(db + "/_search_cleanup", {}).status_code == 202
    couch.put(db + "/_design/x", {"indexes": index})
    assert couch.post(db + "/_design/x/_search/i", ask).json()["total_rows"] == 1


def test_information(couch, path: str) -> None:
    search(couch, path, "*:*")
    answer = couch.get(path + "/_design/everywhere/_search_info/all").json()
    assert answer["name"] == "_design/everywhere/all"
    assert answer["search_index"]["doc_count"] == 31
    assert answer["search_index"]["disk_size"] > 0
