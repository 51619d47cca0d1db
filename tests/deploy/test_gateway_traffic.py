"""nginx itself, with our configuration, in front of the running shop: slow sockets hold nobody else up, limits answer 429."""

import base64
import contextlib
import os
import secrets
import select
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import orjson
import pytest
import requests

from deploy.checks.files import gateway_for
from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.processes import Process, answers, free_port
from tests.raw_http import RawConnection, raw_connection

pytestmark = pytest.mark.deployment
HERE, ELSEWHERE, NOISY = "127.0.0.1", "127.0.0.2", "127.0.0.3"
PRODUCT = {
    "productid": "mug",
    "name": "Red Mug",
    "taxonomy": ["Home", "Mugs"],
    "keywords": [],
    "brand": "Oak",
    "colours": [],
    "description": "",
    "price": {"amount": 950, "currency": "GBP"},
    "delivery": {"amount": 0, "currency": "GBP"},
    "image": "",
}
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Gateway:
    """nginx in front of a shop with one product in it; `admin` is an access token, `asset` the path of a script."""

    url: str
    admin: str
    asset: str


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("gateway")
    settings = {"WEB_WORKERS": "1", "TRUSTED_PROXIES": "1", "PROXY_HOPS": "1"}
    with running_shop(folder / "shop", **settings) as shop, nginx(shop, folder) as url:
        login = {"email": ADMIN_EMAIL, "password": shop.admin_password}
        token = requests.post(f"{url}/v1/sessions", json=login, timeout=30).json()["access_token"]
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
        imported = requests.post(f"{url}/v1/products/import", orjson.dumps(PRODUCT), headers=sent, timeout=30)
        assert imported.json()["created"] == 1, imported.text
        home = requests.get(url, timeout=30).text
        yield Gateway(url, token, home.split('src="')[1].split('"')[0])


@contextlib.contextmanager
def nginx(shop: Shop, folder: Path) -> Iterator[str]:
    with gateway_before(shop.urls, folder) as url:
        yield url


@contextlib.contextmanager
def gateway_before(urls: dict[str, str], folder: Path, **replicas: tuple[str, ...]) -> Iterator[str]:
    """nginx with our configuration before these services, of some of which there are several `replicas`."""
    port = free_port()
    addresses = {
        name: "; server ".join(each.removeprefix("http://") for each in replicas.get(name, (url,)))
        for name, url in urls.items()
    }
    text = gateway_for(addresses).replace("/tmp/", f"{folder}/").replace("listen 8080;", f"listen {port};")
    (folder / "nginx.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    command = ["nginx", "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    process = Process("nginx", [*command, "-g", f"daemon off; {user}"], folder / "nginx.log")
    process.wait_until(answers(f"http://127.0.0.1:{port}/gateway/health"))
    yield f"http://127.0.0.1:{port}"
    process.stop()


def silent(connection: RawConnection, gateway: Gateway) -> None:
    """Connects and says nothing."""


def half_a_head(connection: RawConnection, gateway: Gateway) -> None:
    connection.send(b"GET / HTTP/1.1\r\nHost: shop\r\nX-Slow: ")


def half_a_form(connection: RawConnection, gateway: Gateway) -> None:
    connection.send_head("POST", "/basket", Content_Type=FORM, Content_Length="200")
    connection.send(b"productid=")


def half_a_large_form(connection: RawConnection, gateway: Gateway) -> None:
    connection.send_head("POST", "/basket", Content_Type=FORM, Content_Length="900000")
    connection.send(b"x" * 100_000)


def half_an_import_by_nobody(connection: RawConnection, gateway: Gateway) -> None:
    connection.send_head(
        "POST", "/admin/import", Content_Type="multipart/form-data; boundary=x", Content_Length="30000000"
    )
    connection.send(b"--x\r\n")


def half_an_api_import_by_nobody(connection: RawConnection, gateway: Gateway) -> None:
    connection.send_head(
        "POST", "/v1/products/import", Content_Type="application/x-ndjson", Transfer_Encoding="chunked"
    )
    connection.send(b"1\r\n{\r\n")


def half_an_import(connection: RawConnection, gateway: Gateway) -> None:
    """By an admin."""
    connection.send_head(
        "POST",
        "/v1/products/import",
        Content_Type="application/x-ndjson",
        Content_Length="30000000",
        Authorization=f"Bearer {gateway.admin}",
    )
    connection.send(b"{")


def unread_answers(connection: RawConnection, gateway: Gateway) -> None:
    connection.socket.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        for _ in range(20):
            connection.send_head("GET", gateway.asset)


KINDS = [
    silent,
    half_a_head,
    half_a_form,
    half_a_large_form,
    half_an_import_by_nobody,
    half_an_api_import_by_nobody,
    half_an_import,
    unread_answers,
]
Kind = Callable[[RawConnection, Gateway], None]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("count", "source"), [(8, HERE), (200, ELSEWHERE)])
def test_a_visitor_is_served_beside_slow_sockets(
    gateway: Gateway, kind: Kind, count: int, source: str
) -> None:
    """Eight may sit in the visitor's own office, behind the same address."""
    with contextlib.ExitStack() as stack:
        small = 4096 if kind is unread_answers else None
        for _ in range(count):
            connection = stack.enter_context(raw_connection(gateway.url, source=source, receive_buffer=small))
            kind(connection, gateway)
        for _ in range(3):
            for path in ("/", "/category/Home", "/product/mug", "/search?q=mug", "/login", gateway.asset):
                assert requests.get(f"{gateway.url}{path}", timeout=30).status_code == 200, path
        assert requests.get(f"{gateway.url}/v1/products/mug", timeout=30).status_code == 200
        lookup = requests.post(f"{gateway.url}/v1/products/lookup", json={"productids": ["mug"]}, timeout=30)
        assert lookup.json()["missing"] == []


