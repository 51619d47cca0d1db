"""`make bench`: starts the shop, loads it, drives it from another process, and writes what it measured.

    python -m tests.bench.shop [--products 10000] [--orders 10000] [--large 1000000] [--seconds 4] [--out .local/bench]

Each row: requests a second, p50 and p99 at 1 and 16 clients, the database calls of one request (from Server-Timing),
the rate at 16 clients over a bare Flask hello-JSON at one client, measured in the same minutes, indexes warm. With `--large N` the
p50 of each row is measured again over N documents and given as a ratio.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.bench import goods
from tests.bench.running import ADMIN_EMAIL, ROOT, Shop, bare_flask, core_count, running_shop
from tests.people import ADDRESS, Person, register

CUSTOMERS = 20
CHUNK = 2000


@dataclass(frozen=True)
class Case:
    """One row: a name, the service asked, and the requests that are sent in turn."""

    name: str
    service: str
    requests: list[dict]
    clients: tuple[int, ...] = (1, 16)
    most: int | None = None


@dataclass(frozen=True)
class Row:
    name: str
    rates: dict[int, float]
    p50: dict[int, float]
    p99: dict[int, float]
    calls: str


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        shop = stack.enter_context(running_shop(Path(folder) / "state"))
        bench = Bench(shop, Path(folder), options.seconds)
        admin = Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)
        customers = [register(shop.urls["users"], shop.state / "mail") for _ in range(CUSTOMERS)]
        imports = [
            _import(
                admin,
                f"{shop.urls['products']}/v1/products/import",
                goods.products(options.products),
                "products",
            ),
            _import(
                admin,
                f"{shop.urls['orders']}/v1/admin/orders/import",
                _orders(options.orders, customers),
                "orders",
            ),
        ]
        shop.settle()
        bare = bench.bare_rate()
        rows = _measured(bench, admin, customers, options.products)
        memory = shop.memory_mib()
        _write(options, _report(options, shop, bare, rows, imports, memory, {}))
        if options.large:
            imports.append(_grow(shop, admin, options.large))
            shop.settle()
            large = {row.name: row for row in _measured(bench, admin, customers, options.products)}
            _write(options, _report(options, shop, bare, rows, imports, memory, large))


def _measured(bench: "Bench", admin: Person, customers: list[Person], products: int) -> list[Row]:
    """Every case once; what a case set going (jobs of a checkout) ends before memory is read."""
    rows = [bench.measure(case) for case in _cases(bench.shop, admin, customers, products)]
    bench.shop.settle()
    return rows


def _write(options: argparse.Namespace, report: str) -> None:
    (options.out / "shop.md").write_text(report)
    print(report, flush=True)


class Bench:
    """Runs the load generator in another process against the shop."""

    def __init__(self, shop: Shop, folder: Path, seconds: float) -> None:
        self.shop, self.folder, self.seconds = shop, folder, seconds

    def bare_rate(self) -> float:
        """Requests a second of bare Flask hello-JSON, two workers, one client."""
        with bare_flask(self.folder / "bare.log", workers=2) as url:
            self._load(url, [{"path": "/hello"}], 1)
            return self._load(url, [{"path": "/hello"}], 1)["rate"]

    def measure(self, case: Case) -> Row:
        print(f"measuring {case.name} ...", flush=True)
        url = self.shop.urls[case.service]
        calls = _database_calls(url, case.requests[0])
        found = {}
        for clients in case.clients:
            found[clients] = self._load(url, case.requests, clients, case.most)
            refused = {
                status: n for status, n in found[clients]["statuses"].items() if not status.startswith("2")
            }
            if refused:
                raise SystemExit(f"{case.name}: answers with status {refused}")
        figures = {
            key: {clients: each[key] for clients, each in found.items()}
            for key in ("rate", "p50_ms", "p99_ms")
        }
        return Row(case.name, figures["rate"], figures["p50_ms"], figures["p99_ms"], calls)

    def _load(self, url: str, lines: list[dict], clients: int, most: int | None = None) -> dict:
        path = self.folder / "requests.ndjson"
        path.write_text("\n".join(json.dumps(line) for line in lines))
        command = [
            sys.executable,
            "-m",
            "tests.bench.load",
            url,
            str(path),
            "--clients",
            str(clients),
            "--seconds",
            str(self.seconds),
        ]
        command += ["--most", str(most)] if most else []
        return json.loads(
            subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        )


def _cases(shop: Shop, admin: Person, customers: list[Person], products: int) -> Iterator[Case]:
    categories = [goods.category(number) for number in range(products // goods.PER_CATEGORY)]
    paths = ["%23".join(part.replace(" ", "%20") for part in taxonomy) for taxonomy in categories]
    tokens = [{"Authorization": f"Bearer {customer.token}"} for customer in customers]
    words = list(itertools.product(goods.ADJECTIVES, goods.NOUNS))
    own = [_first_order(shop, customer) for customer in customers]
    yield Case(
        "category page, 20 of 50",
        "products",
        [{"path": f"/v1/products?category={path}&limit=20&sort=name"} for path in paths],
    )
    yield Case(
        "product", "products", [{"path": f"/v1/products/p{number:07d}"} for number in range(0, products, 7)]
    )
    yield Case(
        "search, two words, 20 hits",
        "products",
        [{"path": f"/v1/products?q={a}%20{b}&limit=20"} for a, b in words],
    )
    yield Case("category menu", "products", [{"path": "/v1/categories?depth=2"}])
    yield Case("me", "users", [{"path": "/v1/users/me", "headers": token} for token in tokens])
    yield Case(
        "order by its owner",
        "orders",
        [{"path": f"/v1/orders/{order}", "headers": token} for order, token in zip(own, tokens, strict=True)],
    )
    yield Case(
        "order history, 10", "orders", [{"path": "/v1/orders?limit=10", "headers": token} for token in tokens]
    )
    report = "/v1/admin/reports/sales?by=month&currency=GBP"
    yield Case(
        "sales by month", "orders", [{"path": report, "headers": {"Authorization": f"Bearer {admin.token}"}}]
    )
    yield Case("checkout, 2 lines", "orders", _checkouts(tokens, products), clients=(1, 4))


def _checkouts(tokens: list[dict], products: int) -> list[dict]:
    """Enough different orders that no Idempotency-Key comes twice."""
    stamp = time.time_ns()
    return [
        {
            "method": "POST",
            "path": "/v1/orders",
            "headers": {**tokens[n % len(tokens)], "Content-Type": "application/json", "Idempotency-Key": f"bench-{stamp}-{n}"},
            "body": json.dumps({
                "items": [{"productid": f"p{(n * 2 + k) % products:07d}", "quantity": 1} for k in range(2)],
                "address": ADDRESS,
                "payment": {"provider": "sandbox", "token": "tok_ok"},
            }),
        }
        for n in range(20_000)
    ]  # fmt: skip


def _first_order(shop: Shop, customer: Person) -> str:
    headers = {"Authorization": f"Bearer {customer.token}"}
    answer = _answer(shop.urls["orders"], {"path": "/v1/orders", "headers": headers})
    return answer.json()["items"][0]["orderid"]


def _orders(count: int, customers: list[Person]) -> Iterator[bytes]:
    return goods.past_orders(count, [customer.userid for customer in customers for _ in range(10)])


def _import(admin: Person, url: str, lines: Iterable[bytes], what: str) -> str:
    """Sends the lines in chunks with progress; a sentence with the rate of documents."""
    began, sent, rest = time.monotonic(), 0, iter(lines)
    while chunk := list(itertools.islice(rest, CHUNK)):
        answer = admin.post(
            url, data=b"".join(chunk), headers={"Content-Type": "application/x-ndjson"}, timeout=600
        )
        answer.raise_for_status()
        if answer.json()["failed"]:
            raise SystemExit(f"{what}: {answer.json()['failed'][:3]}")
        sent += len(chunk)
        print(f"{what}: {sent} imported", flush=True)
    seconds = time.monotonic() - began
    return f"{sent:,} {what} in {seconds:.1f} s ({sent / seconds:,.0f} {what} a second)"


def _grow(shop: Shop, admin: Person, documents: int) -> str:
    """Past orders until the orders database holds so many documents: each is four, with its line, customer and payment."""
    url = f"{shop.urls['orders']}/v1/admin/orders/import"
    return _import(admin, url, goods.past_orders(documents // 4, [], seed=3), "orders")


def _database_calls(url: str, line: dict) -> str:
    answer = _answer(url, line)
    found = re.findall(r'(\w+);dur=[^;]*;desc="(\d+)"', answer.headers["Server-Timing"])
    return ", ".join(f"{number} {kind}" for kind, number in found if number != "0") or "none"


def _answer(url: str, line: dict) -> requests.Response:
    """The answer once indexes have caught up with what was imported."""
    method, headers, body = line.get("method", "GET"), line.get("headers"), line.get("body")
    while True:
        answer = requests.request(method, url + line["path"], headers=headers, data=body, timeout=30)
        if answer.status_code != 503:
            answer.raise_for_status()
            return answer
        time.sleep(0.5)


def _report(
    options: argparse.Namespace,
    shop: Shop,
    bare: float,
    rows: list[Row],
    imports: list[str],
    memory: dict[str, float],
    large: dict[str, Row],
) -> str:
    heads = (
        "| request | calls | req/s at 1 | p50 ms | p99 ms | req/s at 16 | p50 ms | p99 ms | over bare |"
        + (" large / small |" if large else "")
    )
    lines = [heads, "|" + "---|" * (heads.count("|") - 1)]
    for row in rows:
        few, many = min(row.rates), max(row.rates)
        cells = [row.name if many == 16 else f"{row.name} ({few} and {many} clients)", row.calls]
        cells += [f"{row.rates[few]:.0f}", f"{row.p50[few]:.1f}", f"{row.p99[few]:.1f}"]
        cells += [
            f"{row.rates[many]:.0f}",
            f"{row.p50[many]:.1f}",
            f"{row.p99[many]:.1f}",
            f"{row.rates[many] / bare:.3f}",
        ]
        if large:
            cells.append(f"{large[row.name].p50[few] / row.p50[few]:.2f}" if row.name in large else "")
        lines.append("| " + " | ".join(cells) + " |")
    parts = ", ".join(f"{name} {mib:.0f}" for name, mib in sorted(memory.items(), key=lambda item: -item[1]))
    facts = [
        f"{core_count()} cores; {options.products:,} products, {options.orders:,} past orders"
        + (f"; large: {options.large:,} documents" if large else "") + ".",
        f"Bare Flask hello-JSON, 2 workers, 1 client: {bare:.0f} requests a second.",
        f"Cold start to the first ready service: {shop.seconds_to_first_answer:.1f} s.",
        f"Memory of all processes (PSS): {sum(memory.values()):.0f} MiB ({parts}).",
        *(f"Import: {sentence}." for sentence in imports),
    ]  # fmt: skip
    return "\n".join([*facts, "", *lines, ""])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.shop",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--products", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--out", type=Path, default=ROOT / ".local" / "bench")
    return parser.parse_args()


if __name__ == "__main__":
    main()
