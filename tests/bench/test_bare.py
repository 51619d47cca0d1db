"""The yardstick of the bench, beside a database that does not answer."""

import socket
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from tests.bench.bare import create_app

CALL = [{"operation": "get_document", "arguments": {"db": "goods", "doc_id": "a"}}]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        monkeypatch.setenv("BARE_COUCH_URL", f"http://127.0.0.1:{held.getsockname()[1]}")
        monkeypatch.setenv("BARE_COUCH_USERNAME", "admin")
        monkeypatch.setenv("BARE_COUCH_PASSWORD", "secret")
        yield create_app().test_client()


@pytest.mark.parametrize("path", ["/ours", "/sdk"])
def test_it_says_503_as_the_shop_does(bare: FlaskClient, path: str) -> None:
    """Else a row is not measured, for a fault that neither has."""
    assert bare.post(path, json=CALL).status_code == 503
