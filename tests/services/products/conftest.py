"""A products service of its own for each test module, with what surrounds it: keys to sign tokens, and who bought what."""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import orjson
import pytest
import urllib3
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.products.dependencies import Dependencies, open_dependencies
from services.products.documents import DESIGN
from services.products.settings import Settings
from shared.couch import Server
from shared.settings import load
from tests.waiting import Holds, holding

KEY = Ed25519PrivateKey.generate()
SEARCHED = ("/v1/products", "/v1/products/suggest")
SERVICE = {"Authorization": "Service a service secret of this test run"}


def token(userid: str = "u1", *roles: str, group: str = "") -> dict[str, str]:
    """The header of somebody who is logged in, for longer than all tests take: modules make theirs when they are collected."""
    now = int(time.time())
    claims = {
        "iss": "aisle",
        "sub": userid,
        "iat": now,
        "exp": now + 86_400,
        "use": "access",
        "roles": roles,
        "email_verified": True,
        "group": group,
    }
    return {"Authorization": "Bearer " + jwt.encode(claims, KEY, "EdDSA", {"kid": "test"})}


ADMIN = ("admin", "admin")


def open_as_worker(environment: dict[str, str]) -> Dependencies:
    """The same database and Redis that the service uses, as the worker has them."""
    return open_dependencies(load(Settings, environment), 30)


def eventually(holds: Callable[[], bool]) -> None:
    """On a cluster a view may be read from a copy that is late; jobs come again, and so does this, within a generous bound."""
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.2)


@dataclass
class Neighbours:
    """The users service's public keys and roles, and the orders service's `bought`, over real HTTP."""

    url: str = ""
    roles: dict[str, tuple[str, ...]] = field(default_factory=lambda: {"admin": ("admin",)})
    purchases: set[tuple[str, str]] = field(default_factory=set)
    bought_together: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Any
    body: bytes
    by_keyword: bool = False
    """It came from a keyword view, which a server without a search engine has: the documents of its rows are one read more."""

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def calls(self) -> dict[str, int]:
        """The database calls of the request, by class, without the zeros and the reads that a keyword view costs besides."""
        parts = (part.split(";") for part in self.headers["Server-Timing"].split(", "))
        counted = {
            part[0]: int(part[2].removeprefix('desc="').rstrip('"')) for part in parts if len(part) == 3
        }
        if self.by_keyword and (counted["global"] or counted["partition"]):
            counted["read"] = max(0, counted["read"] - counted["global"] - counted["partition"])
        return {kind: number for kind, number in counted.items() if number}


@cache
def has_search_engine() -> bool:
    """Whether the server of this run searches by itself; minicouch does."""
    url = os.environ.get("COUCH_URL")
    return url is None or not {"search", "nouveau"}.isdisjoint(Server(url).features())


IMPORT_SECONDS = 180 if "COUCH_URL" in os.environ else 60


class Shop:
    """The products service as its callers see it."""

    def __init__(self, url: str, neighbours: Neighbours) -> None:
        self.url, self.neighbours = url, neighbours
        self._pool = urllib3.PoolManager(
            maxsize=32, retries=urllib3.Retry(connect=0, read=1, other=0), timeout=IMPORT_SECONDS
        )

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **query: Any
    ) -> Answer:
        headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body, headers["Content-Type"] = orjson.dumps(body), "application/json"
        fields = [
            (name, value)
            for name, values in query.items()
            for value in (values if isinstance(values, list) else [values])
        ]
        url = self.url + path
        if fields:
            url += "?" + urlencode(fields)
        answer = self._pool.request(method, url, body=body, headers=headers)
        by_keyword = path.partition("?")[0] in SEARCHED and not has_search_engine()
        return Answer(answer.status, answer.headers, answer.data, by_keyword)

    def get(self, path: str, headers: dict[str, str] | None = None, **query: Any) -> Answer:
        return self.request("GET", path, headers=headers, **query)

    def ok(self, path: str, headers: dict[str, str] | None = None, **query: Any) -> Any:
        answer = self.get(path, headers, **query)
        assert answer.status == 200, answer.body
        return answer.json

    def admin(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request(method, path, body, token(*ADMIN) | named)

    def service(self, path: str, body: Any) -> Answer:
        return self.request("POST", path, body, SERVICE)

    def load(self, lines: list[Any]) -> Any:
        """Imports products and returns the answer's body."""
        text = b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
        answer = self.request(
            "POST", "/v1/products/import", text, token(*ADMIN) | {"Content-Type": "application/x-ndjson"}
        )
        assert answer.status == 200, answer.body
        return answer.json

    def walk(self, **query: Any) -> list[Any]:
        """Every item of a list, page by page."""
        items, cursor = [], None
        while True:
            page = self.ok("/v1/products", **query, **({"cursor": cursor} if cursor else {}))
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                return items


@pytest.fixture(scope="module")
def neighbours() -> Iterator[Neighbours]:
    found = Neighbours()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/.well-known/jwks.json":
                key = json.loads(jwt.algorithms.OKPAlgorithm.to_jwk(KEY.public_key()))
                self._answer({"keys": [{**key, "kid": "test", "use": "sig", "alg": "EdDSA"}]})
            elif address.path == "/v1/internal/sessions/revocations":
                self._answer({"age": 0, "sessions": [], "accounts": []})
            elif address.path.startswith("/v1/internal/sessions/"):
                self._answer(
                    {
                        "live": True,
                        "roles": ["customer", *found.roles.get(parse_qs(address.query)["userid"][0], ())],
                    }
                )
            elif address.path.endswith("/bought-together"):
                others = found.bought_together.get(address.path.split("/")[4], [])
                self._answer({"items": [{"productid": each, "orders": 2} for each in others]})
            else:
                asked = parse_qs(address.query)
                self._answer({"bought": (asked["userid"][0], asked["productid"][0]) in found.purchases})

        def _answer(self, body: Any) -> None:
            content = orjson.dumps(body)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def shop(prepared: Callable, service: Callable, neighbours: Neighbours) -> Shop:
    """An empty shop."""
    prepared(DESIGN)
    url = service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, ACCESS_LOG="false")
    return Shop(url, neighbours)


@pytest.fixture(scope="module")
def deps(shop: Shop, environment: dict[str, str]) -> Dependencies:
    """What the products service acts with, as the worker opens it, in this process."""
    return open_as_worker(environment)


@pytest.fixture(scope="module")
def holds(deps: Dependencies) -> Holds:
    """holds(look) checks: at once where each document has one copy; on a cluster, where a list is one node's copy, within a minute."""
    return holding(at_once=deps.catalogue.has_one_copy)


@pytest.fixture(scope="module")
def catch_up(server: Server, shop: Shop) -> Callable[[], None]:
    """Waits until every index holds what was written: a search whose index is far behind asks it twice, which tests of costs do not mean."""
    return lambda: server.wait_for_indexes(DESIGN)


def product(productid: str, **fields: Any) -> dict[str, Any]:
    """An import line; say what matters."""
    return {
        "productid": productid,
        "taxonomy": ["Home", "Kitchen"],
        "name": f"Product {productid}",
        "brand": "Acme",
        "description": "",
        "keywords": [],
        "colours": [],
        "price": {"amount": 1000, "currency": "GBP"},
        "delivery": {"amount": 0, "currency": "GBP"},
        "image": "",
        **fields,
    }
