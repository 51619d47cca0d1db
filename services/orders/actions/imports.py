"""Order history from elsewhere: a stream of lines, written in bulks, the same stream twice changes nothing."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from services.orders.actions.shop import Shop
from services.orders.documents import BEST_SELLERS, FULFILMENT, SALES
from services.orders.rules.importing import documents_of
from shared.couch import Doc
from shared.errors import Invalid

log = logging.getLogger(__name__)

BULK = 2000
MOST_FAILURES = 1000


@dataclass
class Tally:
    """What became of the lines so far."""

    lines: int = 0
    created: int = 0
    unchanged: int = 0
    documents: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    failures: int = 0

    def fail(self, line: int, code: str, detail: str) -> None:
        self.failures += 1
        if len(self.failed) < MOST_FAILURES:
            self.failed.append({"line": line, "code": code, "detail": detail})

    def answer(self) -> dict[str, Any]:
        return {
            "lines": self.lines, "created": self.created, "updated": 0, "unchanged": self.unchanged,
            "documents": self.documents, "failures": self.failures, "failed": self.failed,
        }  # fmt: skip


def import_orders(
    shop: Shop, lines: Iterable[tuple[int, bytes | None]], from_line: int = 1
) -> Iterator[Tally]:
    """Imports each (number, line) from `from_line` on, None being too long a one; yields the tally after every bulk, to show progress."""
    tally = Tally()
    batch: list[tuple[int, list[Doc]]] = []
    seen: set[str] = set()
    for number, line in lines:
        if number < from_line or (line is not None and not line.strip()):
            continue
        tally.lines += 1
        if line is None:
            tally.fail(number, "line_too_long", "The line is too long to be an order.")
            continue
        try:
            docs = documents_of(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            tally.fail(number, "malformed_json", f"The line is not JSON: {error.msg}.")
            continue
        except Invalid as error:
            tally.fail(number, "invalid", error.detail)
            continue
        if docs[0]["_id"] in seen:
            yield _written(shop, batch, tally)
            batch, seen = [], set()
        batch.append((number, docs))
        seen.add(docs[0]["_id"])
        if sum(len(docs) for _, docs in batch) >= BULK:
            yield _written(shop, batch, tally)
            batch, seen = [], set()
    _written(shop, batch, tally)
    if tally.created:
        shop.stores.bulk_reports.catch_up(SALES, BEST_SELLERS, FULFILMENT)
    yield tally


def _written(shop: Shop, batch: list[tuple[int, list[Doc]]], tally: Tally) -> Tally:
    """The orders first, then what belongs to those that are ours: nothing is written into another order."""
    if batch:
        store = shop.stores.bulk_orders
        written = store.add_all([docs[0] for _, docs in batch])
        there = {row.id for row in written if row.error}
        met = [(number, docs) for number, docs in batch if docs[0]["_id"] in there]
        tally.created += len(batch) - len(met)
        refused = _compare(shop, met, tally)
        following = [doc for number, docs in batch if number not in refused for doc in docs[1:]]
        written += store.add_all(following) if following else []
        tally.documents += sum(1 for row in written if not row.error)
        shop.stores.following.wrote(len(written))
        log.info("import: line %s, %s documents written", batch[-1][0], tally.documents)
    return tally


def _compare(shop: Shop, met: list[tuple[int, list[Doc]]], tally: Tally) -> set[int]:
    """Orders that were there already: the same content is unchanged, another (its lines come back) is refused, for an order never changes."""
    refused = set()
    stored = shop.stores.bulk_orders.headers([docs[0]["orderid"] for _, docs in met]) if met else {}
    for number, docs in met:
        there = stored.get(docs[0]["orderid"])
        if there is not None and there["fingerprint"] == docs[0]["fingerprint"]:
            tally.unchanged += 1
        else:
            refused.add(number)
            tally.fail(
                number,
                "order_exists",
                f"Order {docs[0]['orderid']} is there with other content; orders never change.",
            )
    return refused
