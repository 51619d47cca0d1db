"""Pictures that an import fetches: from the public network alone, bounded, each once."""

import socket
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from services.products.clients.picture_downloads import NotFetched, PictureDownloads
from tests.pictures import encoded, photo
from tests.services.products.conftest import ADMIN, Neighbours, Shop, token

HEADER = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Image Position,Image Alt Text,Variant Image\n"
STAFF = token(*ADMIN)


class Site:
    """A web site with pictures; `asked` are the paths."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                if self.path.startswith("/slow"):
                    time.sleep(30)
                elif self.path.startswith("/to/"):
                    self.send_response(302)
                    self.send_header("Location", self.path.removeprefix("/to/"))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif self.path.endswith(".jpg"):
                    self._answer(encoded(photo(40 + len(self.path), 30), "JPEG"))
                elif self.path == "/huge":
                    self._answer(b"\xff\xd8\xff" + bytes(6_000_000))
                elif self.path == "/page":
                    self._answer(b"<html>no picture</html>")
                else:
                    self.send_error(404)

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.server.shutdown()


@pytest.fixture(scope="module")
def trusting(shop: Shop, service: Callable, neighbours: Neighbours) -> Shop:
    """The same shop, whose keeper lets it fetch from this machine."""
    url = service(
        "products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, PICTURE_NETWORKS="127.0.0.0/8"
    )
    return Shop(url, neighbours)


def load(shop: Shop, rows: str, **query: Any) -> Any:
    headers = STAFF | {"Content-Type": "text/csv"}
    answer = shop.request(
        "POST", "/v1/products/import", (HEADER + rows).encode(), headers, format="shopify", **query
    )
    assert answer.status == 200, answer.body
    return answer.json


def rows_of(handle: str, url: str) -> str:
    return (
        f"{handle},Cap,Size,S,{handle}-s,5,{url}/b.jpg,2,From behind,{url}/variant.jpg\n"
        f"{handle},,,M,{handle}-m,5,{url}/aa.jpg,1,From the front,\n"
        f"{handle},,,,,,{url}/missing,3,,\n"
    )


def test_pictures_are_kept_in_their_order_and_fetched_once(trusting: Shop, site: Site) -> None:
    report = load(trusting, rows_of("cap", site.url))
    assert report["created"] == 1, report
    assert [(each["line"], each["code"]) for each in report["notes"]] == [(2, "picture_not_fetched")]
    cap = trusting.ok("/v1/products/cap")
    assert [each["alt"] for each in cap["pictures"]] == ["From the front", "From behind"]
    for address in (cap["image"], cap["variants"][0]["picture"]):
        assert trusting.get(address).headers["Content-Type"] == "image/jpeg"
    before = len(site.asked)
    again = load(trusting, rows_of("cap", site.url))
    assert again["unchanged"] == 1
    assert site.asked[before:] == ["/missing"]


def test_nothing_private_is_asked(shop: Shop, site: Site) -> None:
    before = list(site.asked)
    report = load(shop, rows_of("hat", f"{site.url}/hat"))
    assert report["created"] == 1
    assert "127.0.0.1 is not an address of the public network." in report["notes"][0]["detail"]
    assert site.asked == before
    hat = shop.ok("/v1/products/hat")
    assert (hat["image"], hat["pictures"]) == (f"{site.url}/hat/aa.jpg", [])


def test_pictures_may_stay_where_they_are_or_be_left_aside(shop: Shop, site: Site) -> None:
    before = list(site.asked)
    load(shop, rows_of("far", site.url), pictures="reference")
    assert shop.ok("/v1/products/far")["image"] == f"{site.url}/aa.jpg"
    load(shop, rows_of("bare", site.url), pictures="none")
    assert shop.ok("/v1/products/bare")["image"] == ""
    assert site.asked == before


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:PORT/a.jpg",
        "http://localhost:PORT/a.jpg",
        "http://[::1]:PORT/a.jpg",
        "http://[::ffff:127.0.0.1]:PORT/a.jpg",
        "http://2130706433:PORT/a.jpg",
        "http://0x7f.1:PORT/a.jpg",
        "http://0.0.0.0:PORT/a.jpg",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/a.jpg",
        "file:///etc/passwd",
        "gopher://127.0.0.1:PORT/a.jpg",
    ],
)
def test_no_spelling_of_a_private_address_is_asked(site: Site, address: str) -> None:
    before = list(site.asked)
    found = PictureDownloads(1000).fetch(address.replace("PORT", str(site.server.server_port)))
    assert isinstance(found, NotFetched)
    assert site.asked == before


def test_a_redirect_to_a_private_address_is_not_followed(site: Site) -> None:
    """This machine's 127.0.0.1 is allowed; the other addresses of its loopback network are not."""
    downloads = PictureDownloads(100_000, "127.0.0.1/32")
    port = site.server.server_port
    assert isinstance(downloads.fetch(f"{site.url}/to/{site.url}/b.jpg"), bytes)
    found = downloads.fetch(f"{site.url}/to/http://127.0.0.2:{port}/b.jpg")
    assert isinstance(found, NotFetched)
    assert "127.0.0.2" in found.detail
    assert isinstance(downloads.fetch(f"{site.url}/to/file:///etc/passwd"), NotFetched)
    assert isinstance(downloads.fetch(f"{site.url}/to//to//to//to//to/{site.url}/b.jpg"), NotFetched)


def test_what_is_too_large_or_no_picture_or_nowhere_is_noted(trusting: Shop, site: Site) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}/x.jpg"
    rows = f"bag,Bag,Title,Default Title,,5,{site.url}/huge,1,,\nbag,,,,,,{site.url}/page,2,,\nbag,,,,,,{nowhere},3,,\n"
    report = load(trusting, rows)
    details = " ".join(each["detail"] for each in report["notes"])
    for words in ("more than 5000000 bytes", "not a JPEG", "nothing answers there"):
        assert words in details
    assert report["created"] == 1
