"""Every request of the replication protocol, made by somebody else: none reads, writes or finds out anything. One table over all endpoints."""

import pytest

from tests.services.users.sync_devices import (
    ADDRESS,
    SYNC,
    edited,
    goods,
    made,
    products,
    pull,
    users_url,
)

__all__ = ["goods", "products", "users_url"]

MANY = 10_000
ENDPOINTS = [
    ("GET", ""),
    ("GET", "/"),
    ("GET", "/_session"),
    ("GET", "/_security"),
    ("POST", "/_ensure_full_commit"),
    ("GET", "/_changes"),
    ("POST", "/_changes"),
    ("POST", "/_bulk_get"),
    ("POST", "/_revs_diff"),
    ("POST", "/_bulk_docs"),
    ("GET", "/_all_docs"),
    ("POST", "/_all_docs"),
    ("GET", "/_local/device"),
    ("PUT", "/_local/device"),
    ("DELETE", "/_local/device"),
    ("GET", "/profile"),
    ("PUT", "/profile"),
    ("DELETE", "/profile"),
    ("GET", "/profile/photo.png"),
    ("PUT", "/profile/photo.png"),
    ("POST", "/profile/photo.png"),
    ("DELETE", "/profile/photo.png"),
]
FOREIGN_OF_COUCHDB = [
    ("GET", "/_design_docs"),
    ("GET", "/_local_docs"),
    ("POST", "/_find"),
    ("POST", "/_index"),
    ("POST", "/_purge"),
    ("POST", "/_compact"),
    ("PUT", "/_security"),
    ("PUT", "/_revs_limit"),
    ("GET", "/_design/users"),
    ("PUT", "/_design/users"),
    ("GET", "/_design/users/_view/customers"),
    ("GET", "/_partition/user1/_all_docs"),
    ("PUT", ""),
    ("DELETE", ""),
    ("COPY", "/profile"),
]
"""What a database of CouchDB has besides."""


@pytest.fixture(scope="module")
def victims(users_url):
    """Whose words nobody else may read."""
    return {"name": "Victoria Victim", "line1": "13 Secret Lane"}


@pytest.fixture
def ann(person, goods, victims):
    """Somebody with one of everything, whose documents `known` are."""
    ann = person(name=victims["name"])
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    ann.put(f"/v1/users/me/wishes/{goods[1]}")
    ann.put("/v1/users/me/kept", {"category": "Home", "subtree": False})
    assert ann.post("/v1/users/me/addresses", {**ADDRESS, "line1": victims["line1"]}).status_code == 201
    ann.put(f"{SYNC}/_local/device", {"last_seq": "1-secretpoint"})
    return ann


def test_every_endpoint_wants_a_session(nobody):
    for method, path in ENDPOINTS:
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic YTpi"}):
            answer = nobody.call(method, SYNC + path, json={}, headers=headers)
            assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized"), (method, path)


def test_what_else_a_database_has_is_not_there(person, ann):
    eve = person()
    for method, path in FOREIGN_OF_COUCHDB:
        answer = eve.call(method, SYNC + path, json={"selector": {}, "keys": [], "docs": []})
        assert answer.status_code in (400, 403, 404, 405), (method, path, answer.status_code, answer.text)


