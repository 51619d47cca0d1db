"""A category as a read-only database that devices keep: CouchDB's replication protocol walked request by request, over HTTP."""

import os
import secrets
import threading
from urllib.parse import quote, urlsplit

import orjson
import pytest
import requests

from services.products.actions.maintenance import sum_up
from services.products.documents import DESIGN, partition_of
from services.products.rules import category_sync as rules
from services.products.rules.category_sync import (
    ToldCategory,
    observed,
    revision,
    revisions,
    shown_documents,
    united,
)
from services.products.rules.prices import PriceContext
from tests.services.products.conftest import Shop, eventually, open_as_worker, product, token


def address(*levels: str) -> str:
    return "/v1/products/sync/" + quote(quote("#".join(levels), safe=""), safe="")


def changes(shop: Shop, at: str, since: str = "0", **more):
    return shop.ok(f"{at}/_changes", since=since, style="all_docs", **more)


def pull(shop: Shop, at: str, since: str = "0"):
    """What a device does: the documents by id, deletions too, and the sequence to go on from."""
    told = changes(shop, at, since)
    asked = [{"id": row["id"], "rev": each["rev"]} for row in told["results"] for each in row["changes"]]
    answer = shop.request("POST", f"{at}/_bulk_get?revs=true&latest=true", {"docs": asked})
    assert answer.status == 200, answer.body
    found = [each["ok"] for row in answer.json["results"] for each in row["docs"]]
    return {doc["_id"]: doc for doc in found}, told["last_seq"]


def change(shop: Shop, productid: str, **fields) -> None:
    assert shop.load([product(productid, **fields)])["failed"] == []


def test_a_device_keeps_what_a_visitor_sees_of_a_category(shop: Shop):
    levels = ["Kept", "100% wool/silk: scarves"]
    at = address(*levels)
    shop.load(
        [
            product("kept-a", taxonomy=levels, name="Scarf", stock=3),
            product("kept-b", taxonomy=levels, prices={"GBP": 500, "EUR": 600}, price=None),
            product("kept-draft", taxonomy=levels, status="draft"),
            product("kept-other", taxonomy=["Kept", "Other"]),
        ]
    )
    docs, _ = pull(shop, at)
    assert docs.keys() == {"category", "product-kept-a", "product-kept-b"}
    about = docs["category"]
    assert (about["category"], about["productids"], about["complete"]) == (
        "#".join(levels),
        ["kept-b", "kept-a"],
        True,
    )
    for name in ("kept-a", "kept-b"):
        doc = docs[f"product-{name}"]
        seen = shop.ok(f"/v1/products/{name}")
        assert {key: doc[key] for key in seen} == seen
        assert doc["type"] == "product"
    assert docs["product-kept-a"]["stock"] == 3
    assert docs["product-kept-b"]["prices"] == {"GBP": 500, "EUR": 600}
    information = shop.ok(at)
    assert (information["doc_count"], information["update_seq"]) == (3, changes(shop, at)["last_seq"])


def test_what_changed_moved_or_went_since_then_is_told_and_nothing_else(shop: Shop):
    old, new = ["Told", "Old"], ["Told", "New"]
    shop.load([product(f"told-{each}", taxonomy=old, name=f"Thing {each}") for each in range(6)])
    first, since = pull(shop, address(*old))
    assert changes(shop, address(*old), since) == {"results": [], "last_seq": since, "pending": 0}
    change(shop, "told-0", taxonomy=old, name="Renamed")
    change(shop, "told-1", taxonomy=new)
    change(shop, "told-2", taxonomy=old, status="archived")
    tag = shop.get("/v1/products/told-3").headers["ETag"]
    assert shop.admin("DELETE", "/v1/products/told-3", If_Match=tag).status == 204
    found = {}

    def is_told() -> bool:
        nonlocal since
        docs, since = pull(shop, address(*old), since)
        found.update(docs)
        return found.keys() == {"category", *(f"product-told-{each}" for each in range(4))}

    eventually(is_told)
    assert found["product-told-0"]["name"] == "Renamed"
    assert [found[f"product-told-{each}"].get("_deleted") for each in range(1, 4)] == [True] * 3
    assert sorted(found["category"]["productids"]) == ["told-0", "told-4", "told-5"]
    for docid, doc in found.items():
        assert doc["_revisions"]["ids"][doc["_revisions"]["start"] - first[docid]["_revisions"]["start"] :]
        assert int(doc["_rev"].partition("-")[0]) > int(first[docid]["_rev"].partition("-")[0])
    moved, _ = pull(shop, address(*new))
    assert moved.keys() == {"category", "product-told-1"}
    change(shop, "told-2", taxonomy=old, status="active")
    eventually(lambda: "product-told-2" in pull(shop, address(*old), since)[0])
    back = pull(shop, address(*old), since)[0]["product-told-2"]
    assert "_deleted" not in back
    assert back["_revisions"]["start"] == found["product-told-2"]["_revisions"]["start"] + 1


