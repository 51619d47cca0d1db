"""The customer's own data as a database: CouchDB's replication protocol walked request by request, over HTTP."""

import hashlib
from functools import partial

from tests.services.users.sync_devices import (
    ADDRESS,
    SYNC,
    basket,
    changes,
    edited,
    goods,
    line,
    made,
    partition,
    products,
    pull,
    push,
    users_url,
)
from tests.services.users.test_basket import goods_named
from tests.waiting import eventually

KITCHEN = "Home#Kitchen"
__all__ = ["goods", "products", "users_url"]


def test_a_device_pulls_all_that_is_its_owners_and_no_secret(person, goods):
    ann = person(name="Ann Doe")
    assert ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 2}).status_code == 200
    assert ann.put(f"/v1/users/me/wishes/{goods[1]}").status_code == 200
    added = ann.post("/v1/users/me/addresses", ADDRESS).json()
    docs, _ = pull(ann)
    by_id = {doc["_id"]: doc for doc in docs}
    assert by_id.keys() == {
        "profile",
        "preferences",
        f"basket-{goods[0]}",
        f"wish-{goods[1]}",
        f"delivery{added['id']}",
    }
    assert by_id["profile"]["name"] == "Ann Doe"
    assert "password" not in by_id["profile"]
    item = by_id[f"basket-{goods[0]}"]
    assert (item["type"], item["productid"], item["quantity"]) == ("basketline", goods[0], 2)
    assert by_id[f"delivery{added['id']}"]["default"] is True


def test_revisions_and_sequences_stay_as_they_are_while_nothing_changes(person, goods):
    ann = person()
    first = changes(ann)
    again = changes(ann)
    assert again == first
    assert changes(ann, first["last_seq"])["results"] == []
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    [row] = changes(ann, first["last_seq"])["results"]
    assert row["id"] == f"basket-{goods[0]}"


def test_what_is_taken_out_elsewhere_is_told_as_deleted_and_may_come_back(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    _, since = pull(ann)
    ann.delete(f"/v1/users/me/basket/{goods[0]}")
    [row] = changes(ann, since)["results"]
    assert row["deleted"] is True
    [gone], since = pull(ann, since)
    assert gone["_deleted"] is True
    assert gone["_revisions"]["start"] == 2
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 4})
    [back], _ = pull(ann, since)
    assert back["quantity"] == 4
    assert back["_revisions"]["ids"][1:] == gone["_revisions"]["ids"]


