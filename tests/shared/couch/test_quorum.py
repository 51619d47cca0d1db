"""Writes that exclude others, through one node of three whose answers are lost, and which too few or none of the others follow."""

import secrets
from collections.abc import Callable, Iterator
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
    `theirs` is what the others take once in place of a document, which it keeps beside that."""

    couch_url: str
    alone: bool = False
    loses: bool = False
    theirs: dict[str, Any] | None = None

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
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
        url, self.theirs = f"{self.couch_url}{path.rpartition('/')[0]}/_bulk_docs", None
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
