"""A node of a cluster whose lists are behind, and which alone takes what the others refuse: CouchDB says 202 then. The stand-in for
it does so."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import orjson
import pytest
import requests
from redis import Redis

from services.users.actions.email_claims import claim_for_account, claim_for_new_accounts
from services.users.dependencies import open_job_dependencies
from services.users.documents import claim_id
from services.users.settings import JobSettings
from shared.errors import Unavailable
from shared.settings import load
from tests.forwarding import Forward, Response, as_one_of_three, cut_off, forwarding
from tests.services.users.conftest import ADMIN, PASSWORD, Api, log_in
from tests.services.users.sync_devices import SYNC, made, pull

MILL = {"name": "Ann", "line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR", "country": "GB"}


@dataclass
class Node:
    """In front of the database, one of three. While it `lags`, its list of staff and its index of accounts are as they were, and its lists of
    people lack what ends so; while it is `alone`, its writes of one document are 202,
    while it is `cut_off`, those of many, too."""

    couch_url: str
    lags: bool = False
    lacks: str = ":auth"
    alone: bool = False
    cut_off: bool = False
    rival: tuple[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None
    """What the path of a document ends with, and what the other nodes take in its place once, while this one takes what it is sent (202)."""
    indexed: dict[bytes, Response] = field(default_factory=dict)
    shown: dict[str, Response] = field(default_factory=dict)
    were: dict[str, Response] = field(default_factory=dict)
    """Lists of people by path: as it showed them last, and as it shows them still."""

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        if path.endswith("/_find") and (b"roles_changed" in body or b'"email"' in body):
            if not self.lags or body not in self.indexed:
                self.indexed[body] = forward()
            return self.indexed[body]
        if path in self.were:
            return self.were[path]
        status, headers, content = forward()
        if self.rival and method == "PUT" and path.endswith(self.rival[0]):
            (_, theirs), self.rival = self.rival, None
            put_beside(self.couch_url, path, orjson.loads(body), theirs)
            return 202, headers, content
        content = as_one_of_three(method, path, content)
        if self.cut_off and path.endswith("/_bulk_docs"):
            return cut_off(method, path, body, lambda: (status, headers, content))
        if "/_partition/user" in path:
            self.shown[path] = status, headers, content
        if self.lags and "/_partition/user" in path:
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if not row["id"].endswith(self.lacks)]
            content = orjson.dumps({**found, "rows": rows})
        return (202 if self.alone and (method, status) == ("PUT", 201) else status), headers, content


@pytest.fixture(scope="module")
def node(couch_url: str) -> Node:
    return Node(couch_url)


@pytest.fixture(scope="module")
def node_url(couch_url: str, node: Node) -> Iterator[str]:
    with forwarding(couch_url, node.answer) as url:
        yield url


@pytest.fixture(scope="module")
def behind(node_url: str, users_url: str, service: Any) -> str:
    return service("users", COUCH_URL=node_url, ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1")


@pytest.fixture
def forget(environment: dict[str, str]) -> Callable[[], None]:
    """forget() makes what was written of people long ago: what is not is read as most nodes have it, so that nobody is behind with it."""
    redis = Redis.from_url(environment["REDIS_URL"])

    def forgotten() -> None:
        for key in redis.scan_iter("*users:written*"):
            redis.delete(key)

    return forgotten


def put_beside(
    couch_url: str, path: str, ours: dict[str, Any], theirs: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Another writer's version of a document, beside ours and before it."""
    database, _, docid = path.rpartition("/")
    number, _, parent = ours.get("_rev", "0-").partition("-")
    ids = ["f" * 32, *([parent] if parent else [])]
    revision = {"_rev": f"{int(number) + 1}-{ids[0]}", "_revisions": {"start": int(number) + 1, "ids": ids}}
    doc = {**theirs(ours), "_id": unquote(docid), **revision}
    answer = requests.post(
        f"{couch_url}{database}/_bulk_docs", json={"docs": [doc], "new_edits": False}, timeout=30
    )
    assert answer.status_code == 201, answer.text