def test_a_device_changes_a_quantity_and_its_revision_stays(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    mine = edited(line(ann, goods[0]), quantity=7)
    assert push(ann, mine) == []
    assert basket(ann) == {goods[0]: 7}
    assert line(ann, goods[0])["_rev"] == mine["_rev"]
    assert ann.post(f"{SYNC}/_revs_diff", {mine["_id"]: [mine["_rev"], "3-abc"]}).json() == {
        mine["_id"]: {"missing": ["3-abc"]}
    }
    assert push(ann, mine) == []
    assert basket(ann) == {goods[0]: 7}


def test_a_device_fills_a_basket_empties_it_and_keeps_wishes_and_addresses(person, goods):
    ann = person()
    new = made(f"basket-{goods[0]}", type="basketline", productid=goods[0], quantity=3)
    wish = made(f"wish-{goods[1]}", type="wish", productid=goods[1])
    home = made("deliveryhome0001", type="userdelivery", **ADDRESS, default=False)
    assert push(ann, new, wish, home) == []
    assert basket(ann) == {goods[0]: 3}
    assert [each["productid"] for each in ann.get("/v1/users/me/wishes").json()["items"]] == [goods[1]]
    [address] = ann.get("/v1/users/me/addresses").json()["items"]
    assert (address["id"], address["default"], address["city"]) == ("home0001", True, "Leeds")
    told = next(doc for doc in pull(ann)[0] if doc["_id"] == "deliveryhome0001")
    assert told["default"] is True
    assert told["_revisions"]["ids"][1] == home["_revisions"]["ids"][0]
    gone = [
        edited(doc, _deleted=True) for doc in pull(ann)[0] if doc["_id"][:5] in ("baske", "wish-", "deliv")
    ]
    assert push(ann, *gone) == []
    assert basket(ann) == {}
    assert ann.get("/v1/users/me/wishes").json()["items"] == []
    assert ann.get("/v1/users/me/addresses").json()["items"] == []


def test_two_devices_that_changed_the_same_line_are_left_with_the_larger_quantity(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    known = line(ann, goods[0])
    phone, laptop = edited(known, quantity=5), edited(known, quantity=3)
    assert push(ann, phone) == []
    assert push(ann, laptop) == []
    assert basket(ann) == {goods[0]: 5}
    docs, _ = pull(ann)
    versions = [doc for doc in docs if doc["_id"] == known["_id"]]
    [stays] = [doc for doc in versions if not doc.get("_deleted")]
    [ended] = [doc for doc in versions if doc.get("_deleted")]
    assert stays["_rev"] == phone["_rev"]
    assert ended["_revisions"]["ids"][1] == laptop["_revisions"]["ids"][0]
    late = edited(known, quantity=9)
    assert push(ann, late) == []
    assert basket(ann) == {goods[0]: 9}
    assert line(ann, goods[0])["_revisions"]["ids"][1] == phone["_revisions"]["ids"][0]


def test_what_one_device_deletes_and_another_changes_stays(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    known = line(ann, goods[0])
    assert push(ann, edited(known, quantity=2)) == []
    assert push(ann, edited(known, _deleted=True)) == []
    assert basket(ann) == {goods[0]: 2}
    ann.delete(f"/v1/users/me/basket/{goods[0]}")
    late = edited(known, quantity=6)
    assert push(ann, late) == []
    assert basket(ann) == {goods[0]: 6}
    assert line(ann, goods[0])["_rev"] == late["_rev"]


def test_two_default_addresses_become_one(person):
    ann = person()
    homes = [made(f"deliveryplace00{n}", type="userdelivery", **ADDRESS, default=True) for n in (1, 2)]
    assert push(ann, homes[0]) == []
    assert push(ann, homes[1]) == []
    told = {doc["_id"]: doc["default"] for doc in pull(ann)[0] if doc["_id"].startswith("delivery")}
    assert told == {"deliveryplace001": False, "deliveryplace002": True}


def test_new_edits_get_their_revisions_here_and_conflict_as_in_couchdb(person, goods):
    ann = person()
    doc = {"_id": f"basket-{goods[3]}", "type": "basketline", "productid": goods[3], "quantity": 1}
    [row] = ann.post(f"{SYNC}/_bulk_docs", {"docs": [doc]}).json()
    assert row["ok"] is True
    [again] = ann.post(f"{SYNC}/_bulk_docs", {"docs": [doc]}).json()
    assert again["error"] == "conflict"
    answer = ann.put(f"{SYNC}/{doc['_id']}", {**doc, "_rev": row["rev"], "quantity": 2})
    assert answer.status_code == 201, answer.text
    assert basket(ann) == {goods[3]: 2}
    assert ann.put(f"{SYNC}/{doc['_id']}", {**doc, "_rev": row["rev"], "quantity": 9}).status_code == 409
    assert ann.delete(f"{SYNC}/{doc['_id']}", params={"rev": answer.json()["rev"]}).status_code == 201
    assert basket(ann) == {}
    assert ann.get(f"{SYNC}/{doc['_id']}").json() == {"error": "not_found", "reason": "deleted"}


def test_reading_one_document_its_branches_and_lists(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    known = line(ann, goods[0])
    newer, other = edited(known, quantity=4), edited(known, quantity=2)
    push(ann, newer)
    push(ann, other)
    path = f"{SYNC}/{known['_id']}"
    assert ann.get(path).json()["_rev"] == newer["_rev"]
    assert ann.get(path, params={"rev": known["_rev"]}).status_code == 404
    assert ann.get(path, params={"rev": known["_rev"], "latest": "true"}).json()["_rev"] == newer["_rev"]
    leaves = ann.get(path, params={"open_revs": "all", "revs": "true"}).json()
    assert [each["ok"].get("_deleted", False) for each in leaves] == [False, True]
    asked = ann.get(path, params={"open_revs": f'["{newer["_rev"]}","9-abc"]'}).json()
    assert asked[0]["ok"]["quantity"] == 4
    assert asked[1] == {"missing": "9-abc"}
    rows = ann.get(f"{SYNC}/_all_docs", params={"include_docs": "true", "startkey": '"basket-"'}).json()[
        "rows"
    ]
    assert [row["id"] for row in rows] == [known["_id"], "preferences", "profile"]
    assert rows[0]["doc"]["quantity"] == 4
    keyed = ann.post(f"{SYNC}/_all_docs", {"keys": ["profile", "nothing"]}).json()["rows"]
    assert keyed[1] == {"key": "nothing", "error": "not_found"}
    about = ann.get(f"{SYNC}/").json()
    assert about["doc_count"] == 3
    assert about["update_seq"] == changes(ann)["last_seq"]


def test_changes_come_in_batches(person, goods):
    ann = person()
    for name in goods:
        ann.put(f"/v1/users/me/basket/{name}", {"quantity": 1})
    seen, since = [], "0"
    while rows := (told := changes(ann, since, limit=2))["results"]:
        assert len(rows) <= 2
        seen += [row["id"] for row in rows]
        since = told["last_seq"]
    assert len(seen) == len(set(seen)) == 7
    assert changes(ann, since)["pending"] == 0


def test_a_sequence_of_another_time_tells_all_again(person):
    ann = person()
    assert len(changes(ann, "900-abcdef123456")["results"]) == 2
    assert ann.get(f"{SYNC}/_changes", params={"since": "'; drop"}).status_code == 400


def test_checkpoints_are_kept_and_conflict(person):
    ann, path = person(), f"{SYNC}/_local/AB.c_d=="
    assert ann.get(path).json() == {"error": "not_found", "reason": "missing"}
    body = {"_id": "_local/AB.c_d==", "last_seq": "3-abc", "history": [{"session_id": "s", "last_seq": 3}]}
    assert ann.put(path, body).json()["rev"] == "0-1"
    assert ann.put(path, body).status_code == 409
    assert ann.get(path).json() == {**body, "_rev": "0-1"}
    assert ann.put(path, {**body, "_rev": "0-1", "last_seq": "4-abc"}).json()["rev"] == "0-2"
    assert ann.put(path, {"_rev": "0-2", "big": "x" * 20_000}).json()["error"] == "too_large"
    assert person().get(path).status_code == 404


def test_checkpoints_are_bounded_the_oldest_goes(person, database):
    ann = person()
    for number in range(43):
        assert ann.put(f"{SYNC}/_local/device{number}", {"last_seq": number}).status_code == 201
    assert sum(key.startswith("syncpoint-") for key in partition(database, ann)) == 40
    assert ann.get(f"{SYNC}/_local/device0").status_code == 404
    assert ann.get(f"{SYNC}/_local/device42").json()["last_seq"] == 42


def test_a_device_keeps_categories_and_the_api_shows_them(person, goods):
    ann = person()
    assert ann.put("/v1/users/me/kept", {"category": "Home", "subtree": True}).status_code == 200
    [home] = [doc for doc in pull(ann)[0] if doc["type"] == "kept"]
    assert home["_id"] == f"kept-{hashlib.sha256(b'Home').hexdigest()[:40]}"
    assert (home["category"], home["subtree"]) == ("Home", True)
    assert push(ann, edited(home, subtree=False)) == []
    [item] = ann.get("/v1/users/me/kept").json()["items"]
    assert item == {"id": home["_id"][5:], "category": "Home", "subtree": False, "added": home["added"]}
    name = f"kept-{hashlib.sha256(KITCHEN.encode()).hexdigest()[:40]}"
    assert push(ann, made(name, type="kept", category=KITCHEN)) == []
    kept = ann.get("/v1/users/me/kept").json()["items"]
    assert [each["category"] for each in kept] == ["Home", KITCHEN]
    assert ann.delete(f"/v1/users/me/kept/{item['id']}").status_code == 204
    gone = next(doc for doc in pull(ann)[0] if doc["_id"] == home["_id"])
    assert gone["_deleted"] is True
    there = next(doc for doc in pull(ann)[0] if doc["_id"] == name)
    assert push(ann, edited(there, _deleted=True)) == []
    assert ann.get("/v1/users/me/kept").json()["items"] == []


def test_categories_that_are_not_there_or_too_many_are_not_kept(person, goods, products):
    ann = person()
    answer = ann.put("/v1/users/me/kept", {"category": "No such", "subtree": False})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_such_category")
    assert ann.put("/v1/users/me/kept", {"category": "Home#", "subtree": False}).status_code == 422
    for path in ("No such", KITCHEN + " "):
        name = f"kept-{hashlib.sha256(path.encode()).hexdigest()[:40]}"
        [row] = push(ann, made(name, type="kept", category=path))
        assert row["error"] == "forbidden"
    [row] = push(ann, made("kept-" + "0" * 40, type="kept", category=KITCHEN))
    assert "SHA-256" in row["reason"]
    for number in range(21):
        body = goods_named(f"sync-many-{number}") | {"taxonomy": ["Many", str(number)]}
        assert products.post("/v1/products", body).status_code == 201
        path = f"Many#{number}"
        name = f"kept-{hashlib.sha256(path.encode()).hexdigest()[:40]}"
        keep = partial(push, ann, made(name, type="kept", category=path))
        if number < 20:
            eventually(lambda keep=keep: keep() == [])
        else:
            assert [row["error"] for row in keep()] == ["forbidden"]
    answer = ann.put("/v1/users/me/kept", {"category": "Home", "subtree": False})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_kept")


def test_a_profile_that_was_read_before_a_device_synced_may_be_changed(person):
    ann = person()
    ann.post("/v1/users/me/addresses", ADDRESS)
    read = {"If-Match": ann.get("/v1/users/me").headers["ETag"]}
    pull(ann)
    tokens = ann.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token})
    assert tokens.status_code == 200, tokens.text
    assert ann.patch("/v1/users/me", {"name": "One"}, headers=read).status_code == 200
    read = {"If-Match": ann.get("/v1/users/me").headers["ETag"]}
    ann.post("/v1/users/me/addresses", {**ADDRESS, "city": "York"})
    assert ann.patch("/v1/users/me", {"name": "Two"}, headers=read).status_code == 412