def test_nobody_reads_writes_or_finds_out_anything_of_anybody_else(person, ann, goods, victims):
    eve, ghost = person(name="Eve"), "basket-nobody-has-this"
    known, _ = pull(ann)
    own = {doc["_id"] for doc in pull(eve)[0]}
    foreign = [doc for doc in known if doc["_id"] not in own]
    assert len(foreign) == 4
    secrets = (*victims.values(), ann.email, ann.userid, "secretpoint", *(doc["_rev"] for doc in known))
    before = pull(ann)

    def answers():
        """Each with what the same question about a document that nobody has is answered."""
        for doc in foreign:
            docid, rev = doc["_id"], doc["_rev"]
            for stored in (
                docid,
                f"user{ann.userid}:{docid}",
                f"user{ann.userid}%3A{docid}",
            ):
                for query in ("", f"?rev={rev}", f"?rev={rev}&latest=true&revs=true", "?open_revs=all"):
                    yield eve.get(f"{SYNC}/{stored}{query}"), eve.get(f"{SYNC}/{ghost}{query}")
                asked = f'?open_revs=["{rev}"]&latest=true'
                yield eve.get(f"{SYNC}/{stored}{asked}"), eve.get(f"{SYNC}/{ghost}{asked}")
                yield eve.get(f"{SYNC}/{stored}/a.png"), eve.get(f"{SYNC}/{ghost}/a.png")
            for query in ("", "?revs=true&latest=true"):
                body = [{"docs": [{"id": each, "rev": rev}]} for each in (docid, ghost)]
                yield tuple(eve.post(f"{SYNC}/_bulk_get{query}", each) for each in body)
            yield tuple(eve.post(f"{SYNC}/_revs_diff", {each: [rev]}) for each in (docid, ghost))
            yield tuple(
                eve.post(f"{SYNC}/_all_docs?include_docs=true", {"keys": [each]}) for each in (docid, ghost)
            )

    for about, about_nothing in answers():
        assert about.status_code == about_nothing.status_code, about.url
        assert not any(
            secret in about.text.replace(about.url, "") for secret in secrets if secret not in sent(about)
        )
        assert len(about.json()) == len(about_nothing.json())
    for doc in foreign:
        assert eve.get(f"{SYNC}/..%2F{ann.userid}%2F{doc['_id']}").status_code == 404
    for path in (
        "",
        "/_changes?include_docs=true&style=all_docs",
        "/_all_docs?include_docs=true",
        "/_security",
    ):
        text = eve.get(SYNC + path).text
        assert not any(secret in text for secret in secrets if not is_shared(secret, eve)), path
    assert eve.get(f"{SYNC}/_local/device").status_code == 404
    eve.put(f"{SYNC}/_local/device", {"last_seq": "evil"})
    eve.delete(f"{SYNC}/_local/device")
    pushed = [
        edited(doc, **change) for doc in known for change in ({"_deleted": True}, {"name": "Eve was here"})
    ]
    stored = [made(f"user{ann.userid}:{doc['_id']}", **content(doc)) for doc in known]
    for new_edits in (True, False):
        eve.post(f"{SYNC}/_bulk_docs", {"docs": pushed + stored, "new_edits": new_edits})
    for doc in known:
        eve.put(f"{SYNC}/{doc['_id']}", {**content(doc), "_rev": doc["_rev"]})
        eve.delete(f"{SYNC}/{doc['_id']}?rev={doc['_rev']}")
    assert pull(ann) == before
    assert ann.get(f"{SYNC}/_local/device").json()["last_seq"] == "1-secretpoint"


def sent(answer):
    """What the question itself said."""
    return f"{answer.request.url} {answer.request.body}"


def is_shared(secret, eve):
    """The first revision of what is alike in every account says nothing."""
    return any(secret == doc["_rev"] for doc in pull(eve)[0])


def content(doc):
    return {key: value for key, value in doc.items() if key not in ("_id", "_rev", "_revisions")}


def test_ten_thousand_revisions_and_huge_bodies_are_refused_and_hold_nothing_up(person, goods):
    eve = person()
    known = next(doc for doc in pull(eve)[0] if doc["_id"] == "preferences")
    line = {"type": "basketline", "productid": goods[0], "quantity": 1}
    ids = [f"{number:032x}" for number in range(MANY)]
    long = {
        "_id": f"basket-{goods[0]}",
        "_rev": f"{MANY}-{ids[0]}",
        "_revisions": {"start": MANY, "ids": ids},
        **line,
    }
    revisions = [f"{number + 1}-{each}" for number, each in enumerate(ids)]
    for method, path, body, expected in (
        ("POST", "/_bulk_docs", {"docs": [long], "new_edits": False}, {201}),
        ("POST", "/_revs_diff", {"profile": revisions}, {400, 413}),
        ("POST", "/_revs_diff", {f"d{number}": ["1-a"] for number in range(MANY)}, {413}),
        ("POST", "/_bulk_get", {"docs": [{"id": "profile", "rev": rev} for rev in revisions]}, {413}),
        ("POST", "/_all_docs", {"keys": ids}, {400, 413}),
        ("POST", "/_bulk_docs", {"docs": [{"_id": each} for each in ids]}, {413}),
        ("PUT", "/_local/long", {"history": revisions}, {413}),
        ("PUT", "/preferences", {**content(known), "_rev": known["_rev"], "currency": "x" * 900_000}, {403}),
        ("POST", "/_changes", {"doc_ids": ids}, {200}),
    ):
        answer = eve.call(method, SYNC + path, json=body)
        assert answer.status_code in expected, (path, answer.status_code, answer.text[:300])
        assert len(answer.content) < 10_000, path
    asked = "[" + ",".join(f'"{each}"' for each in revisions[:100]) + "]"
    assert eve.get(f"{SYNC}/profile", params={"open_revs": asked}).status_code == 200
    [pushed] = [doc for doc in pull(eve)[0] if doc["_id"] == long["_id"]]
    assert len(pushed["_revisions"]["ids"]) <= 30, "no more of its history is kept"
    for generation in range(40):
        eve.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": generation + 2})
        pull(eve)
    [last] = [doc for doc in pull(eve)[0] if doc["_id"] == long["_id"]]
    assert last["_revisions"]["start"] == MANY + 40
    assert len(last["_revisions"]["ids"]) <= 30
