"""Reads and writes of orders: O1 to O4, and documents that are added once."""

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from services.orders.declarations.order import Order, OrderLineItem, PaymentCustomer
from services.orders.documents import (
    ARCHIVED_ORDER,
    AUTHORIZATIONS,
    BOUGHT,
    BOUGHT_TOGETHER,
    CONFLICTS,
    LINES_OF_AN_ORDER,
    ORDER,
    ORDER_SUMMARY,
    ORDERS_BETWEEN,
    ORDERS_BY_NUMBER,
    ORDERS_OF_A_CUSTOMER,
    PAYMENT_CUSTOMER,
    PERSONAL,
    PROCESSING,
    SESSION,
    order_key,
    order_partition,
    payment_customer_key,
)
from services.orders.rules.archive import header_of
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.next_steps import next_keys
from services.orders.rules.order_errors import OrderBehind
from services.orders.rules.progress import Progress, progress_of
from shared.couch import (
    HIGHEST_KEY,
    Database,
    Doc,
    Document,
    NoSuchDocument,
    Page,
    StaleRows,
    View,
    Written,
    quorum,
)
from shared.errors import Unavailable
from shared.tracing import outgoing

Key = list[Any]
"""A row's key in a view: where the next page begins."""

Row = tuple[str, str, str | None, str, Progress]
"""orderid, placed, userid, currency, progress: all that a list of orders shows."""

MAX_LINES = 200
D = TypeVar("D")