def test_stock_reaches_the_device(shop: Shop, environment):
    levels = ["Counted", "Things"]
    shop.load([product("counted", taxonomy=levels, stock=7)])
    _, since = pull(shop, address(*levels))
    delivered = {"changes": [{"sku": "counted", "delta": 5}], "reason": "delivery"}
    assert shop.admin("POST", "/v1/admin/products/stock", delivered).json["changed"] == 1
    sum_up(open_as_worker(environment))

    def told() -> bool:
        return pull(shop, address(*levels), since)[0].get("product-counted", {}).get("stock") == 12

    eventually(told)


def test_a_pull_costs_one_partition_query_and_then_nothing_until_something_changes(shop: Shop, catch_up):
    levels = ["Cheap", "Things"]
    shop.load([product(f"cheap-{each}", taxonomy=levels) for each in range(3)])
    catch_up()
    at = address(*levels)
    assert shop.get(f"{at}/_changes").calls == {"partition": 1, "read": 1, "write": 1}
    assert shop.get(f"{at}/_changes").calls == {}
    change(shop, "cheap-1", taxonomy=levels, name="Another name")
    catch_up()
    assert shop.get(f"{at}/_changes").calls == {"partition": 1, "read": 1, "write": 1}
    body = {"docs": [{"id": "product-cheap-1"}]}
    assert shop.request("POST", f"{at}/_bulk_get", body).calls == {}


def test_a_longpoll_ends_when_a_product_changes(shop: Shop):
    levels = ["Live", "Things"]
    shop.load([product("live", taxonomy=levels)])
    _, since = pull(shop, address(*levels))
    heard = []
    waits = threading.Thread(
        target=lambda: heard.append(changes(shop, address(*levels), since, feed="longpoll"))
    )
    waits.start()
    change(shop, "live", taxonomy=levels, name="Heard of")
    waits.join(15)
    assert [row["id"] for row in heard[0]["results"]] == ["product-live"]
    assert changes(shop, address(*levels), heard[0]["last_seq"], feed="longpoll", timeout=1)["results"] == []


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("PUT", "/product-sealed"),
        ("DELETE", "/product-sealed?rev=1-abc"),
        ("PUT", "/_local/point"),
        ("POST", "/_bulk_docs"),
        ("POST", ""),
        ("PUT", "/product-sealed/picture.png"),
        ("PUT", "/_design/evil"),
    ],
)
@pytest.mark.parametrize("who", [{}, token("admin", "admin")], ids=["nobody", "admin"])
def test_nobody_writes(shop: Shop, method: str, rest: str, who):
    shop.load([product("sealed", taxonomy=["Sealed"])])
    before = pull(shop, address("Sealed"))
    answer = shop.request(method, address("Sealed") + rest, {"docs": [], "name": "mine"}, who)
    assert (answer.status, answer.json["error"]) == (403, "forbidden")
    assert pull(shop, address("Sealed")) == before


