"""A cluster whose nodes each keep another request's reservation of one order: CouchDB says 202 and `accepted` to both. Goods go once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
import pytest
import requests

from services.products.actions.skus import claim_all
from services.products.actions.stock import release
from services.products.actions.stock import reserve as take
from services.products.documents import sku_claim_id
from services.products.rules.ledger import Line
from shared.clock import iso, now, timestamp
from shared.couch import Server
from shared.errors import Unavailable
from tests.forwarding import Forward, Response, cut_off, forwarding
from tests.services.products.conftest import Neighbours, Shop, open_as_worker, product
from tests.services.products.reserving import KITCHEN, level, replicated, reservation, reserve


@dataclass
class LonelyNode:
    """In front of the database: the one node of a cluster that takes a reservation which the others refuse, and says so."""

    couch_url: str
    url: str = ""
    split: bool = True
    kept: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        docs = orjson.loads(body).get("docs", []) if path.endswith("/_bulk_docs") else []
        if not self.split or not any(doc.get("type") == "reservation" for doc in docs):
            return status, headers, content
        rows = orjson.loads(content)
        for number, doc in enumerate(docs):
            if doc["type"] == "reservation" and rows[number].get("error") == "conflict":
                rows[number] = self._keep(path, doc)
        return 202, headers, orjson.dumps(rows)

    def _keep(self, path: str, doc: dict[str, Any]) -> dict[str, Any]:
        rev = f"1-{'a' * 32}"
        stored = {"docs": [doc | {"_rev": rev}], "new_edits": False}
        requests.post(self.couch_url + path, json=stored, timeout=30).raise_for_status()
        self.kept.append(doc["_id"])
        return {"ok": True, "id": doc["_id"], "rev": rev, "accepted": True}


@pytest.fixture(scope="module")
def node(couch_url: str) -> Iterator[LonelyNode]:
    node = LonelyNode(couch_url)
    with forwarding(couch_url, node.answer) as node.url:
        yield node


@pytest.fixture(scope="module")
def at_node(node: LonelyNode, shop: Shop, service: Callable[..., str], neighbours: Neighbours) -> Shop:
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    return Shop(service("products", COUCH_URL=node.url, ACCESS_LOG="false", **urls), neighbours)


def test_a_reservation_that_too_few_nodes_took_takes_nothing(
    shop: Shop, at_node: Shop, node: LonelyNode
) -> None:
    shop.load([product("split", stock=100)])
    body = reservation("twice", ("split", 1))
    assert shop.service("/v1/internal/reservations", body).status == 201
    answer = at_node.service("/v1/internal/reservations", body)
    assert node.kept
    assert level(shop, "split") == 99, "what was sold once is taken once"
    assert (answer.status, answer.json["code"]) == (503, "stock_contended")
    assert int(answer.headers["Retry-After"]) >= 1
    node.split = False
    assert at_node.service("/v1/internal/reservations", {**body, "again": True}).status == 201
    assert level(shop, "split") == 99


def test_what_one_node_alone_may_keep_for_an_order_is_confirmed_by_most_before_it_counts(
    shop: Shop, couch_url: str, environment: dict[str, str]
) -> None:
    """The node is cut off and the answer to the first reservation was lost: asked again it shows the slot."""
    shop.load([product("lone", stock=5)])
    line = Line("lone", tuple(KITCHEN), 1)
    assert reserve(shop, "unheard", ("lone", 1)) == 201
    with forwarding(couch_url, cut_off) as url:
        alone = open_as_worker({**environment, "COUCH_URL": url})
        with pytest.raises(Unavailable):
            alone.reservations.held_by_order("unheard", [line], exclusive=True)
    assert reserve(shop, "unheard", ("lone", 1)) == 201, "joined again, most nodes have it"
    assert level(shop, "lone") == 4


def test_an_article_number_that_one_node_took_alone_is_nobodys(
    shop: Shop, couch_url: str, environment: dict[str, str]
) -> None:
    """Another product may have it on the other nodes: who asks again must not find it as its own."""
    shop.load([product("owner", stock=1)])
    with forwarding(couch_url, cut_off) as url:
        alone = open_as_worker({**environment, "COUCH_URL": url})
        with pytest.raises(Unavailable):
            claim_all(alone, {"lone-red": "owner"})
    assert open_as_worker(environment).catalogue.get_many([sku_claim_id("lone-red")]) == {}


def test_a_movement_that_one_node_alone_has_kept_hides_no_stock(
    shop: Shop, couch_url: str, environment: dict[str, str], server: Server
) -> None:
    """Its writer was told that it does not hold; of the other nodes it cannot be read. Where all are asked it is seen beside the other, and
    what both say was before them counts."""
    shop.load([product("kept", stock=5)])
    line = Line("kept", tuple(KITCHEN), 1)
    here = open_as_worker(environment)
    ledger, least = here.ledger, 5 if here.catalogue.has_one_copy else 0
    [movement] = ledger.movements(line, 1)
    kept = {**movement, "delta": 9, "level": 9, "_rev": f"1-{'0' * 32}"}
    replicated(server, kept)
    with forwarding(couch_url, lose_revisions) as url:
        elsewhere = open_as_worker({**environment, "COUCH_URL": url}).ledger
        assert elsewhere.end_here(line).level == least
        assert [len(leaves) for leaves in elsewhere.slots_back_from(line, 1)] == [1]
    ledger.remove([kept])


def lose_revisions(method: str, path: str, body: bytes, forward: Forward) -> Response:
    if "rev=" in path:
        return 404, {}, b'{"error": "not_found", "reason": "missing"}'
    return forward()


def test_what_goes_back_is_written_once_more_where_each_of_three_writers_had_one_node(
    shop: Shop, couch_url: str, environment: dict[str, str]
) -> None:
    """Whoever asked again was told that it is settled, and the goods were out of stock until the worker looked at them."""
    shop.load([product("crowded", stock=5)])
    line = Line("crowded", tuple(KITCHEN), 1)
    assert reserve(shop, "refused", ("crowded", 1)) == 201
    unsure = []

    def crowded(method: str, path: str, body: bytes, forward: Forward) -> Response:
        if path.endswith("/_bulk_docs") and b'"movement"' in body and len(unsure) < 2:
            unsure.append(body)
            return cut_off(method, path, body, forward)
        return forward()

    with forwarding(couch_url, crowded) as url:
        release(open_as_worker({**environment, "COUCH_URL": url}), "refused", [line], "release", timestamp())
    assert len(unsure) == 2
    assert level(shop, "crowded") == 5


def test_who_had_one_node_of_three_for_a_slot_takes_the_next_one(
    shop: Shop, couch_url: str, environment: dict[str, str]
) -> None:
    """Three buyers at once were all asked to come again."""
    shop.load([product("contended", stock=5)])
    line = Line("contended", tuple(KITCHEN), 1)
    unsure = []

    def contended(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if path.endswith("/_bulk_docs") and b'"reservation"' in body and not unsure:
            rows = orjson.loads(content)
            unsure.extend(row for row in rows if ":stock:" in row["id"])
            rows = [row | {"accepted": True} if row in unsure else row for row in rows]
            return 202, headers, orjson.dumps(rows)
        return status, headers, content

    with forwarding(couch_url, contended) as url:
        deps = open_as_worker({**environment, "COUCH_URL": url})
        expires = iso(now() + timedelta(minutes=15))
        take(deps, "contends", [line], expires, timestamp())
    assert len(unsure) == 1
    assert level(shop, "contended") == 4