class OrderStore:
    """The orders database as orders."""

    def __init__(self, database: Database) -> None:
        self.database = self._database = database

    def place(self, docs: Sequence[Document]) -> bool:
        """Writes an order's first documents in one bulk; False when the order is there already, which stays as it is."""
        written = self._database.put_many(docs)
        _raise_failures(written)
        if written[0].error is None and not self._was_archived(docs, written):
            return True
        if written[0].error is not None:
            self._undo_bulk([row for row in written if row.error is None], docs[0]["_id"])
        return False

    def add(self, doc: D) -> tuple[D, bool]:
        """Writes an immutable document once, with the present trace: (what is stored, whether this call wrote it).

        Raises Unavailable where too few nodes of a cluster took it, for another writer may have been told that theirs holds.
        """
        new: Document = {**cast(Document, doc), **outgoing()}
        if quorum.try_put(self._database, new):
            return cast(D, new), True
        try:
            return cast(D, self._database.get(new["_id"])), False
        except NoSuchDocument:
            raise Unavailable("Others just tried the same; try again.", retry_after=2) from None

    def add_beside(self, doc: D, other: Document) -> tuple[D, str | None]:
        """`add`, and another document in the same write: (what is stored, the other's new revision, None where somebody else changed it)."""
        new: Document = {**cast(Document, doc), **outgoing()}
        added, beside = written = self._database.put_many([new, other])
        _raise_failures(written)
        return cast(D, self._database.get(new["_id"]) if added.error else new), beside.rev

    def add_all(self, docs: Sequence[Document]) -> list[Written]:
        """Many at once, each on its own; a conflict means that it is there already."""
        written = self._database.put_many(docs)
        _raise_failures(written)
        return written

    def order(self, orderid: str) -> OrderDocuments:
        """O1: a whole order. 1 partition query; where there are several copies of each document 1 read more, or one for each step that the
        list lacks: it is one node's copy, and the node may be behind. Its customer is the one document that changes, and is read with them."""
        found = OrderDocuments(self._database.partition(order_partition(orderid)).all())
        if self._database.has_one_copy or not found.exists:
            return found
        asked: set[str] = set()
        while keys := [key for key in ("customer", *next_keys(found)) if key not in asked]:
            asked.update(keys)
            for doc in self._database.get_many([order_key(orderid, key) for key in keys]).values():
                found = found.with_document(doc)
        return found

    def confirmed_order(self, orderid: str) -> OrderDocuments:
        """The same for jobs, and for who decides whether an order may keep what it has claimed: that there is none is not believed of a list alone.
        1 read more where the list has none. Raises OrderBehind."""
        found = self.order(orderid)
        if not found.exists and self.order_behind_list(orderid):
            raise OrderBehind
        return found

    def order_behind_list(self, orderid: str) -> Order | None:
        """The document of an order that the list of its partition lacks: a list is one node's copy, which is behind for seconds after the
        node was cut off; a document is what a quorum of nodes has. 1 read, none where there is one copy of each document."""
        if self._database.has_one_copy:
            return None
        try:
            return cast(Order, self._database.get(order_key(orderid, "order")))
        except NoSuchDocument:
            return None

    def lines(self, orderid: str) -> list[OrderLineItem]:
        """O1: only its lines. 1 partition query."""
        partition = self._database.partition(order_partition(orderid))
        found = partition.find(LINES_OF_AN_ORDER, {"line": {"$gt": 0}}, limit=MAX_LINES)
        return cast(list[OrderLineItem], found.items)

    def header(self, orderid: str) -> Order:
        """O2: an order's header. 1 read. Raises NoSuchDocument."""
        return cast(Order, self._database.get(order_key(orderid, "order")))

    def headers(self, orderids: Sequence[str]) -> dict[str, Order]:
        """O2 for many, by order id; of an archived one what stays of its header. 1 read."""
        keys = [order_key(orderid, key) for orderid in orderids for key in ("archived", "order")]
        found = self._database.get_many(keys).values()
        archived = {doc["orderid"]: header_of(doc) for doc in ARCHIVED_ORDER.among(found)}
        headers = {doc["orderid"]: doc for doc in ORDER.among(found)}
        return cast(dict[str, Order], {**archived, **headers})

    def documents_of(self, orderid: str) -> list[Document]:
        """O1: a whole order as it is stored. 1 partition query."""
        return list(self._database.partition(order_partition(orderid)).all())

    def compact(self) -> bool:
        """Has the database remove old revisions; False where that is the server's own affair."""
        return self._database.compact()

    def personal_documents(self, userid: str, *, limit: int) -> list[Document]:
        """Documents that still name this person (`userid` or `guest_key`) or hold what they wrote. 1 global query."""
        rows = self._database.across_partitions.view(PERSONAL, key=userid, include_docs=True, limit=limit)
        return [row["doc"] for row in rows if row["doc"]]

    def overwrite_personal(self, docs: Sequence[Document]) -> None:
        """Replaces personal data (each with its `_rev`): what erasing a person does. Raises Unavailable when one is left."""
        written = self._database.put_many(docs)
        if any(row.error for row in written):
            raise Unavailable("Some orders changed while they were erased; try again.")

    def orders_of_a_customer(
        self, userid: str, *, limit: int, after: Key | None = None, allow_stale: bool = True
    ) -> Page:
        """O3: newest first; `after` is the key of the last row seen. 1 global query."""
        highest = [userid, HIGHEST_KEY]
        return self._newest_first(ORDERS_OF_A_CUSTOMER, [userid], highest, limit, after, allow_stale)

    def orders_between(self, start: str, end: str, *, limit: int, after: Key | None = None) -> Page:
        """O4: placed in [start, end), newest first. 1 global query."""
        return self._newest_first(ORDERS_BETWEEN, [start], [end], limit, after, True)

    def orders_placed_since(self, start: str, *, limit: int, after: Key | None = None) -> Page:
        """O7: oldest first, for the sweep. 1 global query."""
        first = [*after, HIGHEST_KEY] if after else [start]
        rows = self._database.across_partitions.view(
            ORDERS_BETWEEN, start=first, end=[HIGHEST_KEY], group=True, limit=limit + 1
        )
        return _page(rows, limit)

    def order_of_number(self, number: str) -> str | None:
        """O12: the id of the order that is called so. 1 global query."""
        rows = self._database.across_partitions.view(ORDERS_BY_NUMBER, key=number, limit=1, allow_stale=True)
        return str(rows[0]["id"]).partition(":")[0].removeprefix("order") if rows else None

    def authorizations(self, since: str, until: str, *, limit: int) -> list[str]:
        """Ids of orders whose money was only reserved, by when it can be taken at the latest, soonest first. 1 global query."""
        rows = self._database.across_partitions.view(
            AUTHORIZATIONS, start=since, end=until, limit=limit, allow_stale=True
        )
        return [row["id"].partition(":")[0].removeprefix("order") for row in rows]

    def payment_customer(self, userid: str, provider: str) -> PaymentCustomer | None:
        """What the provider knows a customer by. 1 read."""
        key = payment_customer_key(userid, provider)
        return PAYMENT_CUSTOMER.typed(self._database.get_many([key]).get(key))

    def payment_customers(self, userid: str) -> list[PaymentCustomer]:
        """Of every provider. 1 partition query."""
        return PAYMENT_CUSTOMER.among(self._database.partition(f"customer{userid}").all())

    def replace(self, doc: D) -> D:
        """Writes a document anew (with its `_rev`); as it is stored. 1 write. Raises UpdateConflict, Unavailable when too few nodes took it."""
        changed = cast(Document, doc)
        return cast(D, {**changed, "_rev": quorum.put(self._database, changed)})

    def has_ordered(self, userid: str) -> bool:
        """Whether a customer has paid for an order before. 1 global query."""
        return bool(self.orders_of_a_customer(userid, limit=1, allow_stale=False).items)

    def bought(self, userid: str, productid: str) -> bool:
        """Whether a customer's payments less returns hold this product. 1 global query."""
        rows = self._database.across_partitions.view(
            BOUGHT, key=[userid, productid], group=True, allow_stale=True
        )
        return bool(rows) and rows[0]["value"] > 0

    def bought_together(self, productid: str, limit: int) -> list[dict[str, Any]]:
        """Rows {key: [productid, another], value: paid orders with both}, `limit` at most. 1 global query."""
        return self._database.across_partitions.view(
            BOUGHT_TOGETHER,
            start=[productid],
            end=[productid, HIGHEST_KEY],
            group=True,
            limit=limit,
            allow_stale=True,
        )

    def conflicted(self, *, limit: int) -> list[str]:
        """Ids of documents that diverged replicas wrote differently. 1 global query."""
        rows = self._database.across_partitions.view(CONFLICTS, limit=limit)
        return [row["id"] for row in rows]

    def leaves(self, docid: str) -> list[Doc]:
        """Every live revision of a document."""
        winner = self._database.get(docid, conflicts=True)
        others = [self._database.get(docid, rev=rev) for rev in winner.pop("_conflicts", [])]
        return [winner, *others]

    def remove_revision(self, docid: str, rev: str) -> None:
        self._database.delete(docid, rev)

    def sweep_checkpoint(self, sweep: str) -> Doc:
        """Where a sweep goes on; empty before the first. 1 read."""
        return self._database.get_local(sweep) or {}

    def set_sweep_checkpoint(self, sweep: str, **values: str | Key | None) -> None:
        self._database.put_local(sweep, self.sweep_checkpoint(sweep) | values)

    def archived(self, orderids: Sequence[str]) -> set[str]:
        """Those of these orders whose documents lie in an archive. 1 read."""
        keys = {order_key(orderid, "archived"): orderid for orderid in orderids}
        return {keys[docid] for docid in self._database.get_many(list(keys))}

    def _was_archived(self, docs: Sequence[Document], written: Sequence[Written]) -> bool:
        """Whether a new order met what stays of an archived one: what was written of it is taken back. No call unless it met something."""
        if all(row.error is None for row in written) or not self.archived([docs[0]["orderid"]]):
            return False
        new = [row for row in written if row.error is None]
        self._database.put_many([{"_id": row.id, "_rev": row.rev, "_deleted": True} for row in new])
        return True

    def _undo_bulk(self, written: list[Written], docid: str) -> None:
        """A bulk that met another order has written those of its lines that the order has not: they go again."""
        if not written:
            return
        order = self._database.get(docid)
        own = {order_key(order["orderid"], f"item{line['line']}") for line in order["basket"]}
        foreign = [row for row in written if ":item" in row.id and row.id not in own]
        self._database.put_many([{"_id": row.id, "_rev": row.rev, "_deleted": True} for row in foreign])

    def _newest_first(
        self, view: View, lowest: Key, highest: Key, limit: int, after: Key | None, allow_stale: bool
    ) -> Page:
        start, inclusive = (after, False) if after else (highest, True)
        rows = self._database.across_partitions.view(
            view,
            start=start,
            end=lowest,
            descending=True,
            group=True,
            limit=limit + 2,
            allow_stale=allow_stale,
        )
        if not inclusive and rows and rows[0]["key"] == after:
            rows = rows[1:]
        return _page(rows, limit)


