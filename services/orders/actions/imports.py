"""Order history from elsewhere: a stream of lines, written in bulks, the same stream twice changes nothing."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import orjson

from services.orders.actions.first_orders import first_orders
from services.orders.declarations.order import Order
from services.orders.declarations.summaries import OrderSummary
from services.orders.dependencies import Dependencies
from services.orders.documents import BEST_SELLERS, FULFILMENT, SALES, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.importing import documents_of
from services.orders.rules.summaries import summary_document, with_first
from shared.couch import Document
from shared.errors import Invalid, Unavailable
from shared.read_ahead import read_ahead

log = logging.getLogger(__name__)

BATCH_SIZE = 2000
MAX_FAILURES = 1000


@dataclass
class ImportResult:
    """What became of the lines so far."""

    lines: int = 0
    created: int = 0
    unchanged: int = 0
    documents: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    failures: int = 0
    is_reported: bool = True

    def fail(self, line: int, code: str, detail: str) -> None:
        self.failures += 1
        if len(self.failed) < MAX_FAILURES:
            self.failed.append({"line": line, "code": code, "detail": detail})

    def answer(self) -> dict[str, Any]:
        return {
            "lines": self.lines,
            "created": self.created,
            "updated": 0,
            "unchanged": self.unchanged,
            "documents": self.documents,
            "failures": self.failures,
            "failed": self.failed,
            "reported": self.is_reported,
        }


@dataclass(frozen=True)
class _Line:
    """A valid line: its order's documents, the order itself first, and the summary of them, which does not say yet whether it is a first one."""

    number: int
    found: OrderDocuments
    summary: OrderSummary

    @property
    def order(self) -> Order:
        return self.found.order

    @property
    def orderid(self) -> str:
        return self.order["orderid"]


@dataclass
class _Batch:
    """Lines that are written together, and what is wrong with others."""

    orders: dict[str, _Line] = field(default_factory=dict)
    documents: int = 0
    failed: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def lines(self) -> int:
        return len(self.orders) + len(self.failed)

    @property
    def is_full(self) -> bool:
        """A file of nothing but bad lines has batches, too: what is wrong with all of them has no room in memory."""
        return self.documents + len(self.failed) >= BATCH_SIZE


def import_orders(
    deps: Dependencies, lines: Iterable[tuple[int, bytes | None]], from_line: int = 1
) -> Iterator[ImportResult]:
    """Imports each (number, line) from `from_line` on, None being too long a one; yields the result so far after every bulk, to show progress.

    The lines of the next bulk are read and checked while one is written."""
    result = ImportResult()
    with closing(read_ahead(_batches(lines, from_line))) as batches:
        for batch in batches:
            result.lines += batch.lines
            for failure in batch.failed:
                result.fail(*failure)
            _write(deps, list(batch.orders.values()), result)
            yield result
    if result.created:
        result.is_reported = _have_reports_caught_up(deps)
    yield result


def _batches(lines: Iterable[tuple[int, bytes | None]], from_line: int) -> Iterator[_Batch]:
    """No order is twice in one of them."""
    batch = _Batch()
    for number, line in lines:
        if number < from_line or (line is not None and not line.strip()):
            continue
        if batch.is_full:
            yield batch
            batch = _Batch()
        if line is None:
            batch.failed.append((number, "line_too_long", "The line is too long to be an order."))
            continue
        try:
            found = OrderDocuments(documents_of(orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            batch.failed.append((number, "malformed_json", f"The line is not JSON: {error.msg}."))
            continue
        except Invalid as error:
            batch.failed.append((number, "invalid", error.detail))
            continue
        orderid = found.order["orderid"]
        if orderid in batch.orders:
            yield batch
            batch = _Batch()
        batch.orders[orderid] = _Line(number, found, summary_document(found))
        batch.documents += len(found.documents)
    yield batch


def _have_reports_caught_up(deps: Dependencies) -> bool:
    """Whether the reports hold what was imported. A server that takes too long is left to it: all is written, and nothing is refused."""
    try:
        deps.stores.bulk_reports.catch_up(SALES, BEST_SELLERS, FULFILMENT)
    except Unavailable as error:
        log.warning("the reports are behind what was imported: %s", error)
        return False
    return True


def _write(deps: Dependencies, batch: list[_Line], result: ImportResult) -> None:
    """The orders first, then the other documents of those that this import created: nothing is written into another order."""
    if not batch:
        return
    store = deps.stores.bulk_orders
    archived = store.archived([line.orderid for line in batch])
    new = [line.order for line in batch if line.orderid not in archived]
    written = store.add_all(new) if new else []
    existing = {row.id for row in written if row.error} | {
        order_key(orderid, "order") for orderid in archived
    }
    known = [line for line in batch if line.order["_id"] in existing]
    result.created += len(batch) - len(known)
    refused = _compare(deps, known, result)
    following = _following(
        deps, [line for line in batch if line.number not in refused and line.orderid not in archived]
    )
    written += store.add_all(following) if following else []
    result.documents += sum(1 for row in written if not row.error)
    deps.stores.index_catch_up.wrote(len(written))
    log.info("import: line %s, %s documents written", batch[-1].number, result.documents)


def _following(deps: Dependencies, lines: list[_Line]) -> list[Document]:
    """What is written of them behind the order itself, and their summaries, which say whether an order is its customer's first."""
    firsts = first_orders(deps.stores.bulk_summaries, [line.found for line in lines])
    summaries = [with_first(line.summary, firsts.get(line.orderid)) for line in lines]
    return [*(doc for line in lines for doc in line.found.documents[1:]), *summaries]


def _compare(deps: Dependencies, known: list[_Line], result: ImportResult) -> set[int]:
    """Orders that exist already: the same content is unchanged, another (its lines come back) is refused, for an order never changes."""
    refused = set()
    stored = deps.stores.bulk_orders.headers([line.orderid for line in known]) if known else {}
    for line in known:
        existing = stored.get(line.orderid)
        if existing is not None and existing["fingerprint"] == line.order["fingerprint"]:
            result.unchanged += 1
        else:
            refused.add(line.number)
            result.fail(
                line.number,
                "order_exists",
                f"Order {line.orderid} is there with other content; orders never change.",
            )
    return refused
