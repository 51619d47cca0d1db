"""CouchDB's own replicator, and minicouch's, syncs a database of its server's with a customer's data, as unchanged as PouchDB."""

import os
import secrets
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests

from tests.services.users.sync_devices import ADDRESS, SYNC, basket, goods, products, users_url

__all__ = ["goods", "products", "users_url"]

pytestmark = pytest.mark.skipif(
    urlsplit(os.environ.get("COUCH_URL", "http://127.0.0.1")).hostname not in ("127.0.0.1", "localhost"),
    reason="a server elsewhere may not reach this machine",
)


@pytest.fixture
def copy(environment: dict[str, str]) -> Iterator[str]:
    """The address of an empty database beside the shop's."""
    url = f"{environment['COUCH_URL']}/copied-{secrets.token_hex(4)}"
    assert requests.put(url, timeout=30).status_code in (201, 202)
    yield url
    requests.delete(url, timeout=30)


def replicate(copy: str, source: object, target: object) -> dict:
    server = copy.rpartition("/")[0]
    answer = requests.post(f"{server}/_replicate", json={"source": source, "target": target}, timeout=60)
    assert (answer.status_code, answer.json().get("ok")) == (200, True), answer.text
    return answer.json()


def documents(copy: str) -> dict[str, dict]:
    rows = requests.get(f"{copy}/_all_docs?include_docs=true&conflicts=true", timeout=30).json()["rows"]
    return {row["id"]: row["doc"] for row in rows}


def test_a_servers_replicator_pulls_edits_and_pushes(person, goods, copy):
    ann = person(name="Ann")
    shop = {"url": ann.base + SYNC, "headers": {"Authorization": f"Bearer {ann.token}"}}
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 2})
    replicate(copy, shop, copy)
    there = documents(copy)
    assert there.keys() == {"profile", "preferences", f"basket-{goods[0]}"}
    edits = [
        {**there[f"basket-{goods[0]}"], "quantity": 5},
        {**there["profile"], "name": "Ann Doe"},
        {"_id": f"basket-{goods[1]}", "type": "basketline", "productid": goods[1], "quantity": 1},
        {"_id": "deliverycopied01", "type": "userdelivery", "default": True, **ADDRESS},
    ]
    requests.post(f"{copy}/_bulk_docs", json={"docs": edits}, timeout=30)
    pushed = replicate(copy, copy, shop)
    assert basket(ann) == {goods[0]: 5, goods[1]: 1}
    assert ann.get("/v1/users/me").json()["name"] == "Ann Doe"
    assert len(ann.get("/v1/users/me/addresses").json()["items"]) == 1
    assert (pushed["history"][0]["docs_written"], pushed["history"][0]["doc_write_failures"]) == (4, 0), (
        pushed
    )
    ann.delete(f"/v1/users/me/basket/{goods[0]}")
    replicate(copy, shop, copy)
    assert documents(copy).keys() == {"profile", "preferences", f"basket-{goods[1]}", "deliverycopied01"}
    again = replicate(copy, shop, copy)
    assert again.get("no_changes") or again["history"][0]["docs_written"] == 0, (
        "it goes on from its checkpoint"
    )
    assert [doc["_id"] for doc in documents(copy).values() if "_conflicts" in doc] == []


def test_a_servers_replicator_without_a_token_gets_nothing(person, copy):
    ann = person()
    shop = {"url": ann.base + SYNC, "headers": {"Authorization": "Bearer nothing"}}
    server = copy.rpartition("/")[0]
    answer = requests.post(f"{server}/_replicate", json={"source": shop, "target": copy}, timeout=60)
    assert not answer.ok, answer.text
    assert documents(copy) == {}
