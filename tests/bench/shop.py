"""`make bench`: starts the shop, loads it, drives it from another process, and writes what it measured.

    python -m tests.bench.shop [--products 10000] [--orders 10000] [--large 1000000] [--seconds 3] [--out .local/bench]

Indexes are warm when it measures. With many clients the shop and bare Flask handlers take turns, and of each row the medians
count: a machine's speed differs from minute to minute. See `tests.bench.report`. With `--large N` products and orders each grow
to N documents, and every row is measured again, in turn with a second shop of the first size.
With COUCH_URL the shop runs on that server, in databases of its own that are dropped at the end. A flame graph of
all processes during the slowest request is written beside the table.
"""

import argparse
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from tests.bench import sample_data
from tests.bench.bare import NOUVEAU
from tests.bench.cases import Case, NotMeasured, cases, database_calls, recorded
from tests.bench.report import Figures, Measured, Row, written
from tests.bench.running import ADMIN_EMAIL, ROOT, Shop, bare_flask, bare_flask_as_ours, running_shop
from tests.people import Person, register

CUSTOMERS, ORDERS_EACH = 20, 10
CHUNK = 2000
RECORDED = 50
ROUNDS = 3
SALES_ROUNDS = 10


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit("ended")
    )  # so that the shop that it started ends with it
    with (
        tempfile.TemporaryDirectory() as folder,
        running_shop(Path(folder) / "state") as shop,
        bare_flask(Path(folder) / "hello.log") as hello,
    ):
        bench = Bench(shop, hello, Path(folder), options.seconds)
        people = _people(shop)
        found = Measured(shop.database, options.products, options.orders, shop.seconds_to_first_answer)
        found.imports += _fill(shop, options, people)
        found.rows += [bench.measure(case) for case in cases(shop, people[0], people[1:], options.products)]
        with suppress(NotMeasured):
            found.search_after_sales = bench.search_after_sales([row.case for row in found.rows])
        shop.settle()
        found.memory = shop.memory_mib()
        slowest = min((row for row in found.rows if row.many), key=lambda row: row.many.rate)
        bench.flame_graph(slowest.case, options.out / "slowest.svg")
        _write(options, found)
        if options.large:
            _grow(shop, options.large, found)
            shop.settle()
            with running_shop(Path(folder) / "small") as small:
                others = _people(small)
                _fill(small, options, others)
                large_cases = cases(shop, people[0], people[1:], options.large // 2)
                small_cases = cases(small, others[0], others[1:], options.products)
                for row, large_case, small_case in zip(found.rows, large_cases, small_cases, strict=True):
                    if row.many:
                        row.small, row.large = bench.in_turn((small, small_case), (shop, large_case))
            _write(options, found)


class Bench:
    """Runs the load generator in another process against the shop."""

    def __init__(self, shop: Shop, hello: str, folder: Path, seconds: float) -> None:
        """`hello` is the URL of bare Flask."""
        self.shop, self.folder, self.seconds, self._hello_url = shop, folder, seconds, hello
        self._hello()  # warms it

    def measure(self, case: Case) -> Row:
        """A row, or what kept it from being measured."""
        print(f"measuring {case.name} ...", flush=True)
        row = Row(case)
        try:
            self._fill(row, *case.clients)
        except NotMeasured as error:
            row.note = str(error)
            print(f"{case.name}: {error}", flush=True)
        return row

    def _fill(self, row: Row, few: int, many: int) -> None:
        case = row.case
        row.calls = database_calls(self.shop.urls[case.service], case)
        row.few = self._measured_alone(case, few)
        made = [recorded(self.shop.server, read) for read in case.reads[:RECORDED]]
        paths = ["/ours", "/sdk"] if made else []
        if any(call["operation"] == NOUVEAU for calls in made for call in calls):
            paths.remove("/sdk")
        with bare_flask_as_ours(self.folder / "bare.log", self.shop.couch_environment) as url:
            rounds = [
                [
                    self._measured_alone(case, many),
                    self._hello(),
                    *(self._same_calls(url, path, made) for path in paths),
                ]
                for _ in range(ROUNDS)
            ]
        row.many, row.hello, *bare = (_median(figures) for figures in zip(*rounds, strict=True))
        row.same_calls, row.sdk_calls = [*bare, None, None][:2]

    def search_after_sales(self, measured: Sequence[Case]) -> float | None:
        """The rate of the search over bare Flask after so many sales over that before them; None where all searches were refused."""
        search = next(case for case in measured if case.name.startswith("search"))
        checkout = next(case for case in measured if case.name.startswith("checkout"))
        print("measuring searches before and after sales ...", flush=True)
        self.shop.settle()
        before = self._over_hello(search)
        for _ in range(SALES_ROUNDS):
            self.drive(checkout, max(checkout.clients))
        self.shop.settle()
        return self._over_hello(search) / before if before else None

    def in_turn(self, *asked: tuple[Shop, Case]) -> list[Figures]:
        """The median of each with one client, after a first turn that only warms."""
        rounds = [
            [self._load(shop.urls[case.service], case.lines(), 1) for shop, case in asked]
            for _ in range(ROUNDS + 1)
        ]
        return [_median(figures) for figures in zip(*rounds[1:], strict=True)]

    def _measured_alone(self, case: Case, clients: int) -> Figures:
        """Orders begin when what was ordered before is delivered, as any row does: else it would count as theirs."""
        if not case.reads:
            self.shop.settle()
        return self.drive(case, clients)

    def drive(self, case: Case, clients: int) -> Figures:
        return self._load(self.shop.urls[case.service], case.lines(), clients)

    def flame_graph(self, case: Case, out: Path) -> None:
        """All Python processes of the shop while they serve this case."""
        print(f"drawing {out} during {case.name} ...", flush=True)
        command = [
            str(Path(sys.executable).with_name("py-spy")),
            "record",
            "--subprocesses",
            "--format",
            "flamegraph",
            "--duration",
            str(max(1, int(self.seconds))),
            "--output",
            str(out),
            "--pid",
            str(self.shop.launcher.popen.pid),
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as drawing:
            self._load(self.shop.urls[case.service], case.lines(), max(case.clients))
        if drawing.returncode:
            print(f"No flame graph: {' '.join(command)} ended with {drawing.returncode}; it may need root.")

    def _over_hello(self, case: Case) -> float:
        rounds = [(self.drive(case, max(case.clients)), self._hello()) for _ in range(ROUNDS)]
        ours, hello = (_median(figures) for figures in zip(*rounds, strict=True))
        return ours.rate / hello.rate

    def _hello(self) -> Figures:
        """Bare Flask hello-JSON, gunicorn as it comes with two workers of eight threads, one client."""
        return self._load(self._hello_url, [{"path": "/hello"}], 1)

    def _same_calls(self, url: str, path: str, made: list[list[dict]]) -> Figures:
        lines = [{"method": "POST", "path": path, "body": json.dumps(calls)} for calls in made]
        return self._load(url, lines, 16)

    def _load(self, url: str, lines: list[dict], clients: int) -> Figures:
        path = self.folder / "requests.ndjson"
        path.write_text("\n".join(json.dumps(line) for line in lines))
        found = load_generated(url, path, clients, self.seconds)
        statuses = found["statuses"]
        if any(not status.startswith("2") and status != "503" for status in statuses):
            raise NotMeasured(f"{lines[0]['path']} was answered with status {statuses}")
        refused = statuses.get("503", 0) / found["requests"]
        return Figures(clients, found["rate"] * (1 - refused), found["p50_ms"], found["p99_ms"], refused)


def load_generated(url: str, path: Path, clients: int, seconds: float) -> dict[str, Any]:
    """What `tests.bench.load` saw of the requests in the file at `path`. Raises NotMeasured with its own last words when it fails."""
    options = ["--clients", str(clients), "--seconds", str(seconds)]
    command = [sys.executable, "-m", "tests.bench.load", url, str(path), *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        said = run.stderr.strip().rpartition("\n")[2]
        raise NotMeasured(f"the load generator ended with {run.returncode}: {said}")
    return json.loads(run.stdout)


def _median(figures: Sequence[Figures]) -> Figures:
    return sorted(figures, key=lambda each: each.rate)[len(figures) // 2]


def _people(shop: Shop) -> list[Person]:
    """The admin, and customers."""
    admin = Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)
    return [admin, *(register(shop.urls["users"], shop.state / "mail") for _ in range(CUSTOMERS))]


def _fill(shop: Shop, options: argparse.Namespace, people: list[Person]) -> list[str]:
    """Products and past orders of the first size, indexed; what the imports took."""
    imports = [
        _import(shop, "products", sample_data.products(options.products)),
        _import(shop, "orders", _past_orders(options.orders, people[1:])),
    ]
    shop.settle()
    return imports


def _past_orders(count: int, customers: list[Person]) -> Iterator[bytes]:
    return sample_data.past_orders(
        count, [customer.userid for customer in customers for _ in range(ORDERS_EACH)]
    )


def _grow(shop: Shop, documents: int, found: Measured) -> None:
    """Products and past orders until either database holds so many documents: a product is two with its stock, a past order four with its summary."""
    more = itertools.islice(sample_data.products(documents // 2), found.products, None)
    found.imports.append(_import(shop, "products", more))
    found.imports.append(_import(shop, "orders", sample_data.past_orders(documents // 4, [], seed=3)))
    for design in (PRODUCTS, ORDERS):
        found.large_documents[design.name] = shop.server.open(design).information()["doc_count"]


def _import(shop: Shop, what: str, lines: Iterable[bytes]) -> str:
    """Sends the lines in chunks with progress; a sentence with the rate."""
    admin = Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)
    url = shop.urls[what] + {"products": "/v1/products/import", "orders": "/v1/admin/orders/import"}[what]
    headers = {"Content-Type": "application/x-ndjson"}
    began, sent, rest = time.monotonic(), 0, iter(lines)
    while chunk := list(itertools.islice(rest, CHUNK)):
        answer = admin.post(url, data=b"".join(chunk), headers=headers, timeout=600)
        answer.raise_for_status()
        if answer.json()["failed"]:
            raise SystemExit(f"{what}: {answer.json()['failed'][:3]}")
        sent += len(chunk)
        print(f"{what}: {sent:,} imported, {sent / (time.monotonic() - began):,.0f} a second", flush=True)
    seconds = time.monotonic() - began
    return f"{sent:,} {what} in {seconds:.1f} s ({sent / seconds:,.0f} {what} a second)"


def _write(options: argparse.Namespace, found: Measured) -> None:
    report = written(found)
    (options.out / "shop.md").write_text(report)
    print(report, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.shop",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--products", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--out", type=Path, default=ROOT / ".local" / "bench")
    options = parser.parse_args()
    if options.orders < CUSTOMERS * ORDERS_EACH:
        parser.error(f"--orders: at least {CUSTOMERS * ORDERS_EACH}, so that each customer has a history")
    return options


if __name__ == "__main__":
    main()
