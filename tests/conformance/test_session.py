"""Signing in, and what security objects let whom do. Names are fresh: a real server locks accounts after failures."""

import secrets
import time

import pytest
import requests

from .conftest import Couch

pytestmark = pytest.mark.conformance


@pytest.fixture
def user(couch: Couch):
    name = f"u{secrets.token_hex(5)}"
    path = f"/_users/org.couchdb.user:{name}"
    made = couch.put(path, {"type": "user", "name": name, "password": "pw", "roles": ["reader"]})
    if made.status_code == 404:
        couch.put("/_users")
        made = couch.put(path, {"type": "user", "name": name, "password": "pw", "roles": ["reader"]})
    assert made.status_code == 201, made.text
    yield name
    rev = couch.get(path).json().get("_rev")
    couch.delete(f"{path}?rev={rev}")


def sign_in(couch: Couch, name: str, password: str, **options) -> requests.Response:
    return couch.post("/_session", {"username": name, "password": password}, auth=None, **options)


def test_a_cookie(couch: Couch, db: str, user: str):
    answer = sign_in(couch, user, "pw")
    assert answer.json() == {"ok": True, "name": user, "roles": ["reader"]}
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("AuthSession=")
    assert "Max-Age=600" in cookie
    assert "HttpOnly" in cookie
    couch.session.cookies.clear()
    couch.put(f"{db}/_security", {"members": {"roles": ["reader"]}})
    value = {"Cookie": cookie.split(";")[0]}
    assert couch.get(f"{db}/_all_docs", auth=None, headers=value).status_code == 200
    who = couch.get("/_session", auth=None, headers=value).json()
    assert who["userCtx"] == {"name": user, "roles": ["reader"]}
    assert who["info"]["authenticated"] == "cookie"


def test_wrong_credentials_clear_the_cookie(couch: Couch, user: str):
    answer = sign_in(couch, user, "wrong")
    assert answer.status_code == 401
    assert answer.json() == {"error": "unauthorized", "reason": "Name or password is incorrect."}
    assert answer.headers["Set-Cookie"].startswith("AuthSession=;")
    assert sign_in(couch, "nobody-at-all", "x").status_code == 401
    couch.session.cookies.clear()


def test_forms_sign_in_as_well(couch: Couch, user: str):
    answer = couch.post("/_session", data={"name": user, "password": "pw"}, auth=None)
    assert answer.json()["ok"] is True
    couch.session.cookies.clear()
    assert couch.post("/_session", data=b"", auth=None).status_code == 415


def test_where_to_go_after_signing_in_is_on_this_server(couch: Couch, user: str):
    def go(place: str) -> requests.Response:
        body = {"name": user, "password": "pw"}
        answer = couch.post("/_session", body, auth=None, params={"next": place})
        couch.session.cookies.clear()
        return answer

    for place in ("/_utils/a?b=c", "//elsewhere.example/a"):
        assert go(place).status_code == 302
        assert go(place).headers["Location"] == couch.url + place
    for place in ("http://elsewhere.example/", "", "a"):
        assert (go(place).status_code, go(place).json()["reason"]) == (400, "path must begin with a /.")