def row_of(item: Doc) -> Row:
    """A grouped row of ORDERS_BETWEEN: key [placed, orderid, userid, currency]."""
    placed, orderid, userid, currency = item["key"]
    return orderid, placed, userid, currency, Progress(*item["value"])


def customer_row_of(item: Doc) -> Row:
    """A grouped row of ORDERS_OF_A_CUSTOMER: key [userid, placed, orderid, currency]."""
    userid, placed, orderid, currency = item["key"]
    return orderid, placed, userid, currency, Progress(*item["value"])


def customer_item_of(found: OrderDocuments) -> Doc:
    """The grouped row of ORDERS_OF_A_CUSTOMER that these documents make."""
    order, unlisted = found.order, ("order", ORDER_SUMMARY.name, SESSION.name, PROCESSING.name)
    others = [doc for doc in found.documents if doc["type"] not in unlisted]
    key = [order["userid"], order["date"], order["orderid"], order["total"]["currency"]]
    return {"key": key, "value": list(progress_of(others))}


def _page(rows: list[Doc], limit: int) -> Page:
    following = rows[limit - 1]["key"] if len(rows) > limit else None
    return Page(rows[:limit], following, stale=isinstance(rows, StaleRows))


def _raise_failures(written: Sequence[Written]) -> None:
    failed = [row for row in written if row.error and row.error != "conflict"]
    if failed:
        raise Unavailable(f"The database did not take {failed[0].id}: {failed[0].error}.")
