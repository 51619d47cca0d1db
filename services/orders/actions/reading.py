"""Looking at orders: one's own, a guest's by token, and the lists of customers and staff."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.orders.declarations.archive import ArchivedOrder
from services.orders.declarations.parts import LINE_FIELDS
from services.orders.dependencies import Dependencies
from services.orders.rules.archive import archived_of, checksum, is_archived
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.gift_card_delivery import gift_card_delivery
from services.orders.rules.identity import guest_token
from services.orders.rules.order_answers import summary_of, whole_order
from services.orders.rules.order_errors import OrderBehind
from services.orders.rules.periods import Span
from services.orders.rules.progress import Progress, is_failed, is_finished
from services.orders.rules.returns import last_day_to_return
from services.orders.rules.summaries import known_first
from services.orders.store import Key
from services.orders.store.archive_files import ArchiveFiles
from services.orders.store.orders import customer_item_of, customer_row_of, row_of
from shared.clock import iso
from shared.couch import Page
from shared.errors import NotFound

STAFF = ("admin", "staff")
SCAN_LIMIT = 1000
OVERFETCH = 3
FIRST_TIME, LAST_TIME = "0000", "9999"


class NoSuchOrder(NotFound):
    code, title = "no_such_order", "There is no such order"


class OrderArchived(NotFound):
    """Its documents lie in an archive; what is said of it besides is what the lists know."""

    code, title = "order_archived", "This order is archived"


@dataclass(frozen=True)
class Reader:
    """Who reads: a user with roles, or the bearer of a guest's order token."""

    userid: str | None = None
    roles: tuple[str, ...] = ()
    token: str = ""

    @property
    def is_staff(self) -> bool:
        return any(role in STAFF for role in self.roles)


def read_order(
    deps: Dependencies, orderid: str, reader: Reader, *, from_archive: bool = False
) -> OrderDocuments:
    """O1, for those who may see it; with `from_archive` one that only looks gets an archived one as it was, where the archive is at hand.
    Raises OrderArchived, Unavailable, and NoSuchOrder for everybody else, as if there were none."""
    found = deps.orders.order(orderid)
    archived = archived_of(found)
    if archived is not None and _may_read(deps, orderid, archived["userid"], reader):
        return _archived_order(deps, found, archived, from_archive=from_archive)
    order = found.order if found.exists else deps.orders.order_behind_list(orderid)
    if order is None or not _may_read(deps, orderid, order["userid"], reader):
        raise NoSuchOrder("You have no such order.")
    if not found.exists:
        raise OrderBehind
    return found


def read_lines(deps: Dependencies, orderid: str, reader: Reader) -> list[dict[str, Any]]:
    """O1: only its lines, 1 partition query. Raises as `read_order`, after another one."""
    lines = deps.orders.lines(orderid)
    if not lines:
        return [
            LINE_FIELDS.shown(line) for line in read_order(deps, orderid, reader, from_archive=True).items
        ]
    if not _may_read(deps, orderid, lines[0]["userid"], reader):
        raise NoSuchOrder("You have no such order.")
    return [LINE_FIELDS.shown(line) for line in lines]


def any_order(deps: Dependencies, orderid: str, *, from_archive: bool = False) -> OrderDocuments:
    """For staff, webhooks and jobs; `from_archive` as in `read_order`. Raises NoSuchOrder, OrderArchived, Unavailable."""
    found = deps.orders.order(orderid)
    if archived := archived_of(found):
        return _archived_order(deps, found, archived, from_archive=from_archive)
    if not found.exists:
        if deps.orders.order_behind_list(orderid):
            raise OrderBehind
        raise NoSuchOrder("There is no such order.")
    return found


def history(deps: Dependencies, userid: str, limit: int, after: Key | None, *, failed: bool = True) -> Page:
    """O3: a customer's orders, newest first. 1 global query; those just placed are there while the index is behind, too.

    Without the `failed` ones (declined, sold out) more rows are looked through: a page may be short and still have a next.
    """
    if not failed:
        page = _orders_of_a_customer(deps, userid, limit * OVERFETCH, after)
        return _matching(page, limit, lambda sums: not is_failed(sums), _customer_summary)
    page = _orders_of_a_customer(deps, userid, limit, after)
    return Page([_customer_summary(item) for item in page.items], page.next)


