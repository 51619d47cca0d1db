"""What sync refuses: other people's data, what the API would refuse, bodies that make no sense."""

import pytest

from tests.services.users.sync_devices import (
    ADDRESS,
    SYNC,
    changes,
    edited,
    goods,
    made,
    partition,
    products,
    pull,
    push,
    users_url,
)
from tests.waiting import eventually

__all__ = ["goods", "products", "users_url"]


def test_name_and_preferences_may_be_changed_and_nothing_else_of_an_account(person):
    ann = person(name="Ann")
    by_id = {doc["_id"]: doc for doc in pull(ann)[0]}
    assert (
        push(ann, edited(by_id["profile"], name="Ann Doe"), edited(by_id["preferences"], language="de")) == []
    )
    me = ann.get("/v1/users/me").json()
    assert (me["name"], me["preferences"]["language"]) == ("Ann Doe", "de")
    profile = next(doc for doc in pull(ann)[0] if doc["_id"] == "profile")
    for forbidden in (
        {"email": "eve@example.com"},
        {"roles": ["admin"]},
        {"userid": "someone"},
        {"name": "a\nb"},
    ):
        [row] = push(ann, edited(profile, **forbidden))
        assert row["error"] == "forbidden"
        assert row["reason"]
    me = ann.get("/v1/users/me").json()
    assert (me["name"], me["roles"], me["email"]) == ("Ann Doe", ["customer"], ann.email)


@pytest.mark.parametrize(
    "doc",
    [
        {"_id": "token-1", "type": "token", "secret": "x"},
        {"_id": "session-1", "type": "session"},
        {"_id": "auth", "type": "user", "roles": ["admin"]},
        {"_id": "sync", "type": "syncstate", "entries": {}},
        {"_id": "paymentcard", "type": "paymentmethod", "provider": "stripe", "reference": "pm_1"},
        {"_id": "order-01h", "type": "order", "total": 0},
        {"_id": "_design/x", "views": {}},
        {"_id": "basket-nothing", "type": "basketline", "productid": "nothing", "quantity": 1},
        {"_id": "basket-sync-0", "type": "basketline", "productid": "sync-1", "quantity": 1},
        {"_id": "basket-sync-0", "type": "basketline", "productid": "sync-0", "quantity": 0},
        {"_id": "basket-sync-0", "type": "basketline", "productid": "sync-0", "quantity": {"a": 1}},
        {"_id": "basket-sync-0", "type": "basketline", "productid": "sync-0", "quantity": 1, "price": 1},
        {"_id": "basket-sync-0", "type": "wish", "productid": "sync-0"},
        {
            "_id": "basket-sync-0",
            "type": "basketline",
            "productid": "sync-0",
            "quantity": 1,
            "_attachments": {},
        },
        {"_id": "delivery1", "type": "userdelivery", **ADDRESS},
        {"_id": "deliveryplace001", "type": "userdelivery", "name": "Ann"},
        {"_id": "userother:auth", "type": "user", "name": "Eve"},
        {"_id": "profile", "_deleted": True},
        {"_id": "preferences", "type": "preferences", "currency": "XXX"},
    ],
    ids=lambda doc: doc["_id"],
)
def test_what_the_api_would_refuse_is_refused_for_each_document_and_the_others_go_through(
    person, goods, doc, database
):
    ann = person()
    good = made(f"wish-{goods[2]}", type="wish", productid=goods[2])
    before = {key: row["doc"] for key, row in partition(database, ann).items()}
    [row] = push(ann, {**made(doc["_id"]), **doc}, good)
    assert (row["id"], row["error"]) == (doc["_id"], "forbidden")
    assert row["reason"]

    def pushed():
        found = {key: row["doc"] for key, row in partition(database, ann).items()}
        return found if {good["_id"], "sync"} <= found.keys() else None

    after = eventually(pushed)
    assert after.pop(good["_id"])["productid"] == goods[2]
    after.pop("sync")
    assert after == before


