"""A cluster of which too few nodes take a write (202, `accepted`), or one keeps what the others refused: a code has one promotion, and
of two admins' versions the one stays that was confirmed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest
import requests

from services.orders.documents import code_key
from services.orders.shop_settings import SHIPPING_METHOD, setting_id
from shared.couch import Database
from tests.forwarding import Forward, Response, documents_written, forwarding
from tests.services.orders.conftest import Shop
from tests.services.orders.test_promotions import code, promotion


@dataclass
class LonelyNode:
    """In front of the database: says of writes of some types that too few nodes took them. With `others` there is meanwhile another
    writer's version, which the majority took: this one is kept beside it."""

    couch_url: str
    url: str = ""
    types: tuple[str, ...] = ()
    others: dict[str, dict[str, Any]] = field(default_factory=dict)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        docs = documents_written(method, path, body)
        if not any(doc.get("type") in self.types for doc in docs):
            return forward()
        for doc in docs:
            if (other := self.others.get(doc["_id"])) is not None:
                self._keep_beside(path, doc, other)
                rows = [{"ok": True, "id": doc["_id"], "rev": f"1-{'f' * 32}", "accepted": True}]
                return 202, {"Content-Type": "application/json"}, self._as_asked(method, rows)
        _, headers, content = forward()
        found = orjson.loads(content)
        rows = found if isinstance(found, list) else [found]
        return 202, headers, self._as_asked(method, [row | {"accepted": True} for row in rows])

    def _as_asked(self, method: str, rows: list[dict[str, Any]]) -> bytes:
        return orjson.dumps(rows[0] if method == "PUT" else rows)

    def _keep_beside(self, path: str, doc: dict[str, Any], other: dict[str, Any]) -> None:
        versions = [other | {"_rev": f"1-{'1' * 32}"}, doc | {"_rev": f"1-{'f' * 32}"}]
        url = f"{self.couch_url}/{path.strip('/').partition('/')[0]}/_bulk_docs"
        requests.post(url, json={"docs": versions, "new_edits": False}, timeout=30).raise_for_status()


@pytest.fixture(scope="module")
def node(couch_url: str) -> Iterator[LonelyNode]:
    node = LonelyNode(couch_url)
    with forwarding(couch_url, node.answer) as node.url:
        yield node


@pytest.fixture(scope="module")
def at_node(shop: Shop, node: LonelyNode, service: Callable[..., str]) -> Shop:
    return replace(shop, orders=service("orders", COUCH_URL=node.url))


@pytest.fixture
def lonely(node: LonelyNode) -> Iterator[LonelyNode]:
    yield node
    node.types, node.others = (), {}


def post(shop: Shop, path: str, body: dict[str, Any]) -> requests.Response:
    return shop.admin.post(f"{shop.orders}{path}", json=body, timeout=60)


def test_a_code_that_too_few_nodes_took_belongs_to_nobody(
    shop: Shop, at_node: Shop, lonely: LonelyNode, database: Database
) -> None:
    ten, lonely.types = code(), ("codeclaim",)
    content = {"name": "Unsure", "codes": [ten], "actions": [{"kind": "percent", "basis_points": 1000}]}
    answer = post(at_node, "/v1/admin/promotions", content)
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["Retry-After"]) >= 1
    assert code_key(ten) not in database.get_many([code_key(ten)])
    assert promotion(shop, codes=[ten])["codes"] == [ten.upper()]


def test_of_two_admins_versions_the_confirmed_one_stays(
    shop: Shop, at_node: Shop, lonely: LonelyNode, database: Database
) -> None:
    """CouchDB would show the other one: of two first revisions the higher wins."""
    method = {"id": "unsure", "name": "Confirmed", "rate": "flat", "prices": {"GBP": 100}}
    made = post(shop, "/v1/admin/shipping-methods", method)
    assert made.status_code == 201, made.text
    docid = setting_id(SHIPPING_METHOD, "unsure")
    confirmed = {name: value for name, value in database.get(docid).items() if name != "_rev"}
    database.delete(docid, database.get(docid)["_rev"])
    lonely.types, lonely.others = (confirmed["type"],), {docid: confirmed}
    answer = post(at_node, "/v1/admin/shipping-methods", method | {"name": "Unsure"})
    assert answer.status_code == 409, answer.text
    stored = database.get(docid, conflicts=True)
    assert (stored["name"], "_conflicts" in stored) == ("Confirmed", False)
    database.delete(docid, stored["_rev"])
