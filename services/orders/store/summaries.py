"""The orders as the desk lists them: one global query, whatever is asked for."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.orders.declarations.summaries import FirstOrder, OrderSummary
from services.orders.documents import (
    FIRST_ORDER,
    ORDER_SUMMARY,
    ORDERS_BETWEEN,
    SPEND,
    SUMMARIES,
    first_order_key,
    order_key,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.store.orders import OrderStore
from shared.couch import HIGHEST_KEY, Database, Doc, Page, StaleRows, UpdateConflict, quorum
from shared.errors import Unavailable

STATE: Final = "order-summaries"
FIRST, BEHIND_ALL = "order", "order\ufff0"
MAX_ATTEMPTS = 5
MAX_LOOKED_AT: Final = 500
"""Orders with a word whose products are compared in one query."""


@dataclass(frozen=True)
class Choice:
    """Which orders are listed: "" is any. `word` is a key of `rules.summaries.search_key`."""

    status: str = ""
    word: str = ""
    product: str = ""
    open_returns: bool = False
    waiting: bool = False

    @property
    def key(self) -> list[str]:
        """How the keys of its rows begin. Of a word and a product the word: few orders have it, and their products are looked at."""
        group = ("open" if self.open_returns else "") + ("waiting" if self.waiting else "")
        return [group, "" if self.word else self.product, self.word]

    @property
    def looks_at_products(self) -> bool:
        return bool(self.word and self.product)


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
        found = self._database.latest_many([order_key(orderid, "summary") for orderid in orderids])
        return {summary["orderid"]: summary for summary in ORDER_SUMMARY.among(found.values())}

    def order(self, orderid: str) -> OrderDocuments:
        """A whole order, as `OrderStore.confirmed_order` reads it. 1 partition query; on a cluster the reads that it names. Raises OrderBehind."""
        return OrderStore(self._database).confirmed_order(orderid)

    def first_orders(self, customers: set[str]) -> dict[str, FirstOrder]:
        """The claims of those that are there, by customer. 1 read."""
        ids = {first_order_key(each): each for each in customers}
        found = self._database.get_many(sorted(ids)) if ids else {}
        return {ids[claim["_id"]]: claim for claim in FIRST_ORDER.among(found.values())}

    def claim_first(self, claim: FirstOrder) -> FirstOrder:
        """1 write. Raises UpdateConflict when somebody else was quicker, Unavailable when too few nodes took it."""
        return {**claim, "_rev": quorum.put(self._database, claim)}

    def claim_new(self, claims: dict[str, FirstOrder]) -> dict[str, FirstOrder]:
        """Of claims for customers who have none, by customer, those that hold now. 1 write."""
        kept = quorum.put_new(self._database, list(claims.values())) if claims else []
        written = {claim["_id"]: claim for claim in FIRST_ORDER.among(kept)}
        return {
            customer: written[claim["_id"]] for customer, claim in claims.items() if claim["_id"] in written
        }

    def remove(self, claim: FirstOrder) -> None:
        """This revision of it."""
        self._database.delete(claim["_id"], claim["_rev"])

    def orders_chosen(
        self,
        choice: Choice,
        start: str,
        end: str,
        *,
        limit: int,
        after: list[Any] | None = None,
        oldest_first: bool = False,
    ) -> Page:
        """O13: summaries of orders placed in [start, end), newest first unless `oldest_first`; `after`: [placed, orderid] of the last one seen. 1 global query.

        A page may be short only where a word and a product are asked for, and the word is in MAX_LOOKED_AT orders without it.
        """
        prefix, most = [*choice.key, choice.status], MAX_LOOKED_AT if choice.looks_at_products else limit + 2
        first, last = (start, end) if oldest_first else (end, start)
        rows = self._database.across_partitions.view(
            SUMMARIES,
            start=[*prefix, *(after or [first])],
            end=[*prefix, last],
            descending=not oldest_first,
            reduce=False,
            include_docs=True,
            limit=most,
            allow_stale=True,
        )
        stale, looked_at = isinstance(rows, StaleRows), len(rows)
        if after and rows and rows[0]["key"][-2:] == after:
            rows = rows[1:]
        found = _with_product(rows, choice)
        following = None
        if len(found) > limit:
            following = found[limit - 1]["key"][-2:]
        elif choice.looks_at_products and looked_at == most:
            following = rows[-1]["key"][-2:]
        return Page([row["doc"] for row in found[:limit] if row.get("doc")], following, stale=stale)

    def counts(self, choice: Choice) -> dict[str, int]:
        """O14: how many orders are of each status, "" being all; none where too many would have to be looked at. 1 global query."""
        if choice.looks_at_products:
            return self._counts_of_product(choice)
        rows = self._database.across_partitions.view(
            SUMMARIES,
            start=choice.key,
            end=[*choice.key, HIGHEST_KEY],
            group_level=4,
            allow_stale=True,
        )
        return {row["key"][3]: row["value"] for row in rows}

    def _counts_of_product(self, choice: Choice) -> dict[str, int]:
        prefix = [*choice.key, ""]
        rows = self._database.across_partitions.view(
            SUMMARIES,
            start=prefix,
            end=[*prefix, HIGHEST_KEY],
            reduce=False,
            include_docs=True,
            limit=MAX_LOOKED_AT,
            allow_stale=True,
        )
        if len(rows) == MAX_LOOKED_AT:
            return {}
        statuses = [row["doc"]["status"] for row in _with_product(rows, choice)]
        return {"": len(statuses), **Counter(statuses)}

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


def _with_product(rows: Sequence[Doc], choice: Choice) -> list[Doc]:
    """All of them, unless a product has to be looked for."""
    if not choice.looks_at_products:
        return list(rows)
    return [row for row in rows if row.get("doc") and choice.product in row["doc"]["products"]]