def test_nobody_reads_or_writes_anything_of_anybody_else(person, goods, nobody):
    ann, eve = person(name="Ann"), person(name="Eve")
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    address = ann.post("/v1/users/me/addresses", ADDRESS).json()["id"]
    known, _ = pull(ann)
    ann.put(f"{SYNC}/_local/device", {"last_seq": 1})
    before = pull(ann)
    for doc in known:
        if doc["_id"] in ("profile", "preferences"):
            continue
        for params in ({}, {"rev": doc["_rev"]}, {"rev": doc["_rev"], "latest": "true"}):
            assert eve.get(f"{SYNC}/{doc['_id']}", params=params).status_code == 404
        assert eve.get(f"{SYNC}/{doc['_id']}", params={"open_revs": "all"}).json() == []
        assert eve.get(f"{SYNC}/{doc['_id']}/photo.png").status_code == 404
        assert eve.put(f"{SYNC}/{doc['_id']}/photo.png", {"a": 1}).status_code == 403
        eve.delete(f"{SYNC}/{doc['_id']}", params={"rev": doc["_rev"]})
    for prefix in (f"user{ann.userid}:", f"user{ann.userid}%3A"):
        for key in ("auth", f"basket-{goods[0]}", f"delivery{address}", "sync", "preferences"):
            assert eve.get(f"{SYNC}/{prefix}{key}").status_code == 404
            assert eve.put(f"{SYNC}/{prefix}{key}", {"type": "user", "name": "Eve"}).status_code == 403
    asked = [{"id": doc["_id"], "rev": doc["_rev"]} for doc in known]
    answer = eve.post(f"{SYNC}/_bulk_get?revs=true&latest=true", {"docs": asked}).text
    assert "High Street" not in answer
    assert ann.email not in answer
    assert eve.get(f"{SYNC}/_local/device").status_code == 404
    assert [doc["name"] for doc in pull(eve)[0] if doc["_id"] == "profile"] == ["Eve"]
    push(eve, *[edited(doc, _deleted=True) for doc in known])
    assert pull(ann) == before
    for method, path in (("GET", "/_changes"), ("POST", "/_bulk_docs"), ("GET", "/profile"), ("GET", "/")):
        answer = nobody.call(method, f"{SYNC}{path}", json={"docs": []} if method == "POST" else None)
        assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


def test_hostile_bodies_are_bounded(person):
    ann = person()
    deep = b'{"docs":[' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"]}"
    headers = {"Content-Type": "application/json"}
    for body in (
        deep,
        b"[]",
        b"{",
        b'"x"',
        b'{"docs":{}}',
        b'{"docs":[1]}',
        b"\xff",
        b'{"docs":[{"_id":1}],"new_edits":1}',
    ):
        answer = ann.call("POST", f"{SYNC}/_bulk_docs", data=body, headers=headers)
        assert answer.status_code in (201, 400), answer.text
        if answer.status_code == 201:
            assert all(row["error"] for row in answer.json())
    assert ann.call("PUT", f"{SYNC}/_local/x", data=deep, headers=headers).status_code == 400
    assert ann.call("POST", f"{SYNC}/_bulk_docs", data=b" " * 2_000_000, headers=headers).status_code == 413
    many = {"docs": [{"_id": f"wish-{n}", "type": "wish"} for n in range(501)]}
    assert ann.post(f"{SYNC}/_bulk_docs", many).status_code == 413
    assert ann.post(f"{SYNC}/_revs_diff", {str(n): ["1-a"] for n in range(1001)}).status_code == 413
    assert ann.post(f"{SYNC}/_revs_diff", {"profile": ["nonsense"]}).status_code == 400
    assert ann.post(f"{SYNC}/_revs_diff", {"profile": [7]}).status_code == 400
    assert ann.post(f"{SYNC}/_bulk_get", {"docs": [{"id": "profile", "rev": {}}]}).status_code == 400
    assert ann.post(f"{SYNC}/_bulk_get", {"docs": [{"id": 7}]}).status_code == 400
    assert ann.get(f"{SYNC}/_changes", params={"filter": "app/mine"}).status_code == 400
    assert ann.get(f"{SYNC}/_changes", params={"feed": "continuous"}).status_code == 400
    assert (
        ann.call("POST", f"{SYNC}/_bulk_docs", data=b"{}", headers={"Content-Type": "text/plain"}).status_code
        == 415
    )
    huge = made("wish-sync-0", type="wish", productid="sync-0")
    for bad in ("99999999-a", "0-a", "1-", "x", 7, None, "1-" + "a" * 65):
        [row] = push(ann, {**huge, "_rev": bad})
        assert row["error"] == "forbidden"
    assert changes(ann)["last_seq"].startswith("2-")