def test_what_is_not_there_or_makes_no_sense_is_refused_as_couchdb_does(shop: Shop):
    shop.load([product("sense", taxonomy=["Sense"])])
    at = address("Sense")
    assert shop.get(f"{address('No such')}/_changes").json == {
        "error": "not_found",
        "reason": "Database does not exist.",
    }
    for path, status in (
        (f"{at}/_changes?since=drop", 400),
        (f"{at}/_changes?feed=continuous", 400),
        (f"{at}/_changes?filter=_doc_ids", 400),
        (f"{at}/_changes?limit=-1", 400),
        (f"{at}/product-nothing", 404),
        (f"{at}/_local/point", 404),
        (f"{at}/product-sense/picture", 404),
        (f"{at}/product-sense?open_revs={{", 400),
        ("/v1/products/sync/%23", 404),
        ("/v1/products/sync/" + "x" * 2000, 413),
    ):
        answer = shop.get(path)
        assert answer.status == status, (path, answer.body)
        assert answer.json.keys() >= {"error", "reason"}
    for path, body, status in (
        ("_bulk_get", {"docs": [{"id": 1}]}, 400),
        ("_bulk_get", {"docs": [{"id": "product-sense"}] * 1001}, 413),
        ("_bulk_get", [], 400),
        ("_revs_diff", {"x": "1-a"}, 400),
        ("_revs_diff", {"x": ["1-a"] * 10_000}, 400),
        ("_all_docs", {"keys": {}}, 400),
    ):
        answer = shop.request("POST", f"{at}/{path}", body)
        assert answer.status == status, (path, answer.body)


def test_single_documents_lists_and_revisions(shop: Shop):
    shop.load([product("single", taxonomy=["Single"])])
    docs, _ = pull(shop, address("Single"))
    at, rev = address("Single"), docs["product-single"]["_rev"]
    assert shop.ok(f"{at}/product-single", rev=rev)["name"] == "Product single"
    assert shop.ok(f"{at}/product-single", open_revs=f'["{rev}", "1-abc"]') == [
        {"ok": shop.ok(f"{at}/product-single")},
        {"missing": "1-abc"},
    ]
    parts = shop.get(f"{at}/product-single", {"Accept": "multipart/mixed"}, open_revs="all")
    boundary = parts.headers["Content-Type"].partition('boundary="')[2].rstrip('"')
    [part] = parts.body.split(b"--" + boundary.encode())[1:-1]
    assert orjson.loads(part.partition(b"\r\n\r\n")[2])["_rev"] == rev
    rows = shop.ok(f"{at}/_all_docs", include_docs="true", startkey='"product-"')["rows"]
    assert [row["doc"]["productid"] for row in rows] == ["single"]
    asked = {"product-single": [rev, "999999999-abc", "1-abc"], "nothing": ["1-a"]}
    assert shop.request("POST", f"{at}/_revs_diff", asked).json == {
        "product-single": {"missing": ["999999999-abc", "1-abc"]},
        "nothing": {"missing": ["1-a"]},
    }


def test_what_two_replicas_told_apart_is_settled_at_the_next_pull(shop: Shop, server):
    levels = ["Split"]
    shop.load([product("split", taxonomy=levels)])
    before, since = pull(shop, address(*levels))
    database, docid = server.open(DESIGN), f"{partition_of(levels)}:#sync"
    state = database.get(docid)
    fork = {**state, "_rev": "2-" + "f" * 32}
    fork["_revisions"] = {"start": 2, "ids": ["f" * 32, state["_rev"].partition("-")[2]]}
    change(shop, "split", taxonomy=levels, name="On one side")
    eventually(lambda: len(changes(shop, address(*levels), since)["results"]) == 1)
    server.client.call("post_bulk_docs", db=database.name, bulk_docs={"docs": [fork], "new_edits": False})
    assert "_conflicts" in database.get(docid, conflicts=True)
    change(shop, "split", taxonomy=levels, name="After that")
    eventually(
        lambda: "_conflicts" not in (changes(shop, address(*levels)) and database.get(docid, conflicts=True))
    )
    after, _ = pull(shop, address(*levels), since)
    assert after["product-split"]["name"] == "After that"
    assert after["product-split"]["_revisions"]["start"] > before["product-split"]["_revisions"]["start"] + 1