def test_too_many_requests_from_one_address_are_told_to_wait(gateway: Gateway) -> None:
    """An API's client as a problem, a person as a page; others are served meanwhile."""
    for path, kind in (("/v1/categories", "application/problem+json"), ("/robots.txt", "text/html")):
        with raw_connection(gateway.url, source=NOISY) as connection:
            for _ in range(5000):
                connection.send_head("GET", path)
                answer = connection.response()
                if answer.status == 429:
                    break
                assert answer.status == 200
        assert (answer.status, answer.headers["content-type"].split(";")[0]) == (429, kind)
        assert int(answer.headers["retry-after"]) > 0
        assert requests.get(f"{gateway.url}/", timeout=30).status_code == 200
    assert b"<h1>Too Many Requests</h1>" in answer.body


def test_assets_are_not_counted(gateway: Gateway) -> None:
    with raw_connection(gateway.url, source="127.0.0.4") as connection:
        for _ in range(900):
            connection.send_head("HEAD", gateway.asset)
        stream = connection.socket.makefile("rb")
        statuses = [line for line in (stream.readline() for _ in range(2000)) if line.startswith(b"HTTP/")]
    assert len(statuses) > 50
    assert {line.split()[1] for line in statuses} == {b"200"}


def test_guessing_passwords_is_slowed_down_by_address(gateway: Gateway) -> None:
    """A burst of 50, then five a second; reading goes on."""
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            connection = stack.enter_context(raw_connection(gateway.url, source="127.0.0.5"))
            for _ in range(20):
                connection.send_head(
                    "POST", "/v1/sessions", Content_Type="application/json", Content_Length="2"
                )
                connection.send(b"{}")
                answer = connection.response()
                if answer.status == 429:
                    break
                assert answer.status == 422
        connection.send_head("GET", "/v1/categories")
        assert connection.response().status == 200
    found = orjson.loads(answer.body)
    assert (answer.status, found["status"], found["code"]) == (429, 429, "too_many_requests")
    assert found["instance"] == f"urn:aisle:request:{answer.headers['x-request-id']}"


def test_one_address_sends_four_imports_at_once(gateway: Gateway) -> None:
    with contextlib.ExitStack() as stack:
        imports = [stack.enter_context(raw_connection(gateway.url, source="127.0.0.6")) for _ in range(6)]
        for connection in imports:
            half_an_import(connection, gateway)
        refused: list[RawConnection] = []
        while len(refused) < 2:
            waiting = [connection.socket for connection in imports if connection not in refused]
            assert select.select(waiting, [], [], 60)[0], "more than four were taken"
            refused = [connection for connection in imports if connection.has_answer()]
        assert [connection.response().status for connection in refused] == [429, 429]


