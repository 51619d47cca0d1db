"""The measured table, in Markdown.

Columns: requests a second, p50 and p99 at 1 and 16 clients (a checkout at 1 and 4); the database calls of one request;
`over hello`, the rate at 16 clients over bare Flask hello-JSON at one client in the same minute (gunicorn with its own `gthread`, 2 workers of 8 threads);
`of one call`, that rate over a bare Flask handler which makes the same database call (two for a search by keyword view) with the service's server
(our worker, `deploy/gunicorn.conf.py`, 1 worker of 8 threads) and client library, and `of the SDK` over one that makes it through ibmcloudant as it comes, which knows no
Nouveau; `large / small`, the p50 at one client over many documents to that over few, measured in turns in the same minutes. A row that a server cannot answer says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.bench.cases import Case
from tests.bench.running import core_count

HEADS = [
    "request",
    "database calls",
    "req/s at 1",
    "p50 ms",
    "p99 ms",
    "req/s at 16",
    "p50 ms",
    "p99 ms",
    "over hello",
    "of one call",
    "of the SDK",
    "large / small",
]


@dataclass(frozen=True)
class Figures:
    """What a load generator saw with so many clients: good answers a second, and the share that were 503 instead."""

    clients: int
    rate: float
    p50_ms: float
    p99_ms: float
    refused: float = 0.0

    @property
    def shown_rate(self) -> str:
        return f"{self.rate:.0f}" + (f" ({self.refused:.0%} 503)" if self.refused else "")


@dataclass
class Row:
    """A case measured: with few and with many clients, beside bare hello-JSON and two bare handlers of the same call, and over few and over many documents; or a `note` why it was not."""

    case: Case
    calls: str = ""
    few: Figures | None = None
    many: Figures | None = None
    hello: Figures | None = None
    same_calls: Figures | None = None
    sdk_calls: Figures | None = None
    small: Figures | None = None
    large: Figures | None = None
    note: str = ""


@dataclass
class Measured:
    """Everything one run of the bench found. Memory in MiB by process, `large_documents` by database."""

    database: str
    products: int
    orders: int
    seconds_to_first_answer: float
    search_after_sales: float | None = None
    memory: dict[str, float] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    large_documents: dict[str, int] = field(default_factory=dict)


def written(found: Measured) -> str:
    """The facts, then the table."""
    parts = ", ".join(
        f"{name} {mib:.0f}" for name, mib in sorted(found.memory.items(), key=lambda each: -each[1])
    )
    large = ", ".join(f"{count:,} documents in {name}" for name, count in found.large_documents.items())
    facts = [
        f"{core_count()} cores; {found.database}; {found.products:,} products, {found.orders:,} past orders"
        + (f"; large: {large}" if large else "")
        + ".",
        _hello(found.rows),
        f"Cold start to the first ready service: {found.seconds_to_first_answer:.1f} s.",
        _kept(found.search_after_sales),
        f"Memory of all processes (PSS): {sum(found.memory.values()):.0f} MiB ({parts}).",
        *(f"Import: {sentence}." for sentence in found.imports),
    ]
    table = [HEADS, ["---"] * len(HEADS), *(_cells(row) for row in found.rows)]
    return "\n".join(
        [*(f"- {fact}" for fact in facts), "", *(f"| {' | '.join(line)} |" for line in table), ""]
    )


def _kept(share: float | None) -> str:
    if share is None:
        return "Searches before and after sales: not measured, they were refused."
    return f"Searches keep {share:.2f} of their rate over some hundred sales."


def _hello(rows: Sequence[Row]) -> str:
    rates = sorted(row.hello.rate for row in rows if row.hello)
    if not rates:
        return "Bare Flask hello-JSON: not measured."
    return (
        f"Bare Flask hello-JSON, 2 workers, 1 client: {rates[len(rates) // 2]:.0f} requests a second"
        f" ({rates[0]:.0f} to {rates[-1]:.0f}, measured beside each row)."
    )


def _cells(row: Row) -> list[str]:
    few, many, hello = row.few, row.many, row.hello
    if few is None or many is None or hello is None:
        return [row.case.name, row.calls, f"not measured: {row.note}", *[""] * (len(HEADS) - 3)]
    name = row.case.name + ("" if many.clients == 16 else f" ({few.clients} and {many.clients} clients)")
    cells = [name + (f": {row.note}" if row.note else ""), row.calls]
    for each in (few, many):
        cells += [each.shown_rate, f"{each.p50_ms:.1f}", f"{each.p99_ms:.1f}"]
    cells.append(f"{many.rate / hello.rate:.3f}")
    cells += [_share(many, bare) for bare in (row.same_calls, row.sdk_calls)]
    return [*cells, f"{row.large.p50_ms / row.small.p50_ms:.2f}" if row.large and row.small else ""]


def _share(figures: Figures, bare: Figures | None) -> str:
    return f"{figures.rate / bare.rate:.2f}" if bare and bare.rate else ""
