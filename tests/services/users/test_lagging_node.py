"""A node of a cluster whose lists are behind, and which alone takes what the others refuse: CouchDB says 202 then. The stand-in for
it does so."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from tests.forwarding import Forward, Response, forwarding
from tests.services.users.conftest import Api, log_in


@dataclass
class Node:
    """In front of the database. While it `lags`, its list of staff is as it was, and its lists of people lack their accounts; while it is `alone`, its writes of one document are 202."""

    lags: bool = False
    alone: bool = False
    staff: dict[bytes, Response] = field(default_factory=dict)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        if path.endswith("/_find") and b"roles_changed" in body:
            if not self.lags or body not in self.staff:
                self.staff[body] = forward()
            return self.staff[body]
        status, headers, content = forward()
        if self.lags and "/_partition/user" in path:
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if not row["id"].endswith(":auth")]
            content = orjson.dumps({**found, "rows": rows})
        return (202 if self.alone and (method, status) == ("PUT", 201) else status), headers, content


@pytest.fixture(scope="module")
def node() -> Node:
    return Node()


@pytest.fixture(scope="module")
def behind(couch_url: str, node: Node, users_url: str, service: Any) -> Iterator[str]:
    with forwarding(couch_url, node.answer) as url:
        yield service("users", COUCH_URL=url, ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1")


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


@pytest.mark.parametrize("is_address", [False, True])
def test_a_change_of_one_version_that_too_few_nodes_took_is_not_told_as_made(
    person, behind, node, is_address
):
    ann, path, change = person(), "/v1/users/me", {"name": "Anna"}
    if is_address:
        made = ann.post("/v1/users/me/addresses", {"name": "Ann", "address": "1 Mill Lane\nYork YO1 7PR"})
        path = f"/v1/users/me/addresses/{made.json()['id']}"
    version = {"If-Match": ann.get(path).headers["ETag"]}
    node.alone = True
    unsure = Api(behind, ann.token).patch(path, change, headers=version)
    of_any = Api(behind, ann.token).patch(path, change)
    node.alone = False
    assert (unsure.status_code, unsure.headers.get("Retry-After")) == (503, "1")
    assert of_any.status_code == 200, "who names no version excludes nobody"


def test_an_account_that_a_node_does_not_list_yet_is_behind_and_not_closed(
    admin, person, behind, node, environment
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
    node.lags = True
    answers = [ask(behind) for ask in asked]
    nobodys = Api(behind, admin.token).get(f"/v1/admin/customers/{'0' * 26}")
    node.lags = False
    for answer in answers:
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1"), answer.url
    assert nobodys.status_code == 404
    assert Api(behind, ann.token).get("/v1/users/me").status_code == 200
