"""The desk's lists over many orders cost what they cost over 10,000: one global query, a full page. Their times are printed, pair by pair.

`DESK_ORDERS=1000000 .venv/bin/python -m pytest -s -m load tests/services/orders/test_flat_lists.py` has that many orders.
"""

import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
import requests

from services.orders.documents import DESIGN, ORDER_SUMMARY, SUMMARIES, order_key
from services.orders.rules.summaries import search_keys
from shared.clock import iso
from shared.couch import Database, DatabaseDesign, DatabaseUnavailable, Server
from shared.money import money
from tests.processes import start_service
from tests.services.orders.conftest import Shop, calls, until

FEW, BULK = 10_000, 5_000
MANY = int(os.environ.get("DESK_ORDERS", "50000"))
ROUNDS, REQUESTS = 5, 40
START, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
STATUSES: Final = ("delivered", "delivered", "delivered", "delivered", "delivered", "dispatched", "cancelled")
PATHS: Final = {
    "paid": ["/v1/admin/orders?status=paid&limit=25"],
    "delivered": ["/v1/admin/orders?status=delivered&limit=25"],
    "with a product": [f"/v1/admin/orders?product=p{n}&limit=25" for n in range(REQUESTS)],
    "paid, with a product": [f"/v1/admin/orders?status=paid&product=p{n}&limit=25" for n in range(REQUESTS)],
    "of a name": [f"/v1/admin/orders?q=ada+of{n}&limit=25" for n in range(REQUESTS)],
    "open returns": ["/v1/admin/orders?open_returns=true&limit=25"],
    "counted by status": ["/v1/admin/orders/counts"],
    "of a product, counted": [f"/v1/admin/orders/counts?product=p{n}" for n in range(REQUESTS)],
}

pytestmark = [pytest.mark.load, pytest.mark.timeout(3600)]


def summaries(count: int) -> Iterator[dict[str, Any]]:
    """What the worker keeps of so many orders; some hundred are not dispatched yet, and a few have an open return."""
    for number in range(count):
        orderid, date = f"list{number:08d}", iso(START + STEP * number)
        is_new = number >= count - 300
        name, email = f"Ada of{number % 100}", f"ada{number}@example.com"
        yield ORDER_SUMMARY.new(
            order_key(orderid, "summary"),
            orderid=orderid,
            number=f"A-{number:06d}",
            userid=None,
            placed=date,
            currency="GBP",
            status="paid" if is_new else STATUSES[number % len(STATUSES)],
            refunded="no",
            returned="no",
            open_returns=int(number % (count // 50) == 0),
            awaiting_dispatch=is_new,
            total=money(1250, "GBP"),
            paid=1250,
            repaid=0,
            units=1,
            discounts=0,
            dates={"paid": date},
            name=name,
            email=email,
            products=[f"p{number % 100}"],
            words=search_keys(name, email),
            events=3,
        )


def filled(database: Database, count: int) -> None:
    rest = summaries(count)
    while bulk := list(islice(rest, BULK)):
        assert not any(row.error for row in database.put_many(bulk))
        print(f"{bulk[-1]['number']} of {count:,} written", flush=True)

    def is_caught_up() -> bool:
        try:
            database.across_partitions.view(SUMMARIES)  # what is counted is there after the rows
        except DatabaseUnavailable:
            return False
        return True

    until(is_caught_up, 3000)


@pytest.fixture
def large_shop(
    shop: Shop, couch_url: str, environment: dict[str, str], tmp_path: Path
) -> Iterator[tuple[str, Database]]:
    """A second orders service, on a database of its own that has the index of the lists and no other."""
    server = Server(couch_url, prefix=f"{environment['DATABASE_PREFIX']}large-", timeout=60)
    server.prepare([DatabaseDesign(DESIGN.name, (SUMMARIES,))], progress=lambda line: None)
    process, url = start_service(
        "orders", tmp_path / "orders.log", {**environment, "DATABASE_PREFIX": server.prefix}
    )
    yield url, server.open(DESIGN)
    process.stop()
    server.client.call("delete_database", db=f"{server.prefix}{DESIGN.name}")


def test_the_desk_s_lists_cost_over_many_orders_what_they_cost_over_10_000(
    shop: Shop, database: Database, large_shop: tuple[str, Database]
) -> None:
    """What grows is the counts' own numbers: a list that read more than its page would be asked more, or answer late."""
    url, many = large_shop
    filled(database, FEW)
    filled(many, MANY)
    few_answers, many_answers = _every_list(shop, shop.orders), _every_list(shop, url)
    for name, (cost, _) in few_answers.items():
        reads = 0 if "counted" in name else 1  # how far the summaries are
        assert cost == (("partition", 0), ("global", 1), ("read", reads), ("write", 0)), name
    assert {name: cost for name, (cost, _) in many_answers.items()} == {
        name: cost for name, (cost, _) in few_answers.items()
    }
    for answers in (few_answers, many_answers):
        for name in ("paid", "delivered", "with a product", "of a name", "open returns"):
            assert len(answers[name][1]["items"]) == 25, name
    counted = Counter(each["status"] for each in summaries(MANY))
    assert many_answers["counted by status"][1] == {"total": MANY, "counts": counted}
    for name, paths in PATHS.items():
        pairs = [(_p50(shop, shop.orders, paths), _p50(shop, url, paths)) for _ in range(ROUNDS)]
        small, large = (statistics.median(each) for each in zip(*pairs, strict=True))
        print(f"{name}: p50 {small:.2f} ms over {FEW:,}, {large:.2f} ms over {MANY:,} ({large / small:.2f})")


def _every_list(shop: Shop, url: str) -> dict[str, tuple[tuple[tuple[str, int], ...], Any]]:
    """The database calls and the answer of each, asked again while the server is busy with what was written."""
    found = {}
    for name, paths in PATHS.items():
        answers: list[requests.Response] = []
        # A process reads the shop's settings with its first request; an index that is behind is asked twice.
        while len(answers) < 2 or (calls(answers[-1]) != calls(answers[-2]) and len(answers) < 10):
            answers.append(until(_answered(shop, url + paths[0]), 240))
        found[name] = tuple(calls(answers[-1]).items()), answers[-1].json()
    return found


def _answered(shop: Shop, address: str) -> Callable[[], Any]:
    def asked() -> Any:
        answer = shop.admin.get(address, timeout=60)
        return answer.status_code == 200 and answer

    return asked


def _p50(shop: Shop, url: str, paths: list[str]) -> float:
    times = []
    for number in range(REQUESTS):
        began = time.perf_counter()
        assert shop.admin.get(url + paths[number % len(paths)], timeout=60).status_code == 200
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)