def test_a_place_with_a_line_break_is_refused(couch: Couch, user: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB puts the line break into its headers")
    body = {"name": user, "password": "pw"}
    answer = couch.post("/_session", body, auth=None, params={"next": "/\r\nX-Evil: yes"})
    assert answer.status_code == 400


def test_what_are_no_credentials(couch: Couch):
    none = couch.post("/_session", {}, auth=None)
    assert (none.status_code, none.json()["reason"]) == (400, "request body must contain a username")
    couch.session.cookies.clear()
    broken = couch.get("/_session", auth=None, headers={"Authorization": "Basic x"})
    reason = "Authorization header has invalid base64 value"
    assert (broken.status_code, broken.json()["reason"]) == (400, reason)


def test_signing_out(couch: Couch):
    answer = couch.delete("/_session", auth=None)
    assert answer.json() == {"ok": True}
    assert answer.headers["Set-Cookie"].startswith("AuthSession=;")


def test_a_damaged_or_foreign_cookie(couch: Couch, user: str):
    cookie = sign_in(couch, user, "pw").headers["Set-Cookie"].split(";")[0]
    couch.session.cookies.clear()
    forged = cookie[:-4] + ("AAAA" if not cookie.endswith("AAAA") else "BBBB")
    who = couch.get("/_session", auth=None, headers={"Cookie": forged})
    assert who.status_code in (200, 400)
    assert who.status_code == 400 or who.json()["userCtx"]["name"] is None


def test_nobody(couch: Couch, db: str):
    assert couch.get("/_session", auth=None).json()["userCtx"] == {"name": None, "roles": []}
    assert couch.get("/_up", auth=None).json()["status"] == "ok"
    for method, path in (
        ("GET", "/_all_dbs"),
        ("GET", "/_node/_local/_config"),
        ("PUT", "/new-one"),
        ("DELETE", db),
    ):
        answer = couch.request(method, path, auth=None)
        assert (answer.status_code, answer.json()["reason"]) == (401, "You are not a server admin.")
    answer = couch.get(f"{db}/a", auth=None)
    assert (answer.status_code, answer.json()["reason"]) == (401, "You are not authorized to access this db.")


def test_basic(couch: Couch, db: str, user: str):
    as_user = (user, "pw")
    assert couch.get("/_session", auth=as_user).json()["info"]["authenticated"] == "default"
    assert couch.get(f"{db}/a", auth=as_user).json()["reason"] == "You are not allowed to access this db."
    assert couch.get(f"{db}/a", auth=(user, "wrong")).status_code == 401


def test_members_and_admins(couch: Couch, db: str, user: str):
    as_user = (user, "pw")
    couch.put(f"{db}/_security", {"members": {"roles": ["reader"]}})
    assert couch.put(f"{db}/a", {}, auth=as_user).status_code == 201
    refused = couch.put(f"{db}/_design/d", {}, auth=as_user)
    assert (refused.status_code, refused.json()["reason"]) == (403, "You are not a db or server admin.")
    mixed = couch.post(
        f"{db}/_bulk_docs", {"docs": [{"_id": "_design/d"}, {"_id": "b"}]}, auth=as_user
    ).json()
    assert (mixed[0]["error"], mixed[1]["ok"]) == ("forbidden", True)
    couch.put(f"{db}/_security", {"admins": {"names": [user]}, "members": {"names": [user]}})
    assert couch.put(f"{db}/_design/d", {}, auth=as_user).status_code == 201
    couch.put(f"{db}/_security", {"members": {"names": ["another"]}})
    assert couch.get(f"{db}/a", auth=as_user).status_code == 403
    assert couch.get(f"{db}/a", auth=None).status_code == 401
    assert couch.post(f"{db}/_compact", {}, auth=as_user).status_code == 403
    assert couch.post("/_users/_find", {"selector": {}}, auth=as_user).status_code == 403
    assert couch.get("/_users/_all_docs", auth=as_user).status_code == 401
    couch.put(f"{db}/_security", {})
    assert couch.get(f"{db}/a", auth=None).status_code == 200


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"name": "x", "roles": []}, "doc.type must be user"),
        ({"type": "user", "roles": []}, "doc.name is required"),
        ({"type": "user", "name": "NAME"}, "doc.roles must exist"),
        ({"type": "user", "name": "NAME", "roles": 3}, "doc.roles must be an array"),
        ({"type": "user", "name": "NAME", "roles": [1]}, "doc.roles can only contain strings"),
        ({"type": "user", "name": "other", "roles": []}, "Doc ID must be of the form org.couchdb.user:name"),
        (
            {"type": "user", "name": "NAME", "roles": ["_x"]},
            "No system roles (starting with underscore) in users db.",
        ),
    ],
)
def test_what_is_no_user(couch: Couch, user: str, body: dict, reason: str):
    fresh = f"n{secrets.token_hex(4)}"
    answer = couch.put(
        f"/_users/org.couchdb.user:{fresh}", {**body, "name": body.get("name", "").replace("NAME", fresh)}
    )
    assert (answer.status_code, answer.json()["reason"]) == (403, reason)


def test_passwords_are_stored_hashed(couch: Couch, user: str):
    doc = couch.get(f"/_users/org.couchdb.user:{user}").json()
    assert "password" not in doc
    assert doc["password_scheme"] == "pbkdf2"
    assert len(doc["derived_key"]) == 64
    doc["password"] = "new"
    assert couch.put(f"/_users/org.couchdb.user:{user}", doc).status_code == 201
    assert sign_in(couch, user, "new").status_code == 200
    assert sign_in(couch, user, "pw").status_code == 401
    couch.session.cookies.clear()


def test_the_cookie_is_renewed(minicouch):
    couch = minicouch().couch
    couch.put("/_node/_local/_config/chttpd_auth/timeout", "10")
    cookie = sign_in(couch, "admin", "secret").headers["Set-Cookie"]
    assert "Max-Age=10" in cookie
    couch.session.cookies.clear()
    value = {"Cookie": cookie.split(";")[0]}
    assert "Set-Cookie" not in couch.get("/_session", auth=None, headers=value).headers
    time.sleep(2.1)
    renewed = couch.get("/_session", auth=None, headers=value)
    assert renewed.json()["userCtx"]["name"] == "admin"
    assert renewed.headers["Set-Cookie"].startswith("AuthSession=")