def test_an_admin_who_is_only_listed_does_not_let_the_last_one_go(admin, person, behind, node, nobody):
    bob = person(name="Bob")
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": ["admin"]}).status_code == 200
    lagging = Api(behind, log_in(nobody, bob.email).token)
    assert len(lagging.get("/v1/admin/staff").json()["items"]) == 2
    node.lags = True
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": []}).status_code == 200
    last = Api(behind, admin.token).put(f"/v1/admin/staff/{admin.userid}", {"roles": []})
    node.lags = False
    assert (last.status_code, last.json()["code"]) == (409, "last_admin")


def test_who_logs_in_is_what_most_nodes_say(admin, person, behind, node):
    """Not what they were at a node whose index is behind: its token would be good for minutes."""
    ann, replica = person(), Api(behind)

    def answered() -> requests.Response:
        return replica.post("/v1/sessions", {"email": ann.email, "password": PASSWORD})

    roles = []
    for given in (["admin"], []):
        answered()
        assert admin.put(f"/v1/admin/staff/{ann.userid}", {"roles": given}).status_code == 200
        node.lags = True
        roles.append(answered().json()["user"]["roles"])
        node.lags = False
    node.lags = True
    closed = admin.put(f"/v1/admin/users/{ann.userid}/closure", {"reason": "left", "password": ADMIN[1]})
    refused = answered()
    node.lags = False
    assert [set(each) - {"customer"} for each in roles] == [{"admin"}, set()]
    assert (closed.ok, refused.status_code, refused.json()["code"]) == (True, 401, "bad_login")


@pytest.mark.parametrize("is_address", [False, True])
def test_a_change_of_one_version_that_too_few_nodes_took_is_not_told_as_made(
    person, behind, node, is_address
):
    ann, path, change = person(), "/v1/users/me", {"name": "Anna"}
    if is_address:
        made = ann.post("/v1/users/me/addresses", {"name": "Ann", "address": "1 Mill Lane\nYork YO1 7PR"})
        path = f"/v1/users/me/addresses/{made.json()['id']}"
    version = {"If-Match": ann.get(path).headers["ETag"]}
    node.alone = node.cut_off = True
    unsure = Api(behind, ann.token).patch(path, change, headers=version)
    of_any = Api(behind, ann.token).patch(path, change)
    node.alone = node.cut_off = False
    assert (unsure.status_code, unsure.headers.get("Retry-After")) == (503, "2")
    assert of_any.status_code == 200, "who names no version excludes nobody"


def test_an_account_that_a_node_does_not_list_yet_is_behind_and_not_closed(
    admin, person, behind, node, environment, forget
):
    ann = person()
    path = f"/v1/admin/customers/{ann.userid}"
    service = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    asked = [
        lambda base: Api(base, ann.token).get("/v1/users/me"),
        lambda base: Api(base, ann.token).patch("/v1/users/me", {"name": "Anna"}),
        lambda base: Api(base, ann.token).get("/v1/users/me/export"),
        lambda base: Api(base, admin.token).get(path),
        lambda base: Api(base, headers=service).get(f"/v1/internal/users/{ann.userid}/checkout"),
    ]
    forget()
    node.lags = True
    answers = [ask(behind) for ask in asked]
    nobodys = Api(behind, admin.token).get(f"/v1/admin/customers/{'0' * 26}")
    node.lags = False
    for answer in answers:
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1"), answer.url
    assert nobodys.status_code == 404
    assert Api(behind, ann.token).get("/v1/users/me").status_code == 200


def test_an_address_that_a_node_does_not_list_yet_can_be_ordered_to(
    person, behind, node, environment, forget
):
    ann = person()
    address = ann.post("/v1/users/me/addresses", MILL).json()["id"]
    service = Api(behind, headers={"Authorization": f"Service {environment['SERVICE_SECRET']}"})
    path = f"/v1/internal/users/{ann.userid}/checkout"
    forget()
    node.lags, node.lacks = True, f":delivery{address}"
    named, other = (service.get(path, params={"address_id": each}) for each in (address, "none"))
    node.lags, node.lacks = False, ":auth"
    assert [each["id"] for each in named.json()["addresses"]] == [address]
    assert (other.status_code, other.json()["addresses"]) == (200, [])