@pytest.mark.skipif(
    urlsplit(os.environ.get("COUCH_URL", "http://127.0.0.1")).hostname not in ("127.0.0.1", "localhost"),
    reason="a server elsewhere may not reach this machine",
)
def test_the_database_server_pulls_a_category_by_its_own_replicator(shop: Shop, environment):
    levels = ["Pulled", "By a server"]
    shop.load([product(f"pulled-{each}", taxonomy=levels) for each in range(3)])
    target = f"{environment['COUCH_URL']}/pulled-{secrets.token_hex(4)}"
    assert requests.put(target, timeout=30).status_code in (201, 202)
    asked = {"source": shop.url + address(*levels), "target": target, "use_checkpoints": False}
    answer = requests.post(f"{environment['COUCH_URL']}/_replicate", json=asked, timeout=60)
    found = requests.get(f"{target}/_all_docs", timeout=30).json()
    requests.delete(target, timeout=30)
    assert (answer.status_code, answer.json().get("ok")) == (200, True), answer.text
    assert [row["id"] for row in found["rows"]] == [
        "category",
        "product-pulled-0",
        "product-pulled-1",
        "product-pulled-2",
    ]


# The rules alone.


def documents(*names: str, size: int = 10):
    content = {"taxonomy": ["T"], "price": {"amount": 1, "currency": "GBP"}, "delivery": {}, "pictures": []}
    return [{**content, "productid": name, "name": "x" * size} for name in names]


def test_no_more_is_kept_than_fits_and_the_answer_says_so(monkeypatch):
    monkeypatch.setattr(rules, "public", lambda doc, context: doc)
    shown = shown_documents("T", documents(*(f"p{n:04}" for n in range(501))), PriceContext())
    assert len(shown) == 501
    assert (len(shown["category"]["productids"]), shown["category"]["complete"]) == (500, False)
    shown = shown_documents("T", documents("a", "b", "c", size=900_000), PriceContext())
    assert (shown["category"]["productids"], shown["category"]["complete"]) == (["a", "b"], False)


def test_a_document_that_comes_back_goes_on_from_its_tombstone():
    told = observed(ToldCategory("e", 0, {}), {"a": {"n": 1}, "b": {"n": 1}}, first=50)
    assert {each["number"] for each in told.entries.values()} == {50}
    gone = observed(told, {"a": {"n": 1}}, first=60)
    assert (gone.entries["b"]["number"], gone.entries["b"]["deleted"], gone.sequence) == (51, True, 3)
    back = observed(gone, {"a": {"n": 1}, "b": {"n": 1}}, first=60)
    assert (back.entries["b"]["number"], "deleted" in back.entries["b"]) == (52, False)
    assert observed(back, {"a": {"n": 1}, "b": {"n": 1}}, first=60) is back
    assert revision("b", 52) != revision("a", 52)


def test_a_state_that_was_lost_begins_above_what_it_told():
    told = observed(ToldCategory("e", 0, {}), {"a": {"n": 1}}, first=1000)
    later = observed(ToldCategory("f", 0, {}), {"a": {"n": 2}}, first=1024)
    assert later.entries["a"]["number"] > told.entries["a"]["number"]
    assert later.since(told.named(1)) == 0


def test_revisions_of_a_document_have_names_of_their_own():
    """PouchDB knows a deletion by the name alone."""
    ids = revisions("a", 250)["ids"]
    assert len(set(ids)) == len(ids) == rules.MAX_HISTORY
    assert revision("a", 250) == f"250-{ids[0]}"
    assert revisions("a", 251)["ids"][1] == ids[0]


def test_only_so_many_tombstones_are_kept():
    told = observed(ToldCategory("e", 0, {}), {f"p{n}": {} for n in range(1500)}, first=1)
    assert len(observed(told, {}, first=1).entries) == rules.MAX_TOMBSTONES


def test_two_replicas_states_become_one_that_tells_all_anew():
    base = observed(ToldCategory("e", 0, {}), {"a": {"n": 1}}, first=10)
    left, right = (observed(base, {"a": {"n": each}}, first=10) for each in (2, 3))
    versions = [
        {"epoch": each.epoch, "sequence": each.sequence, "entries": each.entries} for each in (left, right)
    ]
    one = united(versions)
    settled = observed(ToldCategory(one["epoch"], one["sequence"], one["entries"]), {"a": {"n": 3}}, first=10)
    assert settled.entries["a"]["number"] > right.entries["a"]["number"]
    assert settled.since(left.named(2)) == 0
