"""The products service over the sample's products, answering HTTP in one search dialect of its database server."""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from werkzeug.serving import WSGIRequestHandler, make_server

from services.products.actions import importing
from services.products.app import create_app
from services.products.dependencies import open_dependencies
from services.products.documents import DESIGN
from services.products.settings import Settings
from shared.couch.client import Client
from shared.database import LONG_TIMEOUT, open_server
from shared.settings import load

DIALECTS = {"_search": "search", "_nouveau": "nouveau", "keyword view": "keywords"}
"""By what the server would have to offer, alone, for the shop to speak it."""

PAGE, MAX_PAGES = 100, 300
BUILDING_SECONDS = 600
"""How long a server may build the index of what was just imported."""


class Shop:
    """A shop's product list, asked over HTTP."""

    def __init__(self, url: str) -> None:
        self._url, self._session = url, requests.Session()

    def ask(self, **query: Any) -> dict[str, Any]:
        ends = time.monotonic() + BUILDING_SECONDS
        while True:
            answer = self._session.get(f"{self._url}/v1/products", params=query, timeout=60)
            if answer.status_code != 503 or time.monotonic() > ends:
                break
            time.sleep(1)
        answer.raise_for_status()
        return answer.json()

    def wait_for(self, products: list[dict[str, Any]]) -> None:
        """Until the index has what was imported last: while it is built a server answers from what there is of it."""
        ends = time.monotonic() + BUILDING_SECONDS
        last = products[-1]["productid"]
        while last not in (each["productid"] for each in self.ask(q=f"{last} ", limit=5)["items"]):
            if time.monotonic() > ends:
                raise TimeoutError(f"the index was not built within {BUILDING_SECONDS} s")
            time.sleep(1)

    def found(self, text: str) -> list[str]:
        """The ids of what a search shows, page by page."""
        ids: list[str] = []
        cursor = None
        for _ in range(MAX_PAGES):
            page = self.ask(q=text, limit=PAGE, **({"cursor": cursor} if cursor else {}))
            ids += [each["productid"] for each in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        return ids


@contextmanager
def shop(couch_url: str, redis_url: str, dialect: str, products: list[dict[str, Any]]) -> Iterator[Shop]:
    """A shop in this process with a database of its own, dropped at the end."""
    environment = {
        "AISLE_ENV": "local",
        "COUCH_URL": couch_url,
        "REDIS_URL": redis_url,
        "DATABASE_PREFIX": f"bench{secrets.token_hex(4)}-",
        "LOG_LEVEL": "ERROR",
        "ACCESS_LOG": "false",
    }
    settings = load(Settings, environment)
    with _speaking(DIALECTS[dialect]):
        server = open_server(settings, LONG_TIMEOUT)
        server.prepare([DESIGN], progress=lambda line: None)
        lines = (importing.Line(number, each) for number, each in enumerate(products, 1))
        importing.run(open_dependencies(settings, LONG_TIMEOUT), lines, lambda state: None, importing.write)
        http = make_server("127.0.0.1", 0, create_app(settings), threaded=True, request_handler=_Quiet)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        try:
            opened = Shop(f"http://127.0.0.1:{http.server_port}")
            opened.wait_for(products)
            yield opened
        finally:
            http.shutdown()
            server.client.call("delete_database", db=server.name_of(DESIGN))


@contextmanager
def _speaking(feature: str) -> Iterator[None]:
    """As if every database server offered this feature alone."""
    real = Client.features
    Client.features = lambda self: frozenset({feature, *(real(self) - set(DIALECTS.values()))})  # type: ignore[method-assign]
    try:
        yield
    finally:
        Client.features = real  # type: ignore[method-assign]


class _Quiet(WSGIRequestHandler):
    def log_request(self, *_: Any) -> None:
        """Nothing: the figures are the output."""