@pytest.mark.parametrize("path", ["/v1/orders", "/v1/products/lookup"])
def test_too_large_a_body_is_refused_with_a_problem(gateway: Gateway, path: str) -> None:
    with raw_connection(gateway.url) as connection:
        connection.send_head("POST", path, Content_Type="application/json", Content_Length="9000000")
        answer = connection.response()
    found = orjson.loads(answer.body)
    assert (answer.status, found["code"], found["status"]) == (413, "too_large", 413)
    assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_not_for_the_outside_is_a_404_in_kind(gateway: Gateway) -> None:
    inside = requests.get(f"{gateway.url}/v1/internal/x", timeout=30)
    assert (inside.status_code, inside.json()["code"]) == (404, "not_found")
    page = requests.get(f"{gateway.url}/metrics", timeout=30)
    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")


def test_accept_encoding_is_passed_on_and_nothing_encoded_twice(gateway: Gateway) -> None:
    plain = requests.get(f"{gateway.url}/", headers={"Accept-Encoding": "identity"}, timeout=30)
    assert "Content-Encoding" not in plain.headers
    packed = requests.get(f"{gateway.url}/", headers={"Accept-Encoding": "gzip"}, timeout=30)
    assert packed.text.startswith("<!doctype html>")


def test_devices_wait_for_changes_through_the_gateway(gateway: Gateway) -> None:
    """More of them than a service has threads, until something changes; who waits in vain is answered, not cut off."""
    customer, feed = {"Authorization": f"Bearer {gateway.admin}"}, f"{gateway.url}/v1/users/me/sync/_changes"

    def told(since: str, **more: str) -> requests.Response:
        asked = {"since": since, **more}
        return requests.get(feed, params=asked, headers=customer, timeout=60)

    since = told("0").json()["last_seq"]
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(told, since, feed="longpoll") for _ in range(20)]
        put = requests.put(
            f"{gateway.url}/v1/users/me/basket/mug", json={"quantity": 2}, headers=customer, timeout=30
        )
        assert put.status_code == 200, put.text
        heard = [each.result().json() for each in waiting]
    assert [[row["id"] for row in each["results"]] for each in heard] == [["basket-mug"]] * 20
    since = heard[0]["last_seq"]
    in_vain = told(since, feed="longpoll")
    assert (in_vain.status_code, in_vain.json()["results"]) == (200, [])


def test_devices_wait_for_a_category_whose_name_holds_slashes_through_the_gateway(gateway: Gateway) -> None:
    """The name stands in the address encoded twice: it comes through as it was sent, to the API's path and to the page's own."""
    category = "Home#Bread & jam/honey 100%"
    levels = category.split("#")
    admin = {"Authorization": f"Bearer {gateway.admin}", "Content-Type": "application/x-ndjson"}

    def load(name: str) -> None:
        line = orjson.dumps(PRODUCT | {"productid": name, "taxonomy": levels})
        done = requests.post(f"{gateway.url}/v1/products/import", line, headers=admin, timeout=30)
        assert done.json()["failed"] == [], done.text

    load("jam-1")
    key = quote(quote(category, safe=""), safe="")
    own = base64.urlsafe_b64encode(category.encode()).decode().rstrip("=")
    for feed in (
        f"{gateway.url}/v1/products/sync/{key}/_changes",
        f"{gateway.url}/device/kept/{own}/_changes",
    ):
        name = f"jam-{secrets.token_hex(4)}"
        first = requests.get(feed, timeout=30)
        assert first.status_code == 200, first.text
        assert "product-jam-1" in {row["id"] for row in first.json()["results"]}
        asked = {"since": first.json()["last_seq"], "feed": "longpoll"}
        with ThreadPoolExecutor(20) as pool:
            waiting = [pool.submit(requests.get, feed, asked, timeout=60) for _ in range(20)]
            assert requests.get(gateway.url, timeout=30).status_code == 200, "who waits holds no thread"
            load(name)
            heard = [each.result().json() for each in waiting]
        assert [{row["id"] for row in each["results"]} for each in heard] == [
            {"category", f"product-{name}"}
        ] * 20