def _orders_of_a_customer(deps: Dependencies, userid: str, limit: int, after: Key | None) -> Page:
    """A page of an index that is behind gets the recent orders that it lacks: 1 partition query for each. Where there are several copies of
    each document the first page may lack them without that, for the index is one node's."""
    page = deps.orders.orders_of_a_customer(userid, limit=limit, after=after)
    if not page.stale and (deps.orders.database.has_one_copy or after):
        return page
    listed = {customer_row_of(item)[0] for item in page.items}
    missing = [orderid for orderid in deps.recent.of(userid) if orderid not in listed]
    found = [found for found in map(deps.orders.order, missing) if found.exists and found.payment is not None]
    recent = [item for item in map(customer_item_of, found) if after is None or item["key"] < after]
    items = sorted([*page.items, *recent], key=lambda item: item["key"], reverse=True)
    return Page(items[:limit], items[limit - 1]["key"] if len(items) > limit else page.next)


def orders_between(deps: Dependencies, span: Span, limit: int, after: Key | None) -> Page:
    """O4, newest first. 1 global query."""
    page = _between(deps, span, limit, after)
    return Page([_summary(item) for item in page.items], page.next)


def open_orders(deps: Dependencies, span: Span, limit: int, after: Key | None, *, unpaid: bool) -> Page:
    """Orders on which something is still to be done; with `unpaid`, checkout attempts without an outcome."""
    return _matching(
        _between(deps, span, SCAN_LIMIT, after),
        limit,
        lambda sums: not is_finished(sums) and not (unpaid and sums.payments),
    )


def order_answer(deps: Dependencies, found: OrderDocuments, *, for_staff: bool = False) -> dict[str, Any]:
    """The order of api.md; a guest's carries the token that reads it again. Staff also read whether it is its customer's first."""
    answer = whole_order(found, for_staff=for_staff)
    answer["archived"] = is_archived(found)
    if for_staff:
        answer["first_order"] = known_first(found)
    if delivery := gift_card_delivery(found):
        answer["gift_card_delivery"] = delivery
        answer["imported"] = bool(found.order.get("imported"))
    arrived = found.last_delivery
    last = last_day_to_return(arrived, deps.terms.returns.days) if arrived else None
    answer["returnable_until"] = iso(last) if last else None
    if answer["userid"] is None and not found.order.get("imported"):
        answer["guest_token"] = guest_token(deps.settings.secret_key, answer["orderid"])
    return answer


def _archived_order(
    deps: Dependencies, found: OrderDocuments, archived: ArchivedOrder, *, from_archive: bool
) -> OrderDocuments:
    """With the documents out of the archive's file, if they are those that went into it. No call. Raises OrderArchived."""
    if from_archive and deps.settings.archive_dir:
        files = ArchiveFiles(Path(deps.settings.archive_dir))
        saved = files.documents(archived["file"], archived["orderid"])
        if checksum(saved) == archived["sha256"]:
            return OrderDocuments([*saved, *found.documents])
    raise _in_the_archive(archived)


def _in_the_archive(archived: ArchivedOrder) -> OrderArchived:
    known = {name: archived[name] for name in ("orderid", "number", "placed", "total", "file")}
    name = archived["number"] or archived["orderid"]
    return OrderArchived(
        f"Order {name} is in the archive; the shop can bring it back.",
        order_status=archived["status"],
        **known,
    )


def _may_read(deps: Dependencies, orderid: str, owner: str | None, reader: Reader) -> bool:
    if reader.is_staff or (owner is not None and owner == reader.userid):
        return True
    expected = guest_token(deps.settings.secret_key, orderid)
    return owner is None and hmac.compare_digest(expected.encode(), reader.token.encode())


def _between(deps: Dependencies, span: Span, limit: int, after: Key | None) -> Page:
    start, end = bounds(span)
    return deps.orders.orders_between(start, end, limit=limit, after=after)


def bounds(span: Span) -> tuple[str, str]:
    """From when to when orders were placed, as documents hold it."""
    return (iso(span.start) if span.start else FIRST_TIME, iso(span.end) if span.end else LAST_TIME)


def _matching(
    page: Page,
    limit: int,
    matches: Callable[[Progress], bool],
    summary: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Page:
    """The first `limit` rows that match; the next page begins behind the last row that was looked at."""
    summary = summary or _summary
    rows = []
    for item in page.items:
        if matches(Progress(*item["value"])):
            rows.append(item)
            if len(rows) == limit:
                last = item is page.items[-1]
                return Page([summary(each) for each in rows], page.next if last else item["key"])
    return Page([summary(each) for each in rows], page.next)


def _summary(item: dict[str, Any]) -> dict[str, Any]:
    orderid, placed, userid, currency, sums = row_of(item)
    return summary_of(orderid, userid, placed, currency, sums)


def _customer_summary(item: dict[str, Any]) -> dict[str, Any]:
    orderid, placed, userid, currency, sums = customer_row_of(item)
    return summary_of(orderid, userid, placed, currency, sums)
