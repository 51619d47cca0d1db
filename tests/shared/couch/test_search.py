"""The search declaration and its three dialects, without a server."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from shared.couch import LANGUAGES, Band, SearchField, SearchIndex, search_for, words_of
from shared.couch.dialects import search
from shared.couch.search import keywords

INDEX = SearchIndex(
    "find",
    "?",
    (
        SearchField("name", weight=4),
        SearchField("text"),
        SearchField("brand", kind="keyword", called="brand_is", facet=True),
        SearchField("levels", kind="path", called="category", facet=True),
        SearchField("price.amount", kind="number", called="price"),
    ),
    only=(("type", "product"),),
)


def doc(docid: str, **fields: Any) -> dict[str, Any]:
    return {
        "_id": docid,
        "type": "product",
        "name": "",
        "text": "",
        "brand": "",
        "levels": ["A"],
        "price": {"amount": 1},
        **fields,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Red  SHOES", ["red", "shoes"]),
        ("Café Ünïcode", ["cafe", "unicode"]),
        ("women's t-shirt", ["women", "t", "shirt"]),
        ("a_b 3/4 1,000", ["a", "b", "3", "4", "1", "000"]),
        ('(+-&|!){}[]^"~*?:\\/', []),
        ("💥 ok", ["ok"]),
        ("手机 pro", ["手机", "pro"]),
    ],
)
def test_text_becomes_words_without_syntax(text: str, words: list[str]):
    assert words_of(text) == words


def test_what_is_remembered_of_words_is_one_index_s_and_without_filters():
    german = replace(INDEX, language=LANGUAGES["de"])
    plain, narrowed = search_for("rote sofas "), search_for("rote sofas ", filters={"brand": ("Elm",)})
    first = plain.lucene(INDEX)

    assert plain.lucene(german) != first
    assert narrowed.lucene(INDEX) == f'{first} AND (brand:"Elm")'
    assert replace(plain, forgiven=frozenset({"sofas"})).lucene(INDEX) != first
    assert plain.lucene(INDEX) == first


def test_every_word_is_asked_of_every_text_field_by_weight():
    asked = search_for("blue sofa").lucene(INDEX)
    assert asked == (
        '(name:"blue"^8 OR text:"blue"^2) AND (name:"sofa"^8 OR name:sofa*^4 OR text:"sofa"^2 OR text:sofa*^1)'
    )
    assert "sofa*" not in search_for("blue sofa ").lucene(INDEX)
    assert search_for("").lucene(INDEX) == "*:*"


@pytest.mark.parametrize(
    ("typed", "begun", "other"),
    [
        ("kett", "kett kettle kettlelamp kettles", "kettle100003 kettle7 ket"),
        ("tab", "table tabletop tab tab3 tab3x", "table7 table100003 ta"),
        ("rx", "rx580 rxt3080 rx rxa", "rxtab580 r"),
    ],
)
def test_letters_are_the_beginning_of_words_whose_letters_are_no_words_of_their_own(
    typed: str, begun: str, other: str
):
    short = replace(INDEX, fields=(SearchField("name", weight=4, short=True),))
    [pattern] = re.findall(r"short:/(.*?)/", search_for(typed).lucene(short))
    assert all(re.fullmatch(pattern, word) for word in begun.split())
    assert not any(re.fullmatch(pattern, word) for word in other.split())
    assert "short:a1*^1" in search_for("a1").lucene(short), "digits go on as they are"


def test_typos_are_forgiven_only_when_asked_and_only_in_longer_words():
    forgiving = replace(search_for("red sofa bench "), forgiven=frozenset(["red", "sofa"])).lucene(INDEX)
    assert re.findall(r"\w+:\w+~1", forgiving) == ["name:sofa~1", "text:sofa~1"]


def test_the_last_word_may_be_a_beginning_where_no_product_has_it_whole():
    query = search_for("red sof")
    found = rows(("a", "red", 1), ("b", "red", 4), ("b", "sof", 4))
    whole, begun = keywords.candidates(query, INDEX, found), keywords.candidates(query, INDEX, found[:2])
    assert (whole.ids, whole.begun) == (["b"], False)
    assert (begun.ids, begun.begun) == (["b", "a"], True)


def test_a_word_as_it_was_typed_counts_more_than_its_stem_and_that_more_than_its_beginning():
    found = rows(("a", "sofa", 4), ("b", "sofas", 4), ("c", "sofabed", 4))
    assert keywords.candidates(search_for("sofas"), INDEX, found).ids == ["b", "a"]
    assert keywords.candidates(search_for("sofa"), INDEX, found).ids == ["a", "b", "c"]


def test_a_word_that_a_text_has_in_another_form_counts_less_than_one_that_it_has_as_it_is():
    found = rows(("a", "red", 4), ("a", "sofa", -4), ("b", "red", 4), ("b", "sofa", 4))
    assert keywords.candidates(search_for("red sofa"), INDEX, found).ids == ["b", "a"]
    assert keywords.candidates(search_for("sofa"), INDEX, found).ids == ["b", "a"]


def test_what_has_most_of_the_words_that_need_not_be_there_comes_first():
    query = replace(search_for("leather sofa "), optional=frozenset({"leather"}))
    found = rows(("a", "sofa", 8), ("b", "sofa", 1), ("b", "leather", 1))
    assert keywords.candidates(query, INDEX, found).ids == ["b", "a"]
    assert "^100" in query.lucene(INDEX)


def test_a_word_of_letters_beside_others_is_not_looked_for_in_codes():
    found = [
        *rows(("a", "boot", 4), ("b", "boot", 4)),
        *({"id": "b", "key": ["word", word, "code"], "value": 8} for word in ("green", "b7")),
    ]
    assert keywords.candidates(search_for("green boot "), INDEX, found).ids == []
    for code in ("boot b7 ", '"b7" boot ', "green "):
        assert keywords.candidates(search_for(code), INDEX, found).ids == ["b"], code
    unknown = replace(search_for("green boot "), forgiven=frozenset({"green"}))
    assert keywords.candidates(unknown, INDEX, found).ids == ["b"], "a word that nobody knows may be a code"


def test_stop_words_are_left_out_unless_there_are_no_others():
    assert '"for"' not in search_for("sofa for two ").lucene(INDEX)
    assert search_for("for the ").lucene(INDEX).count('name:"') == 2


def test_a_long_query_stays_below_the_clauses_that_a_server_takes():
    fields = tuple(SearchField(f"f{n}", short=n > 0) for n in range(7))
    words = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}s" for n in range(60)]
    query = replace(
        search_for(" ".join(words)), corrections=dict.fromkeys(words, ("one", "two", "three", "four"))
    )
    assert query.ignored_words(LANGUAGES["en"]) == words[16:]
    for asked in (query, replace(query, any_word=True)):
        assert asked.lucene(SearchIndex("find", "?", fields)).count(":") < 1024


def test_neighbours_are_also_asked_as_one_word():
    short = SearchIndex("find", "?", (SearchField("name", weight=4, short=True),))
    asked = search_for("bed sheets big ").lucene(short)
    assert 'short:"bedsheet"' in asked
    assert 'short:"sheetsbig"' in asked
    assert 'short:"bedsheetsbig"' not in asked


def test_what_is_optional_only_moves_forward_and_any_word_prefers_more_of_them():
    optional = replace(search_for("red sofa "), optional=frozenset({"red"})).lucene(INDEX)
    assert re.fullmatch(r'\+\([^()]*"sofa"[^()]*\) \([^()]*"red"[^()]*\)\^100', optional)
    some = replace(search_for("red sofa bed "), any_word=True).lucene(INDEX)
    assert some.count(" AND ") == 2 + 3
    assert some.count("^100 ") + some.count("^100)") == 3


def test_filters_are_quoted_and_ranges_are_numbers():
    asked = search_for("", filters={"brand_is": ['A" OR "B\\', "C"]}, ranges={"price": (5, None)}).lucene(
        INDEX
    )
    assert asked == '(brand_is:"A\\" OR \\"B\\\\" OR brand_is:"C") AND price:[5 TO 1000000000000000]'


def test_a_server_gets_the_form_it_can_serve():
    assert INDEX.on(["search", "nouveau"]) is INDEX
    nouveau = INDEX.on(["nouveau"]).design_document()["nouveau"]["find"]
    assert 'index("text", "name", terms(x));' in nouveau["index"]
    assert 'index("double", "price", x);' in nouveau["index"]
    assert nouveau["field_analyzers"] == {"brand_is": "keyword", "category": "keyword"}
    assert INDEX.on([]).design_document()["views"].keys() == {"find_by_keyword"}
    assert len({form.design_id for form in INDEX.forms()}) == 3


class Recorder:
    """A server that remembers what it was asked; it answers with nothing found."""

    def __init__(
        self, *features: str, shards: int = 2, relation: str = "EQUAL_TO", reads_behind: bool = False
    ) -> None:
        self.asked: list[Any] = []
        self._features, self._shards, self._relation = frozenset(features), shards, relation
        self._reads_behind = reads_behind

    def features(self) -> frozenset[str]:
        return self._features

    def shards(self, db: str) -> int:
        return self._shards

    def call(self, operation: str, **arguments: Any) -> Any:
        self.asked.append((operation, arguments))
        return {"rows": [], "total_rows": 0, "bookmark": "b", "counts": {"brand_is": {"Acme": 2.0}}}

    def allow_stale(self, index: str, ask: Any, stale: dict[str, Any]) -> tuple[Any, bool]:
        return ask(**stale), True

    def when_fresh(self, index: str, ask: Any, share: float) -> Any:
        return ask()

    def reads_nouveau_behind(self) -> bool:
        return self._reads_behind

    def nouveau(self, at: dict[str, str], ddoc: str, index: str, body: dict[str, Any]) -> Any:
        self.asked.append((at, body))
        return {
            "hits": [],
            "total_hits": 1000,
            "total_hits_relation": self._relation,
            "bookmark": "b",
            "counts": None,
            "ranges": None,
        }


def test_the_same_question_in_two_server_dialects():
    query = search_for("sofa", sort="-price", counts=("brand_is",), bands={"price": [Band("low", 0, 9)]})
    clouseau, nouveau = Recorder("search"), Recorder("nouveau")
    found = search(clouseau, {"db": "d"}, INDEX, query, limit=5, bookmark=None)
    assert found.counts == {"brand_is": {"Acme": 2}}
    operation, sent = clouseau.asked[0]
    assert (operation, sent["sort"], sent["counts"], sent["ranges"]) == (
        "post_search",
        ["-price<number>"],
        ["brand_is"],
        {"price": {"low": "[0 TO 9]"}},
    )
    search(nouveau, {"db": "d", "partition_key": "p"}, INDEX, query, limit=5, bookmark="x")
    at, body = nouveau.asked[0]
    assert at == {"db": "d", "partition_key": "p"}
    assert (body["q"], body["sort"], body["bookmark"]) == (query.lucene(INDEX), "-price", "x")
    assert body["ranges"] == {"price": [{"label": "low", "min": 0, "max": 9}]}


def test_documents_come_from_an_index_of_nouveau_that_is_up_to_date_and_are_read_behind_one_that_may_not_be():
    """CouchDB reads the documents of a page one by one: two thirds of what a search cost it."""
    stored, now = {"_id": "a", "_rev": "1-x", "name": "Sofa"}, {"_id": "a", "_rev": "2-x", "name": "Red sofa"}
    order = [{"@type": "float", "value": 2.5}]

    class Nouveau(Recorder):
        behind = False

        def allow_stale(self, index: str, ask: Any, stale: dict[str, Any]) -> tuple[Any, bool]:
            return ask(**(stale if self.behind else {})), self.behind

        def nouveau(self, at: dict[str, str], ddoc: str, index: str, body: dict[str, Any]) -> Any:
            hit = {"id": "a", "order": order, "fields": {"document": json.dumps(stored)}}
            gone = hit | {"id": "b", "doc": None, "order": [{"@type": "float", "value": 1.5}]}
            hits = [gone, hit | {"doc": now}] if body["include_docs"] else [hit]
            return super().nouveau(at, ddoc, index, body) | {"hits": hits}

    server = Nouveau("nouveau", reads_behind=True)
    assert 'index("stored", "document", JSON.stringify(doc));' in str(INDEX.on(["nouveau"]).design_document())
    for behind, docs in ((False, [stored]), (True, [now])):
        server.behind = behind
        found = search(server, {"db": "d"}, INDEX, search_for("sofa"), limit=5, bookmark=None)
        assert (found.items, found.scores) == (docs, (2.5,))
    assert [(body["update"], body["include_docs"]) for _, body in server.asked] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("reads_behind", [False, True])
def test_nouveau_is_asked_for_an_index_that_is_behind_only_where_it_is_answered(reads_behind: bool):
    """CouchDB 3.5.0 sends such a search to Nouveau again and again until the index is not behind, for a minute, whoever waits."""
    server = Recorder("nouveau", reads_behind=reads_behind)
    search(server, {"db": "d"}, INDEX, search_for("sofa"), limit=5, bookmark=None)
    assert [body["update"] for _, body in server.asked] == [not reads_behind]


@pytest.mark.parametrize("shards", [1, 6, 24, 96, 3000])
def test_nouveau_is_not_asked_for_more_values_than_it_counts(shards: int):
    """It multiplies `top_n` by the shards and refuses more than 1,000; without `top_n` it would count ten price bands."""
    server = Recorder("nouveau", shards=shards)
    for query in (search_for("", counts=("brand_is",)), search_for("", bands={"price": [Band("low", 0, 9)]})):
        search(server, {"db": "d"}, INDEX, query, limit=5, bookmark=None)
    assert [body["top_n"] for _, body in server.asked] == 2 * [max(1, min(50, 1000 // shards))]


def test_nouveau_counts_only_the_first_thousand_hits():
    page = {
        relation: search(
            Recorder("nouveau", relation=relation),
            {"db": "d"},
            INDEX,
            search_for("x"),
            limit=5,
            bookmark=None,
        )
        for relation in ("EQUAL_TO", "GREATER_THAN_OR_EQUAL_TO")
    }
    assert {relation: found.total for relation, found in page.items()} == {
        "EQUAL_TO": 1000,
        "GREATER_THAN_OR_EQUAL_TO": None,
    }


def rows(*pairs: tuple[str, str, int]) -> list[dict[str, Any]]:
    return [{"id": docid, "key": ["word", word], "value": weight} for docid, word, weight in pairs]


def test_keyword_candidates_have_every_word_the_weightiest_first():
    query = search_for("red sofas ")
    found = rows(("a", "red", 1), ("a", "sofa", 1), ("b", "red", 4), ("c", "red", 4), ("c", "sofa", 4))
    assert keywords.candidates(query, INDEX, found).ids == ["c", "a"]
    asked = keywords.key_range(query, INDEX)["keys"]
    assert sorted(asked) == [["word", each] for each in ("red", "redsofa", "sofa", "sofas")]
    asked = keywords.key_range(search_for("sofas "), INDEX)["keys"]
    assert sorted(asked) == [
        ["word", "sofa"],
        ["word", "sofa", "code"],
        ["word", "sofas"],
        ["word", "sofas", "code"],
    ]
    assert keywords.key_range(search_for("so"), INDEX) == {
        "start_key": ["word", "so"],
        "end_key": ["word", "so\ufff0"],
    }
    assert keywords.key_range(search_for("", filters={"category": ["A#B"]}), INDEX) == {
        "key": ["path", "A#B"]
    }


def test_keyword_search_decides_filters_facets_phrases_and_order_on_the_documents():
    docs = [
        doc("a", name="Red sofa bed", brand="Acme", price={"amount": 30}),
        doc("b", name="Sofa, red", brand="Acme", levels=["A", "B"], price={"amount": 20}),
        doc("c", text="the red sofas", brand="Zed", price={"amount": 10}),
    ]

    def ids(query) -> list[str]:
        return [each["_id"] for each in keywords.evaluate(query, INDEX, docs, begun=True).docs]

    assert ids(search_for("red sof")) == ["a", "b", "c"]
    assert ids(search_for('"red sofa"')) == ["a"]
    assert ids(search_for("", filters={"brand_is": ["Acme"], "category": ["A#B"]})) == ["b"]
    assert ids(search_for("", ranges={"price": (15, 30)}, sort="price")) == ["b", "a"]
    counted = keywords.evaluate(
        search_for("", counts=("brand_is", "category"), bands={"price": [Band("x", 0, 20)]}), INDEX, docs
    )
    assert counted.counts == {"brand_is": {"Acme": 2, "Zed": 1}, "category": {"A": 3, "A#B": 1}}
    assert counted.ranges == {"price": {"x": 2}}


def test_a_page_goes_on_behind_the_last_document_even_when_others_came():
    assert keywords.begins_at(["new", "a", "b"], (1, "a")) == 2
    assert keywords.begins_at(["new", "b"], (1, "a")) == 1
