"""The customer's own data as a database: CouchDB's replication protocol walked request by request, over HTTP."""

import hashlib
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN
from tests.processes import free_port
from tests.services.users.conftest import Api, calls, log_in
from tests.services.users.test_basket import sell

SYNC = "/v1/users/me/sync"
ADDRESS = {
    "name": "Ann Doe",
    "line1": "1 High Street",
    "city": "Leeds",
    "postcode": "LS1 4DY",
    "country": "GB",
}


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS)
    service("products")
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100")


@pytest.fixture(scope="module")
def products(users_url, admin, environment):
    return Api(environment["PRODUCTS_URL"], admin.token)


@pytest.fixture(scope="module")
def goods(products):
    """Five products that anybody may buy."""
    names = [f"sync-{number}" for number in range(5)]
    for name in names:
        sell(products, name)
    return names


def changes(person, since="0", **more):
    answer = person.get(f"{SYNC}/_changes", params={"since": since, "style": "all_docs", **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def pull(person, since="0"):
    """What a device does: the documents by id, and the sequence to go on from."""
    told = changes(person, since)
    asked = [{"id": row["id"], "rev": each["rev"]} for row in told["results"] for each in row["changes"]]
    answer = person.post(f"{SYNC}/_bulk_get?revs=true&latest=true", {"docs": asked})
    assert answer.status_code == 200, answer.text
    found = [each["ok"] for row in answer.json()["results"] for each in row["docs"]]
    return found, told["last_seq"]


def edited(doc, **changes):
    """A device's own revision of a document that it pulled."""
    revisions = doc["_revisions"]
    new = secrets.token_hex(16)
    ids = [new, *revisions["ids"]]
    start = revisions["start"] + 1
    return {**doc, **changes, "_rev": f"{start}-{new}", "_revisions": {"start": start, "ids": ids}}


def made(docid, **content):
    new = hashlib.md5(repr(content).encode()).hexdigest()
    return {"_id": docid, "_rev": f"1-{new}", "_revisions": {"start": 1, "ids": [new]}, **content}


def push(person, *docs):
    answer = person.post(f"{SYNC}/_bulk_docs", {"docs": docs, "new_edits": False})
    assert answer.status_code == 201, answer.text
    return answer.json()


def line(person, name):
    docs, _ = pull(person)
    return next(doc for doc in docs if doc["_id"] == f"basket-{name}" and not doc.get("_deleted"))


def basket(person):
    return {item["productid"]: item["quantity"] for item in person.get("/v1/users/me/basket").json()["items"]}


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
    after = {key: row["doc"] for key, row in partition(database, ann).items()}
    assert after.pop(good["_id"])["productid"] == goods[2]
    after.pop("sync")
    assert after == before


def partition(database, person):
    docs = database.partition(f"user{person.userid}").all()
    return {doc["_id"].partition(":")[2]: {"doc": doc} for doc in docs}


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


def test_an_ended_session_writes_nothing_more(person, goods):
    ann = person()
    other = log_in(Api(ann.base), ann.email)
    mine = made(f"wish-{goods[4]}", type="wish", productid=goods[4])
    assert other.delete("/v1/sessions").status_code == 204
    answer = other.post(f"{SYNC}/_bulk_docs", {"docs": [mine], "new_edits": False})
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert ann.get("/v1/users/me/wishes").json()["items"] == []


def longpoll(person, since, **more):
    return changes(person, since, feed="longpoll", heartbeat=10000, **more)


def test_devices_that_wait_hold_no_thread_and_hear_of_what_changes(person, goods):
    """Twenty wait at a service that has eight threads; all of them are answered when a line is changed, and others meanwhile."""
    ann = person()
    since = changes(ann)["last_seq"]
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(longpoll, ann, since) for _ in range(20)]
        assert person().get(f"{SYNC}/").status_code == 200
        assert not any(each.done() for each in waiting)
        assert ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 3}).status_code == 200
        heard = [each.result() for each in waiting]
    assert [[row["id"] for row in each["results"]] for each in heard] == [[f"basket-{goods[0]}"]] * 20


def test_a_device_waits_no_longer_than_it_asks_for_and_nobody_waits_for_what_is_there(person):
    ann = person()
    since = changes(ann)["last_seq"]
    told = longpoll(ann, since, timeout=1)
    assert (told["results"], told["last_seq"]) == ([], since)
    assert len(longpoll(ann, "0")["results"]) == 2


def test_what_each_request_costs(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    since = changes(ann)["last_seq"]
    pulled = ann.get(f"{SYNC}/_changes", params={"since": since})
    assert calls(pulled) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    known = line(ann, goods[0])
    fetched = ann.post(f"{SYNC}/_bulk_get", {"docs": [{"id": known["_id"], "rev": known["_rev"]}]})
    assert calls(fetched) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    pushed = ann.post(f"{SYNC}/_bulk_docs", {"docs": [edited(known, quantity=3)], "new_edits": False})
    assert calls(pushed) == {"partition": 1, "global": 0, "read": 2, "write": 2}
    assert calls(ann.get(SYNC)) == {"partition": 0, "global": 0, "read": 1, "write": 0}


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
