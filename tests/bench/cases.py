"""What is measured: the requests of each row, and the database calls that its service makes for them: one, where a server can do it in one."""

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import requests

from services.orders.documents import DESIGN as ORDERS
from services.orders.rules.periods import Span
from services.orders.store.orders import OrderStore
from services.orders.store.reports import ReportStore
from services.products.documents import DESIGN as CATALOGUE
from services.products.store.catalogue import Catalogue
from services.users.store import UserStore
from shared.couch import Server, search_for
from tests.bench import sample_data
from tests.bench.bare import NOUVEAU
from tests.bench.running import Shop
from tests.people import ADDRESS, Person

Read = Callable[[Server], object]
FIRST_VIEWS = 10_000
CATCH_UP_SECONDS = 180
CATEGORIES, PRODUCTS = 200, 1_500
"""So many different ones are asked for in turn, however many there are: what a shop keeps of what it answered would else help a small one alone."""
BUYERS = 4
"""Of the customers, the last ones check out, so that the histories of the others are as long at the end as they were before."""


class NotMeasured(Exception):
    """A server does not answer what a row asks; says how."""


@dataclass(frozen=True)
class Case:
    """A row: its name, the service asked, the requests sent in turn; `reads` are the same questions to the service's store.

    With `first_views` no address is asked for twice, so that nothing which the storefront keeps is sent again.
    """

    name: str
    service: str
    requests: list[dict]
    reads: tuple[Read, ...] = ()
    clients: tuple[int, int] = (1, 16)
    first_views: bool = False

    def lines(self) -> list[dict]:
        """What is sent in one measurement: nothing that an earlier one has sent where it would be answered as a repetition."""
        stamp = time.time_ns()
        if not self.first_views:
            return [_with_own_key(line, f"{stamp}-{n}") for n, line in enumerate(self.requests)]
        rotating = itertools.cycle(self.requests)
        return [
            _addressed(line, f"view={stamp}-{n}")
            for n, line in enumerate(itertools.islice(rotating, FIRST_VIEWS))
        ]


