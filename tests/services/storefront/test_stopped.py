"""Pages while the database, or the products service itself, stands still (SIGSTOP): everybody is answered in time, later ones at once."""

import itertools
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.products.documents import DESIGN
from shared.couch import Server
from tests.processes import Process, free_port, start_minicouch, start_service
from tests.services.storefront.visitor import Page, Visitor

IN_TIME, SLACK, READERS = 3.0, 2.5, 24
PAGES = ("/search?q=mug", "/category/Home?sort=price", "/product/p1?reviews=", "/search?q=cup")


@dataclass(frozen=True)
class Parts:
    url: str
    by_name: dict[str, Process]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Iterator[Parts]:
    """A storefront and a products service with a database of its own."""
    folder: Path = tmp_path_factory.mktemp("stopped")
    couch, couch_url = start_minicouch(folder / "data")
    Server(couch_url).prepare([DESIGN], progress=lambda line: None)
    nobody = f"http://127.0.0.1:{free_port()}"
    env = {
        **environment,
        "USERS_URL": nobody,
        "ORDERS_URL": nobody,
        "COUCH_URL": couch_url,
        "DATABASE_PREFIX": "",
    }
    products, products_url = start_service("products", folder / "products.log", env)
    storefront, url = start_service(
        "storefront", folder / "storefront.log", {**env, "PRODUCTS_URL": products_url}
    )
    found = {"minicouch": couch, "products": products, "storefront": storefront}
    yield Parts(url, found)
    for process in found.values():
        process.kill()


@contextmanager
def stopped(process: Process) -> Iterator[None]:
    os.killpg(process.popen.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(process.popen.pid, signal.SIGCONT)


def visit(url: str, page: str) -> tuple[float, Page]:
    began = time.monotonic()
    found = Visitor(url).get(page)
    return time.monotonic() - began, found


def new_pages() -> list[str]:
    """Addresses that the storefront cannot have kept."""
    return [f"{page}&view={time.time_ns()}" for page in PAGES]


def visit_at_once(url: str, visitors: int) -> list[tuple[float, Page]]:
    pages = itertools.islice(itertools.cycle(new_pages()), visitors)
    with ThreadPoolExecutor(visitors) as pool:
        return list(pool.map(lambda page: visit(url, page), pages))


def statuses(url: str) -> list[int]:
    return [Visitor(url).get(path).status for path in new_pages()]


def until_well(url: str) -> None:
    ends = time.monotonic() + 60
    while 503 in statuses(url):
        assert time.monotonic() < ends
        time.sleep(0.2)


@pytest.mark.parametrize("name", ["minicouch", "products"])
def test_a_page_is_answered_in_time_whoever_stands_still(parts: Parts, name: str) -> None:
    until_well(parts.url)
    with stopped(parts.by_name[name]):
        found = visit_at_once(parts.url, READERS)
        assert {page.status for _, page in found} == {503}
        assert max(seconds for seconds, _ in found) < IN_TIME + SLACK
        assert all(
            "unavailable at the moment" in page.text and page.headers["Retry-After"] for _, page in found
        )
        assert not any("127.0.0.1" in page.body.decode() for _, page in found)
        later = visit_at_once(parts.url, READERS)
        assert {page.status for _, page in later} == {503}
        assert max(seconds for seconds, _ in later) < IN_TIME / 2, "nobody waits for what is known to be away"
    back = time.monotonic()
    until_well(parts.url)
    assert time.monotonic() - back < IN_TIME + SLACK, "it mends itself"
