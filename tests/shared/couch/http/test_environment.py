"""What the environment decides: certificates, proxies; and what a fork must not."""

import os
import socket
import ssl
import threading
from pathlib import Path

import pytest

from shared.couch.http import HttpClient, NotSent
from tests.shared.couch.http.servers import Authority, Connection, answering, response, serving

SOON = 10.0
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (
        *CERTIFICATES,
        "http_proxy",
        "https_proxy",
        "HTTPS_PROXY",
        "no_proxy",
        "NO_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def get(url: str, client: HttpClient | None = None) -> bytes:
    return (client or HttpClient()).request("GET", url, {"Authorization": "Basic x"}, timeout=SOON).body


@pytest.mark.parametrize("variable", CERTIFICATES)
def test_an_authority_of_the_house_is_trusted_when_the_environment_names_it(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with serving(answering, authority.server("127.0.0.1")) as server:
        with pytest.raises(NotSent):
            get(f"{server.url}/secret")
        monkeypatch.setenv(variable, str(authority.file))
        client = HttpClient()
        assert [get(f"{server.url}/{n}", client) for n in "ab"] == [b"/a", b"/b"]
        assert server.connections == 2, "one refused, one kept"
    assert not any(b"secret" in request for request in server.seen)


def test_a_certificate_for_another_name_is_refused(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    with serving(answering, authority.server("elsewhere.test")) as server, pytest.raises(NotSent):
        get(f"{server.url}/secret")
    assert server.seen == []


def test_http_goes_through_the_proxy_and_this_machine_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answering) as proxy, serving(answering) as here:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert get("http://database.test:5984/db") == b"http://database.test:5984/db"
        assert get(f"{here.url}/db") == b"/db"
        monkeypatch.setenv("no_proxy", "database.test")
        with pytest.raises(NotSent):
            get("http://database.test:5984/db")
    assert len(proxy.seen) == 1


def test_https_goes_through_the_proxy_as_a_tunnel(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy connects whoever asks to the one server there is; what is said inside it cannot read."""
    with serving(answering, authority.server("database.test")) as server:

        def tunnel(connection: Connection) -> None:
            connection.read()
            with socket.create_connection(("127.0.0.1", server.port)) as inside:
                connection.send(response(b"", "200 Connection established", "X-Proxy: yes"))
                back = threading.Thread(target=_copy, args=(inside, connection.sock), daemon=True)
                back.start()
                _copy(connection.sock, inside)

        with serving(tunnel) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
            answer = HttpClient().request(
                "GET", "https://database.test/db", {"Authorization": "Basic x"}, timeout=SOON
            )
    assert answer.body == b"/db"
    assert "x-proxy" not in answer.headers, "the proxy's answer is not the server's"
    assert proxy.seen[0].startswith(b"CONNECT database.test:443 ")
    assert b"Basic" not in proxy.seen[0]


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
    except OSError:
        return


@pytest.mark.parametrize("secure", [False, True])
def test_a_forked_child_leaves_its_parents_connections_alone(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, secure: bool
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    context: ssl.SSLContext | None = authority.server("127.0.0.1") if secure else None
    with serving(answering, context) as server:
        client = HttpClient()
        assert get(f"{server.url}/parent", client) == b"/parent"
        child = os.fork()
        if child == 0:
            ok = False
            try:
                ok = get(f"{server.url}/child", client) == b"/child"
                client.close()
            finally:
                os._exit(0 if ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert server.connections == 2, "the child made one of its own"
        assert get(f"{server.url}/parent-again", client) == b"/parent-again"
        assert server.connections == 2, "and the parent still has its own"
