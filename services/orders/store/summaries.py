"""The orders as the desk lists them: one global query, whatever is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.orders.declarations.summaries import OrderSummary
from services.orders.documents import ORDER_SUMMARY, ORDERS_BETWEEN, SPEND, SUMMARIES, order_key
from services.orders.rules.assembly import OrderDocuments
from shared.couch import HIGHEST_KEY, Database, Doc, Page, StaleRows, UpdateConflict
from shared.errors import Unavailable

STATE: Final = "order-summaries"
FIRST, BEHIND_ALL = "order", "order\ufff0"
MAX_ATTEMPTS = 5


@dataclass(frozen=True)
class Choice:
    """Which orders are listed: "" is any. `word` is a key of `rules.summaries.search_key`."""

    status: str = ""
    word: str = ""
    product: str = ""
    open_returns: bool = False

    @property
    def key(self) -> list[str]:
        """How the keys of its rows begin."""
        return ["open" if self.open_returns else "", self.product, self.word]


class SummaryStore:
    """The summaries in the orders database, and how far they are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, summary: OrderSummary) -> None:
        """Raises UpdateConflict when another one was written since the documents were read."""
        self._database.put(summary)

    def put_many(self, summaries: Sequence[OrderSummary]) -> int:
        """How many were written; the others were written by somebody else meanwhile."""
        written = self._database.put_many(summaries)
        if failed := [row for row in written if row.error not in (None, "conflict")]:
            raise Unavailable(f"The database did not take {failed[0].id}: {failed[0].error}.")
        return sum(row.error is None for row in written)

    def named(self, orderids: Sequence[str]) -> dict[str, OrderSummary]:
        """Of these orders, by order id. 1 read."""
        found = self._database.get_many([order_key(orderid, "summary") for orderid in orderids])
        return {summary["orderid"]: summary for summary in ORDER_SUMMARY.among(found.values())}

    def orders_chosen(
        self, choice: Choice, start: str, end: str, *, limit: int, after: list[Any] | None = None
    ) -> Page:
        """O13: summaries of orders placed in [start, end), newest first; `after`: [placed, orderid] of the last one seen. 1 global query."""
        prefix = [*choice.key, choice.status]
        rows = self._database.across_partitions.view(
            SUMMARIES,
            start=[*prefix, *(after or [end])],
            end=[*prefix, start],
            descending=True,
            reduce=False,
            include_docs=True,
            limit=limit + 2,
            allow_stale=True,
        )
        stale = isinstance(rows, StaleRows)
        if after and rows and rows[0]["key"][-2:] == after:
            rows = rows[1:]
        following = rows[limit - 1]["key"][-2:] if len(rows) > limit else None
        return Page([row["doc"] for row in rows[:limit] if row.get("doc")], following, stale=stale)

    def counts(self, choice: Choice) -> dict[str, int]:
        """O14: how many orders are of each status, "" being all. 1 global query."""
        rows = self._database.across_partitions.view(
            SUMMARIES,
            start=choice.key,
            end=[*choice.key, HIGHEST_KEY],
            group_level=4,
            allow_stale=True,
        )
        return {row["key"][3]: row["value"] for row in rows}

    def spend(self, kind: str, customer: str) -> dict[str, tuple[int, int, int]]:
        """O15: {currency: (orders, paid, refunded)} of a customer: `kind` is "user" with a user id, or "email" with a guest's. 1 global query."""
        rows = self._database.across_partitions.view(
            SPEND, start=[kind, customer], end=[kind, customer, HIGHEST_KEY], group=True, allow_stale=True
        )
        return {row["key"][2]: tuple(row["value"]) for row in rows}

    def whole_orders(self, after: str, *, limit: int) -> tuple[list[OrderDocuments], str | None]:
        """Orders by id, of `limit` documents together, and where the next ones begin. 1 global query."""
        docs = self._database.across_partitions.documents(after or FIRST, BEHIND_ALL, limit=limit)
        partitions: dict[str, list[Doc]] = {}
        for doc in docs:
            partitions.setdefault(doc["_id"].partition(":")[0], []).append(doc)
        following = None
        if len(docs) == limit:
            last, _ = partitions.popitem()
            following = f"{last}:"
            if not partitions:
                partitions[last] = self._database.partition(last).all()
                following = f"{last};"
        found = [OrderDocuments(each) for each in partitions.values()]
        return [each for each in found if each.exists], following

    def number_of_orders(self) -> int:
        """1 global query."""
        rows = self._database.across_partitions.view(ORDERS_BETWEEN)
        return int(rows[0]["value"][0]) if rows else 0

    def state(self) -> Doc:
        """How far the summaries of older orders are; empty before the first. 1 read."""
        return self._database.get_local(STATE) or {}

    def set_state(self, **values: Any) -> None:
        for _ in range(MAX_ATTEMPTS):
            try:
                self._database.put_local(STATE, self.state() | values)
                return
            except UpdateConflict:
                continue
        raise Unavailable("Others write how far the summaries are.")
