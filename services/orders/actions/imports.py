"""Order history from elsewhere: a stream of lines, written in bulks, the same stream twice changes nothing."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from services.orders.actions.first_orders import first_orders
from services.orders.dependencies import Dependencies
from services.orders.documents import BEST_SELLERS, FULFILMENT, SALES, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.importing import documents_of
from services.orders.rules.summaries import summary_document
from shared.couch import Document
from shared.errors import Invalid, Unavailable

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


def import_orders(
    deps: Dependencies, lines: Iterable[tuple[int, bytes | None]], from_line: int = 1
) -> Iterator[ImportResult]:
    """Imports each (number, line) from `from_line` on, None being too long a one; yields the result so far after every bulk, to show progress."""
    result = ImportResult()
    batch: list[tuple[int, list[Document]]] = []
    seen: set[str] = set()
    for number, line in lines:
        if number < from_line or (line is not None and not line.strip()):
            continue
        result.lines += 1
        if line is None:
            result.fail(number, "line_too_long", "The line is too long to be an order.")
            continue
        try:
            docs = documents_of(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            result.fail(number, "malformed_json", f"The line is not JSON: {error.msg}.")
            continue
        except Invalid as error:
            result.fail(number, "invalid", error.detail)
            continue
        if docs[0]["_id"] in seen:
            yield _written(deps, batch, result)
            batch, seen = [], set()
        batch.append((number, docs))
        seen.add(docs[0]["_id"])
        if sum(len(docs) for _, docs in batch) >= BATCH_SIZE:
            yield _written(deps, batch, result)
            batch, seen = [], set()
    _written(deps, batch, result)
    if result.created:
        result.is_reported = _have_reports_caught_up(deps)
    yield result


def _have_reports_caught_up(deps: Dependencies) -> bool:
    """Whether the reports hold what was imported. A server that takes too long is left to it: all is written, and nothing is refused."""
    try:
        deps.stores.bulk_reports.catch_up(SALES, BEST_SELLERS, FULFILMENT)
    except Unavailable as error:
        log.warning("the reports are behind what was imported: %s", error)
        return False
    return True


def _written(
    deps: Dependencies, batch: list[tuple[int, list[Document]]], result: ImportResult
) -> ImportResult:
    """The orders first, then the other documents of those that this import created: nothing is written into another order."""
    if batch:
        store = deps.stores.bulk_orders
        archived = store.archived([docs[0]["orderid"] for _, docs in batch])
        new = [docs[0] for _, docs in batch if docs[0]["orderid"] not in archived]
        written = store.add_all(new) if new else []
        existing = {row.id for row in written if row.error} | {
            order_key(orderid, "order") for orderid in archived
        }
        known = [(number, docs) for number, docs in batch if docs[0]["_id"] in existing]
        result.created += len(batch) - len(known)
        refused = _compare(deps, known, result)
        following = _following(
            deps,
            [docs for number, docs in batch if number not in refused and docs[0]["orderid"] not in archived],
        )
        written += store.add_all(following) if following else []
        result.documents += sum(1 for row in written if not row.error)
        deps.stores.index_catch_up.wrote(len(written))
        log.info("import: line %s, %s documents written", batch[-1][0], result.documents)
    return result


def _following(deps: Dependencies, orders: list[list[Document]]) -> list[Document]:
    """What is written of them behind the order itself, and their summaries, which say whether an order is its customer's first."""
    found = [OrderDocuments(docs) for docs in orders]
    firsts = first_orders(deps.stores.bulk_summaries, found)
    summaries = [summary_document(each, firsts.get(each.order["orderid"])) for each in found]
    return [*(doc for docs in orders for doc in docs[1:]), *summaries]


def _compare(deps: Dependencies, known: list[tuple[int, list[Document]]], result: ImportResult) -> set[int]:
    """Orders that exist already: the same content is unchanged, another (its lines come back) is refused, for an order never changes."""
    refused = set()
    stored = deps.stores.bulk_orders.headers([docs[0]["orderid"] for _, docs in known]) if known else {}
    for number, docs in known:
        existing = stored.get(docs[0]["orderid"])
        if existing is not None and existing["fingerprint"] == docs[0]["fingerprint"]:
            result.unchanged += 1
        else:
            refused.add(number)
            result.fail(
                number,
                "order_exists",
                f"Order {docs[0]['orderid']} is there with other content; orders never change.",
            )
    return refused
