"""Writes that exclude others, through one node of three whose answers are lost, and which too few or none of the others follow."""

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
import requests

from shared.couch import Database, DatabaseDesign, DatabaseUnavailable, Server, UpdateConflict, quorum
from tests.forwarding import Forward, Response, as_one_of_three, cut_off, forwarding

CLAIMS = DatabaseDesign("quorum_claims", ())


@dataclass
class Node:
    """In front of the database, one of three. While it is `alone`, the others take nothing of what it is sent (202); it `loses` one answer;
    `theirs` is what the others take once in place of a document, which it keeps beside that. `rivals` are written once beside what it is sent,
    each at a node of its own or at most of them, and what it is sent is told as 202, as are the next `unsure` writes."""

    couch_url: str
    alone: bool = False
    loses: bool = False
    theirs: dict[str, Any] | None = None
    rivals: tuple[dict[str, Any], ...] = ()
    unsure: int = 0

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if self.rivals and method in ("PUT", "POST") and b"rival" not in body and b"owner" in body:
            docs, self.rivals = list(self.rivals), ()
            self.post(f"/{path.split('/')[1]}", docs)
            if method == "POST":
                return cut_off(method, path, body, lambda: (status, headers, content))
            return 202, headers, content
        if method == "PUT" and self.unsure:
            self.unsure -= 1
            return 202, headers, content
        if method == "PUT" and path.count("/") == 2:
            if self.theirs:
                self.put_beside(path)
            if self.loses:
                self.loses = False
                raise requests.ConnectionError
            status = 202 if self.alone and status == 201 else status
        elif self.alone and path.endswith("/_bulk_docs"):
            return cut_off(method, path, body, lambda: (status, headers, content))
        return status, headers, as_one_of_three(method, path, content)

    def put_beside(self, path: str) -> None:
        docs = [{**(self.theirs or {}), "_rev": f"1-{'f' * 32}"}]
        self.theirs = None
        self.post(path.rpartition("/")[0], docs)

    def post(self, database: str, docs: list[dict[str, Any]]) -> None:
        url = f"{self.couch_url}{database}/_bulk_docs"
        requests.post(url, json={"docs": docs, "new_edits": False}, timeout=30).raise_for_status()


@pytest.fixture(scope="module")
def claims(server: Server, prepared: Callable[..., None]) -> Database:
    prepared(CLAIMS)
    return server.open(CLAIMS)


@pytest.fixture
def node(couch_url: str) -> Node:
    return Node(couch_url)


@pytest.fixture
def at_node(server: Server, claims: Database, node: Node) -> Iterator[Database]:
    with forwarding(node.couch_url, node.answer) as url:
        yield Server(url, prefix=server.prefix).open(CLAIMS)


def claim(owner: str) -> dict[str, Any]:
    return {"_id": f"seat:{secrets.token_hex(6)}", "owner": owner}


def owners(claims: Database, docid: str) -> list[str]:
    return [leaf["owner"] for leaf in claims.revisions(docid)]


def test_a_write_whose_answer_was_lost_is_ours_once_most_nodes_have_it(
    claims: Database, at_node: Database, node: Node
) -> None:
    mine, node.loses = claim("me"), True
    rev = quorum.try_put(at_node, mine)
    assert claims.get(mine["_id"]) == {**mine, "_rev": rev}
    assert not node.loses


def test_a_write_whose_answer_was_lost_is_not_ours_where_the_others_have_another(
    claims: Database, at_node: Database, node: Node
) -> None:
    mine = claim("me")
    node.loses, node.theirs = True, {**mine, "owner": "you"}
    assert quorum.try_put(at_node, mine) is None
    assert owners(claims, mine["_id"]) == ["you"], "and ours is not left beside it"


def test_what_too_few_nodes_take_is_not_left_behind(claims: Database, at_node: Database, node: Node) -> None:
    mine, node.alone = claim("me"), True
    with pytest.raises(DatabaseUnavailable):
        quorum.put(at_node, mine)
    assert owners(claims, mine["_id"]) == []


def test_a_replacement_that_too_few_nodes_take_stays_so_that_the_document_is_not_lost(
    claims: Database, at_node: Database, node: Node
) -> None:
    mine = claim("me")
    rev, node.alone = claims.put(mine), True
    with pytest.raises(DatabaseUnavailable):
        quorum.put(at_node, {**mine, "owner": "my heir", "_rev": rev})
    assert owners(claims, mine["_id"]) == ["my heir"]


def test_who_is_refused_takes_away_what_one_node_kept_of_it(
    couch_url: str, claims: Database, at_node: Database
) -> None:
    mine = claim("me")
    claims.put({**mine, "owner": "you"})
    kept = {"docs": [{**mine, "_rev": f"1-{'f' * 32}"}], "new_edits": False}
    answer = requests.post(f"{couch_url}/{claims.name}/_bulk_docs", json=kept, timeout=30)
    assert (answer.status_code, orjson.loads(answer.content)) == (201, [])
    with pytest.raises(UpdateConflict):
        quorum.put(at_node, mine)
    assert owners(claims, mine["_id"]) == ["you"]


def test_of_two_who_write_the_same_one_has_written_it(claims: Database, at_node: Database) -> None:
    mine = claim("both")
    assert quorum.try_put(at_node, mine)
    assert quorum.try_put(at_node, mine) is None
    assert owners(claims, mine["_id"]) == ["both"]


