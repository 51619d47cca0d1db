"""The client with less work for each call against the SDK's own: the same calls, the same answers."""

import json
import ssl
from typing import Any

import pytest
import requests
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant.cloudant_v1 import CloudantV1

from shared.couch import Server
from shared.couch.answer import Answer
from shared.couch.http import Response
from shared.couch.sdk import Cloudant

JSON = b"Content-Type: application/json"
OPERATIONS: dict[str, dict[str, Any]] = {
    "post_search": {
        "db": "a/b",
        "ddoc": "ä",
        "index": "i",
        "query": "größe:*",
        "limit": 3,
        "include_docs": True,
    },
    "post_partition_search": {
        "db": "d",
        "partition_key": "Home#A B",
        "ddoc": "s",
        "index": "i",
        "query": "x",
        "sort": ["a"],
    },
    "post_partition_find": {
        "db": "d",
        "partition_key": "a:b",
        "selector": {"n": {"$gt": 1}},
        "use_index": ["x", "y"],
    },
    "post_view": {
        "db": "d",
        "ddoc": "s",
        "view": "v",
        "keys": ["é", 1, None],
        "reduce": False,
        "update": "false",
    },
    "get_document": {"db": "d", "doc_id": "p:1/2", "revs_info": True, "rev": None},
    "put_document": {"db": "d", "doc_id": "p:1", "document": {"a": 1, "b": None}},
    "put_document of plain values": {
        "db": "d",
        "doc_id": "p:1",
        "document": {"größe": [1.5, True, '"ü\u2028']},
    },
    "put_document of large numbers": {
        "db": "d",
        "doc_id": "p:1",
        "document": {"n": 2**70, "x": float("inf")},
    },
    "put_document of no number": {"db": "d", "doc_id": "p:1", "document": {"n": float("nan")}},
    "put_document of bytes": {"db": "d", "doc_id": "p:1", "document": b"{}", "content_type": "text/plain"},
    "post_bulk_docs": {"db": "d", "bulk_docs": {"docs": [{"_id": "a", "n": None}]}},
    "post_bulk_docs of plain values": {"db": "d", "bulk_docs": {"docs": [{"_id": "é", "n": {"1": []}}]}},
    "post_changes": {"db": "d", "since": "0", "include_docs": False, "limit": 5, "headers": {"X-Own": "1"}},
    "get_database_information": {"db": "d+e"},
    "get_up_information": {},
    "head_document": {"db": "d", "doc_id": "x"},
}


class Session(requests.Session):
    """Keeps what it is given, and answers the same each time."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response, self.sent = response, {}

    def request(self, method: str, url: str, **given: Any) -> Answer:  # type: ignore[override]
        body = given["data"]
        self.sent = {
            "method": method,
            "url": url,
            "headers": {name.lower(): value for name, value in given["headers"].items()},
            "params": given["params"] or {},
            "body": body.read() if hasattr(body, "read") else body,
        }
        return Answer(self.response)


def client(kind: type[CloudantV1], response: Response) -> tuple[CloudantV1, Session]:
    address, authenticator, session = (
        "http://127.0.0.1:1/under/",
        BasicAuthenticator("user", "secret"),
        Session(response),
    )
    if kind is Cloudant:
        return Cloudant(address, authenticator, session), session
    made = CloudantV1(authenticator=authenticator)
    made.set_service_url(address)
    made.set_http_client(session)
    made.set_enable_gzip_compression(False)
    return made, session


def test_it_has_all_that_the_sdk_s_own_has() -> None:
    own, ours = (vars(client(kind, Response(200, [JSON], b"{}"))[0]) for kind in (CloudantV1, Cloudant))
    assert ours.keys() == own.keys()
    unlike = {"authenticator", "jar", "http_client", "http_adapter", "http_config", "user_agent_header"}
    assert [name for name in own.keys() - unlike if own[name] != ours[name]] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_sends_what_the_sdk_sends(operation: str) -> None:
    sent = []
    for kind in (CloudantV1, Cloudant):
        made, session = client(kind, Response(200, [JSON], b"{}"))
        getattr(made, operation.partition(" ")[0])(**OPERATIONS[operation])
        if isinstance(session.sent["body"], bytes):  # repr, because NaN is not equal to itself
            session.sent["body"] = repr(json.loads(session.sent["body"]))
        sent.append(session.sent)
    assert sent[0] == sent[1]


@pytest.mark.parametrize(
    "response",
    [
        Response(200, [JSON], b'{"a":[1]}'),
        Response(201, [b"content-type: application/json; charset=utf-8"], b"[]"),
        Response(200, [JSON], b""),
        Response(204, [], b""),
    ],
)
def test_answers_what_the_sdk_answers(response: Response) -> None:
    answers = [client(kind, response)[0].post_search("d", "s", "i", "x") for kind in (CloudantV1, Cloudant)]
    assert answers[0].get_result() == answers[1].get_result()
    assert answers[0].get_status_code() == answers[1].get_status_code() == response.status


def test_what_is_not_json_is_handed_on() -> None:
    made, _ = client(Cloudant, Response(200, [b"Content-Type: image/png"], b"png"))
    assert made.get_attachment("d", "p", "a").get_result().content == b"png"


def test_an_error_is_the_sdk_s() -> None:
    made, _ = client(Cloudant, Response(404, [JSON], b'{"error":"not_found","reason":"missing"}'))
    with pytest.raises(ApiException) as raised:
        made.get_document("d", "p")
    assert raised.value.status_code == 404


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("get_document", ("d", "_all_docs")),
        ("put_document", ("d", "_x", {"a": 1})),
        ("get_attachment", ("d", "a", "_x")),
    ],
)
@pytest.mark.parametrize("kind", [CloudantV1, Cloudant])
def test_an_id_that_begins_with_an_underscore_is_refused(
    kind: type[CloudantV1], operation: str, arguments: tuple[Any, ...]
) -> None:
    made, session = client(kind, Response(200, [JSON], b"{}"))
    with pytest.raises(ValueError, match="invalid _ character"):
        getattr(made, operation)(*arguments)
    assert session.sent == {}


def test_no_certificates_are_read_for_a_client_that_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **options: read.append(options))
    server = Server("http://127.0.0.1:1")
    assert read == []
    assert server.client.sdk.get_http_client() is not None
