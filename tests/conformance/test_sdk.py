"""IBM's Cloudant SDK, unchanged: session authenticator, pagers, ChangesFollower, bulk and attachments."""

import itertools
import threading
import time

import pytest
from ibm_cloud_sdk_core import ApiException
from ibmcloudant import CouchDbSessionAuthenticator
from ibmcloudant.cloudant_v1 import BulkDocs, BulkGetQueryDocument, CloudantV1, Document
from ibmcloudant.features.changes_follower import ChangesFollower
from ibmcloudant.features.pagination import PagerType, Pagination

from .conftest import Couch

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def client(couch: Couch) -> CloudantV1:
    assert couch.auth is not None
    made = CloudantV1(authenticator=CouchDbSessionAuthenticator(*couch.auth))
    made.set_service_url(couch.url)
    return made


@pytest.fixture(scope="module")
def filled(couch: Couch, client: CloudantV1):
    name = couch.make("sdk", "?partitioned=true")[1:]
    docs = [Document(_id=f"p{n % 3}:d{n:04}", n=n, kind="even" if n % 2 == 0 else "odd") for n in range(300)]
    rows = client.post_bulk_docs(name, BulkDocs(docs=docs)).get_result()
    assert all(row["ok"] for row in rows)
    design = {
        "views": {"n": {"map": "function (doc) { emit(doc.n, null) }"}},
        "options": {"partitioned": False},
    }
    client.put_design_document(name, "d", design)
    here = {"views": {"n": {"map": "function (doc) { emit(doc.n, null) }"}}}
    client.put_design_document(name, "here", here)
    yield name
    client.delete_database(name)


def test_the_session(client: CloudantV1):
    assert client.get_session_information().get_result()["userCtx"]["roles"] == ["_admin"]
    assert client.get_server_information().get_result()["version"].startswith("3.")
    assert client.get_up_information().get_result()["status"] == "ok"


def test_documents(client: CloudantV1, filled: str):
    made = client.put_document(filled, "x:1", Document(v=1)).get_result()
    read = client.get_document(filled, "x:1").get_result()
    assert (read["_rev"], read["v"]) == (made["rev"], 1)
    with pytest.raises(ApiException) as conflict:
        client.put_document(filled, "x:1", Document(v=2))
    assert conflict.value.status_code == 409
    assert conflict.value.message == "conflict: Document update conflict."
    with pytest.raises(ApiException) as missing:
        client.get_document(filled, "x:never")
    assert missing.value.status_code == 404
    client.delete_document(filled, "x:1", rev=made["rev"])


def test_bulk_get(client: CloudantV1, filled: str):
    found = client.post_bulk_get(
        filled, [BulkGetQueryDocument(id="p0:d0000"), BulkGetQueryDocument(id="p0:never")]
    )
    first, second = found.get_result()["results"]
    assert first["docs"][0]["ok"]["n"] == 0
    assert second["docs"][0]["error"]["error"] == "not_found"


@pytest.mark.parametrize(
    ("kind", "options", "count"),
    [
        (PagerType.POST_ALL_DOCS, {}, 302),
        (PagerType.POST_PARTITION_ALL_DOCS, {"partition_key": "p1"}, 100),
        (PagerType.POST_VIEW, {"ddoc": "d", "view": "n"}, 300),
        (PagerType.POST_PARTITION_VIEW, {"partition_key": "p2", "ddoc": "here", "view": "n"}, 100),
        (PagerType.POST_FIND, {"selector": {"kind": "even"}}, 150),
        (PagerType.POST_PARTITION_FIND, {"partition_key": "p0", "selector": {"kind": "odd"}}, 50),
    ],
)
def test_pagers(client: CloudantV1, filled: str, kind: PagerType, options: dict, count: int):
    pages = Pagination.new_pagination(client, kind, db=filled, limit=37, **options)
    rows = [row.to_dict() for row in pages.rows()]
    ids = [row.get("id", row.get("_id")) for row in rows]
    assert (len(ids), len(set(ids))) == (count, count)


def test_the_follower_finds_all_and_stops(client: CloudantV1, filled: str):
    seen = [row.id for row in ChangesFollower(service=client, db=filled, include_docs=True).start_one_off()]
    assert len([docid for docid in seen if docid.startswith("p")]) == 300


def test_the_follower_goes_on(client: CloudantV1, couch: Couch):
    name = couch.make("follow")[1:]
    follower = ChangesFollower(service=client, db=name, since="0")
    seen: list[str] = []

    def follow() -> None:
        for row in follower.start():
            seen.append(row.id)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    for number in range(5):
        client.put_document(name, f"d{number}", Document(n=number))
        time.sleep(0.2)
    deadline = time.monotonic() + 20
    while len(seen) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    stopping = threading.Thread(target=follower.stop)  # returns when the request under way has ended
    stopping.start()
    for number in itertools.count():
        client.put_document(name, f"wakes-it{number}", Document())
        stopping.join(0.5)
        if not stopping.is_alive():
            break
    thread.join(60)
    assert not thread.is_alive()
    assert seen[:5] == [f"d{number}" for number in range(5)]
    client.delete_database(name)


def test_attachments(client: CloudantV1, filled: str):
    made = client.put_attachment(
        filled, "att:1", "a.bin", b"\x00\x01\x02", "application/octet-stream"
    ).get_result()
    assert made["ok"] is True
    assert client.get_attachment(filled, "att:1", "a.bin").get_result().content == b"\x00\x01\x02"
    client.delete_document(filled, "att:1", rev=made["rev"])


def test_partition_information(client: CloudantV1, filled: str):
    info = client.get_partition_information(filled, "p1").get_result()
    assert (info["doc_count"], info["partition"]) == (100, "p1")