def test_an_address_that_a_node_does_not_list_yet_is_read_changed_and_not_made_twice(
    person, behind, node, redis_url
):
    """Who sent the same again after a lost answer was told that there is no such address."""
    ann, sent = person(), {"headers": {"Idempotency-Key": "lost"}}
    made = ann.post("/v1/users/me/addresses", MILL, **sent).json()
    path = f"/v1/users/me/addresses/{made['id']}"
    lagging = Api(behind, ann.token)
    node.lags, node.lacks = True, f":delivery{made['id']}"
    Redis.from_url(redis_url).flushdb()
    again = lagging.post("/v1/users/me/addresses", MILL, **sent)
    read = lagging.get(path)
    changed = lagging.patch(path, {"name": "Anna"}, headers={"If-Match": read.headers.get("ETag", "")})
    none = lagging.get(f"{path}x")
    node.lags, node.lacks = False, ":auth"
    assert (again.status_code, again.json()) == (201, made)
    assert (read.status_code, read.json()) == (200, made)
    assert (changed.status_code, changed.json()["name"]) == (200, "Anna")
    assert none.status_code == 404


def test_what_somebody_has_just_written_is_listed_as_most_nodes_have_it(person, behind, node):
    """The page that follows a form reads a list, which is one node's."""
    ann = Api(behind, person().token)
    made = [ann.post("/v1/users/me/addresses", MILL).json()["id"] for _ in range(2)]

    def listed() -> list[str]:
        return sorted(each["id"] for each in ann.get("/v1/users/me/addresses").json()["items"])

    node.lags, node.lacks = True, f":delivery{made[0]}"
    assert listed() == sorted(made)
    node.lags, node.lacks = False, ":auth"
    assert listed() == sorted(made)
    node.were = {path: shown for path, shown in node.shown.items() if made[1].encode() in shown[2]}
    assert ann.delete(f"/v1/users/me/addresses/{made[1]}").ok
    assert listed() == [made[0]]
    node.were = {}


def test_a_device_is_not_told_that_what_the_node_does_not_list_yet_is_gone(person, behind, node, forget):
    ann = person()
    address = ann.post("/v1/users/me/addresses", MILL).json()["id"]
    device = Api(behind, ann.token)
    told, since = pull(device)
    forget()
    node.lags, node.lacks = True, f":delivery{address}"
    refused = device.get(f"{SYNC}/_changes", params={"since": since})
    pushed = device.post(f"{SYNC}/_bulk_docs", {"docs": [{"_id": "preferences", "type": "preferences"}]})
    node.lags, node.lacks = False, ":auth"
    for answer in (refused, pushed):
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1")
    assert pull(device) == (told, since), "nothing was told meanwhile"
    ann.delete(f"/v1/users/me/addresses/{address}")
    [gone], _ = pull(device, since)
    assert (gone["_id"], gone["_deleted"]) == (f"delivery{address}", True)


def with_row(new: Response, old: Response, ending: str) -> Response:
    """A list of today, with one row as it was."""
    were = {row["id"]: row for row in orjson.loads(old[2])["rows"]}
    found = orjson.loads(new[2])
    rows = [were[row["id"]] if row["id"].endswith(ending) else row for row in found["rows"]]
    return new[0], new[1], orjson.dumps({**found, "rows": rows})


def test_a_device_is_not_told_what_was_before_nor_that_a_revision_is_missing(person, behind, node, forget):
    """The list shows a document as it was, of an account whose last state it has; and all as it was before a revision was told."""
    ann = person()
    device = Api(behind, ann.token)
    _, before = pull(device)
    [(path, old)] = [each for each in node.shown.items() if ann.userid in each[0]]
    ann.patch("/v1/users/me", {"name": "Anna"})
    [changed], since = pull(device, before)
    forget()
    node.were = {path: with_row(node.shown[path], old, ":auth")}
    answer = device.get(f"{SYNC}/_changes", params={"since": since})
    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1")
    node.were = {path: old}
    asked = {"docs": [{"id": "profile", "rev": changed["_rev"]}]}
    for answer in (
        device.post(f"{SYNC}/_bulk_get?revs=true&latest=true", asked),
        device.get(f"{SYNC}/profile", params={"rev": changed["_rev"]}),
        device.get(f"{SYNC}/profile", params={"open_revs": f'["{changed["_rev"]}"]'}),
    ):
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1"), answer.text
    node.were = {}
    assert device.post(f"{SYNC}/_bulk_get?revs=true&latest=true", asked).ok
    assert device.get(f"{SYNC}/profile", params={"rev": "9-abc"}).status_code == 404
    assert pull(device, since) == ([], since)