def test_what_too_few_nodes_took_of_many_is_taken_back(
    claims: Database, at_node: Database, node: Node
) -> None:
    wanted, node.alone = [claim("me"), claim("me")], True
    assert quorum.take_back_unsure(at_node, at_node.put_many(wanted))
    assert claims.get_many([each["_id"] for each in wanted]) == {}
    node.alone = False
    assert not quorum.take_back_unsure(at_node, at_node.put_many(wanted))
    assert len(claims.get_many([each["_id"] for each in wanted])) == 2


def stored(claims: Database) -> dict[str, Any]:
    doc = claim("first")
    return {**doc, "_rev": claims.put(doc)}


def rival(doc: dict[str, Any], *, shown: bool) -> dict[str, Any]:
    """Another writer's version of what a document replaces, shown in its place or not."""
    _, _, parent = doc["_rev"].partition("-")
    ids = [("f" if shown else "0") * 32, parent]
    return {**doc, "owner": "rival", "_rev": f"2-{ids[0]}", "_revisions": {"start": 2, "ids": ids}}


def replaced_by_put(at_node: Database, doc: dict[str, Any]) -> bool:
    try:
        at_node.put(doc)
    except UpdateConflict:
        return False
    return True


def replaced_by_put_many(at_node: Database, doc: dict[str, Any]) -> bool:
    [row] = at_node.put_many([doc])
    assert row.error in (None, "conflict")
    assert not row.accepted
    return row.error is None


@pytest.mark.parametrize("replace", [replaced_by_put, replaced_by_put_many])
@pytest.mark.parametrize(("shown", "unsure"), [(True, 0), (False, 0), (False, 1)])
def test_of_two_who_replace_one_version_the_other_stays_where_it_is_not_taken_back(
    claims: Database, at_node: Database, node: Node, replace: Callable[..., bool], shown: bool, unsure: int
) -> None:
    """Also where not most nodes have it yet: then they do."""
    mine = stored(claims)
    node.rivals, node.unsure = (rival(mine, shown=shown),), unsure
    assert not replace(at_node, {**mine, "owner": "me"})
    assert (owners(claims, mine["_id"]), node.unsure) == (["rival"], 0)


@pytest.mark.parametrize("replace", [replaced_by_put, replaced_by_put_many])
def test_who_replaced_it_nowhere_else_has_replaced_it_once_the_others_have_given_way(
    claims: Database, at_node: Database, node: Node, replace: Callable[..., bool]
) -> None:
    mine = stored(claims)
    theirs = rival(mine, shown=False)
    node.rivals = (theirs, {**theirs, "_rev": f"3-{'a' * 32}", "_deleted": True, "_revisions": below(theirs)})
    assert replace(at_node, {**mine, "owner": "me"})
    assert owners(claims, mine["_id"]) == ["me"]


def below(leaf: dict[str, Any]) -> dict[str, Any]:
    return {"start": 3, "ids": ["a" * 32, *leaf["_revisions"]["ids"]]}


def test_of_many_that_are_replaced_only_what_another_has_is_refused(
    claims: Database, at_node: Database, node: Node
) -> None:
    docs = [stored(claims) for _ in range(3)]
    node.rivals = (rival(docs[1], shown=True),)
    rows = at_node.put_many({**doc, "owner": "me"} for doc in docs)
    assert [row.error for row in rows] == [None, "conflict", None]
    assert [owners(claims, doc["_id"]) for doc in docs] == [["me"], ["rival"], ["me"]]


@pytest.mark.parametrize("alone", [False, True])
def test_what_lay_beside_the_version_that_is_replaced_does_not_come_back(
    claims: Database, at_node: Database, node: Node, alone: bool
) -> None:
    mine = stored(claims)
    node.post(f"/{claims.name}", [{**mine, "owner": "long gone", "_rev": f"1-{'0' * 32}"}])
    node.alone, node.unsure = alone, 1
    assert replaced_by_put(at_node, {**mine, "owner": "me"}), "stored, where the others cannot be asked"
    assert owners(claims, mine["_id"]) == ["me", "long gone"]


@pytest.mark.parametrize("replace", [replaced_by_put, replaced_by_put_many])
def test_who_read_one_of_two_that_were_written_at_once_does_not_follow_what_is_taken_back(
    claims: Database, at_node: Database, node: Node, replace: Callable[..., bool]
) -> None:
    mine = stored(claims)
    told, unsure = rival(mine, shown=False), {**rival(mine, shown=True), "owner": "unsure"}
    node.post(f"/{claims.name}", [told, unsure])
    seen = at_node.get(mine["_id"])
    with ThreadPoolExecutor(1) as beside:
        beside.submit(lambda: quorum.take_back(claims, unsure["_id"], unsure["_rev"]))
        assert (seen["owner"], replace(at_node, {**seen, "owner": "me"})) == ("unsure", False)
    assert owners(claims, mine["_id"]) == ["rival"]


def test_where_nobody_can_be_asked_whether_the_others_version_holds_ours_is_not_told_as_made(
    claims: Database, at_node: Database, node: Node
) -> None:
    mine = stored(claims)
    node.rivals, node.unsure = (rival(mine, shown=False),), 9
    with pytest.raises(DatabaseUnavailable):
        at_node.put({**mine, "owner": "me"})