def cases(shop: Shop, admin: Person, customers: list[Person], products: int) -> Iterator[Case]:
    categories = [
        sample_data.category(number) for number in spread(products // sample_data.PER_CATEGORY, CATEGORIES)
    ]
    paths = ["%23".join(part.replace(" ", "%20") for part in taxonomy) for taxonomy in categories]
    productids = [f"p{number:07d}" for number in spread(products, PRODUCTS)]
    words = list(itertools.product(sample_data.ADJECTIVES, sample_data.NOUNS))
    readers, buyers = customers[:-BUYERS], customers[-BUYERS:]
    userids = [customer.userid for customer in readers]
    tokens = [{"Authorization": f"Bearer {customer.token}"} for customer in readers]
    own = [_first_order(shop, token) for token in tokens]
    yield Case(
        "category page, 20 of 50",
        "products",
        [{"path": f"/v1/products?category={path}&limit=20&sort=name"} for path in paths],
        tuple(_category_page(taxonomy) for taxonomy in categories),
    )
    yield Case(
        "product",
        "products",
        [{"path": f"/v1/products/{productid}"} for productid in productids],
        tuple(_product(productid) for productid in productids),
    )
    yield Case(
        "search, two words, 20 hits",
        "products",
        [{"path": f"/v1/products?q={a}%20{b}&limit=20"} for a, b in words],
        tuple(_search(f"{a} {b}") for a, b in words),
    )
    yield Case("category menu", "products", [{"path": "/v1/categories?depth=2"}])
    yield Case(
        "me",
        "users",
        [{"path": "/v1/users/me", "headers": token} for token in tokens],
        tuple(_me(userid) for userid in userids),
    )
    yield Case(
        "order by its owner",
        "orders",
        [{"path": f"/v1/orders/{order}", "headers": token} for order, token in zip(own, tokens, strict=True)],
        tuple(_order(order) for order in own),
    )
    yield Case(
        "order history, 10",
        "orders",
        [{"path": "/v1/orders?limit=10", "headers": token} for token in tokens],
        tuple(_history(userid) for userid in userids),
    )
    yield Case(
        "sales by month",
        "orders",
        [
            {
                "path": "/v1/admin/reports/sales?by=month&currency=GBP",
                "headers": {"Authorization": f"Bearer {admin.token}"},
            }
        ],
        (lambda server: ReportStore(server.open(ORDERS)).sales("month", Span()),),
    )
    yield from _desk_lists({"Authorization": f"Bearer {admin.token}"}, products)
    yield from _pages(categories, productids, words)
    baskets = [{"Authorization": f"Bearer {customer.token}"} for customer in buyers]
    yield Case("checkout, 2 lines", "orders", _checkouts(baskets, products), clients=(1, 4))


def spread(count: int, most: int) -> range:
    """At most so many of the numbers below `count`, at even distances."""
    step = max(1, -(-count // most))
    return range(0, count, step)


def _desk_lists(staff: dict[str, str], products: int) -> Iterator[Case]:
    """Lists of orders as staff ask for them: of a status, and with a product that past orders have."""
    ordered = range(0, min(products, sample_data.PRODUCTS_ORDERED), 7)
    paths = {
        "desk: paid orders, 25": ["/v1/admin/orders?status=paid&limit=25"],
        "desk: paid orders with a product, 25": [
            f"/v1/admin/orders?status=paid&product=p{number:07d}&limit=25" for number in ordered
        ],
        "desk: orders counted by status": ["/v1/admin/orders/counts"],
    }
    for name, asked in paths.items():
        yield Case(name, "orders", [{"path": path, "headers": staff} for path in asked])


def _pages(
    categories: list[list[str]], productids: list[str], words: list[tuple[str, str]]
) -> Iterator[Case]:
    """The same as HTML, for a browser without a session."""
    pages = {
        "home": ["/"],
        "category page, 24 of 50 with filters": [
            "/category/" + "/".join(map(quote, taxonomy)) for taxonomy in categories
        ],
        "product": [f"/product/{productid}" for productid in productids],
        "search, two words, 24 hits with filters": [f"/search?q={a}+{b}" for a, b in words],
    }
    for name, paths in pages.items():
        lines = [{"path": path} for path in paths]
        yield Case(f"HTML: {name}", "storefront", lines)
        yield Case(f"HTML, first views: {name}", "storefront", lines, first_views=True)


def _addressed(line: dict, query: str) -> dict:
    path = line["path"]
    return {**line, "path": f"{path}{'&' if '?' in path else '?'}{query}"}


def database_calls(url: str, case: Case) -> str:
    """What a row's request costs by the answer's own Server-Timing, asked for the second time: the counts of a category are
    made with its first page after a change, and kept."""
    for place in (-1, 0, 0):
        timing = answer(url, case.lines()[place]).headers["Server-Timing"]
    page = re.search(r'database;desc="([^"]*)"', timing)
    found = (
        re.findall(r"(\w+) (\d+)", page[1]) if page else re.findall(r'(\w+);dur=[^;]*;desc="(\d+)"', timing)
    )
    return ", ".join(f"{number} {kind}" for kind, number in found if number != "0") or "none"


def recorded(server: Server, read: Read) -> list[dict[str, Any]]:
    """The calls that a store makes to the database, each {operation, arguments}, to be made again by others. A search is two where the
    server has a keyword view only, and one that the SDK does not know, named `nouveau`, on a CouchDB with Nouveau."""
    made: list[dict[str, Any]] = []
    client = server.client
    client.features()  # asked once by a client, ahead of its first search
    call, nouveau = client.call, client.nouveau

    def record(operation: str, **arguments: Any) -> Any:
        made.append({"operation": operation, "arguments": _given(arguments)})
        return call(operation, **arguments)

    def record_nouveau(
        at: dict[str, str], ddoc: str, index: str, body: dict[str, Any], **options: Any
    ) -> Any:
        made.append(
            {"operation": NOUVEAU, "arguments": {"at": at, "ddoc": ddoc, "index": index, "body": body}}
        )
        return nouveau(at, ddoc, index, body, **options)

    client.call, client.nouveau = record, record_nouveau
    try:
        read(server)
    finally:
        client.call, client.nouveau = call, nouveau
    if not made:
        raise SystemExit("a database call was expected")
    return made


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    ours = ("call_timeout",)  # how long our transport waits is no part of the call
    return {name: value for name, value in arguments.items() if value is not None and name not in ours}


def answer(url: str, line: dict) -> requests.Response:
    """The answer once indexes have caught up with what was imported. Raises NotMeasured when there is none."""
    method, headers, body = line.get("method", "GET"), line.get("headers"), line.get("body")
    end = time.monotonic() + CATCH_UP_SECONDS
    while time.monotonic() < end:
        found = requests.request(method, url + line["path"], headers=headers, data=body, timeout=30)
        if found.ok:
            return found
        if found.status_code != 503:
            raise NotMeasured(f"answered with {found.status_code}")
        time.sleep(0.5)
    raise NotMeasured(f"503 for {CATCH_UP_SECONDS} s")


def _category_page(taxonomy: list[str]) -> Read:
    return lambda server: Catalogue(server.open(CATALOGUE)).category_by("name", taxonomy, {}, 20, None)


def _product(productid: str) -> Read:
    return lambda server: Catalogue(server.open(CATALOGUE)).by_productid(productid)


def _search(text: str) -> Read:
    return lambda server: Catalogue(server.open(CATALOGUE)).search(search_for(text), 20, None)


def _me(userid: str) -> Read:
    return lambda server: UserStore(server).documents_of(userid)


def _order(orderid: str) -> Read:
    return lambda server: OrderStore(server.open(ORDERS)).order(orderid)


def _history(userid: str) -> Read:
    return lambda server: OrderStore(server.open(ORDERS)).orders_of_a_customer(userid, limit=10)


def _with_own_key(line: dict, stamp: str) -> dict:
    headers = line.get("headers", {})
    if "Idempotency-Key" not in headers:
        return line
    return line | {"headers": {**headers, "Idempotency-Key": f"{headers['Idempotency-Key']}-{stamp}"}}


def _checkouts(tokens: list[dict], products: int) -> list[dict]:
    """Enough different orders that no Idempotency-Key comes twice in one measurement."""
    return [
        {
            "method": "POST",
            "path": "/v1/orders",
            "headers": {
                **tokens[n % len(tokens)],
                "Content-Type": "application/json",
                "Idempotency-Key": f"bench-{n}",
            },
            "body": json.dumps(
                {
                    "items": [
                        {"productid": f"p{(n * 2 + k) % products:07d}", "quantity": 1} for k in range(2)
                    ],
                    "address": ADDRESS,
                    "payment": {"provider": "sandbox", "token": "tok_ok"},
                }
            ),
        }
        for n in range(20_000)
    ]


def _first_order(shop: Shop, token: dict) -> str:
    """A list comes from one node's copy, and of several that may be behind what was imported."""
    end = time.monotonic() + CATCH_UP_SECONDS
    line = {"path": "/v1/orders", "headers": token}
    while not (items := answer(shop.urls["orders"], line).json()["items"]):
        if time.monotonic() > end:
            raise SystemExit(f"a customer's imported orders are not listed after {CATCH_UP_SECONDS} s")
        time.sleep(0.5)
    return items[0]["orderid"]