def test_a_device_is_told_of_what_it_pushed_though_the_other_nodes_took_what_was_told_to_another(
    person, behind, node
):
    """Of two who tell devices something at once, at two nodes, one is told 202: the other's version would have hidden for good what was
    pushed, or it the other's."""

    def told_to_another(ours: dict[str, Any]) -> dict[str, Any]:
        others = {docid: entry for docid, entry in ours["entries"].items() if docid != "preferences"}
        return {**ours, "entries": others}

    device = Api(behind, person().token)
    _, since = pull(device)
    node.rival = ("sync", told_to_another)
    pushed = made("preferences", type="preferences", language="en")
    answer = device.post(f"{SYNC}/_bulk_docs", {"docs": [pushed], "new_edits": False})
    assert (answer.status_code, answer.json(), node.rival) == (201, [], None), answer.text
    told, _ = pull(device, since)
    assert [each["language"] for each in told if not each.get("_deleted")] == ["en"], "one version lives"
    assert any(pushed["_revisions"]["ids"][0] in each["_revisions"]["ids"] for each in told), (
        "and what became of the pushed one is told"
    )


def test_an_email_that_the_other_nodes_gave_to_another_account_is_taken(
    person, environment, node_url, node, database
):
    deps = open_job_dependencies(load(JobSettings, environment | {"COUCH_URL": node_url}))
    another, email = person().userid, f"{secrets.token_hex(6)}@example.org"
    node.rival = ("claim", lambda ours: {**ours, "userid": another})
    assert not claim_for_account(deps, email, "mine")
    claim = database.get(claim_id(email), conflicts=True)
    assert (claim["userid"], "_conflicts" in claim, node.rival) == (another, False, None)


def test_an_email_that_one_node_took_alone_is_given_once_most_have_it(environment, node_url, node, database):
    deps = open_job_dependencies(load(JobSettings, environment | {"COUCH_URL": node_url}))
    email = f"{secrets.token_hex(6)}@example.org"
    node.alone = True
    try:
        assert claim_for_account(deps, email, "mine")
    finally:
        node.alone = False
    assert database.get(claim_id(email))["_rev"].startswith("2-")


def test_emails_of_an_import_that_one_node_took_alone_are_nobodys(
    couch_url, environment, users_url, database
):
    """Other accounts may have them on the other nodes: who imports again must not find them as its own."""
    email = f"{secrets.token_hex(6)}@example.org"
    with forwarding(couch_url, cut_off) as url:
        deps = open_job_dependencies(load(JobSettings, environment | {"COUCH_URL": url}))
        with pytest.raises(Unavailable):
            claim_for_new_accounts(deps, {email: "mine"})
    assert database.get_many([claim_id(email)]) == {}


def test_a_refresh_token_that_another_has_used_at_the_other_nodes_ends_the_session(
    person, behind, node, database
):
    """One of the two has stolen it. What this node took alone counted as a refresh, and neither was noticed before the next."""
    ann, lagging = person(), Api(behind)
    first = lagging.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token})
    (session,) = database.partition(f"user{ann.userid}").all("session-")
    node.rival = (session["_id"].partition(":")[2], lambda ours: {**ours, "updated": ours["expires"]})
    second = lagging.post("/v1/sessions/refresh", {"refresh_token": first.json()["refresh_token"]})
    assert (second.status_code, node.rival) == (401, None), second.text
    assert database.get(session["_id"], conflicts=True).get("revoked")
