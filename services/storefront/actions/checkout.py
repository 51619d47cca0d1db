"""One basket revision, one order: however many windows, clicks and reloads ask for it.

The Idempotency-Key is made of the basket's revision and the number of the payment attempt. An attempt that was closed
without a payment (declined, sold out) makes room for the next one; any other is the order of this revision.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from redis import Redis
from redis.exceptions import RedisError

from services.storefront.clients import Orders
from services.storefront.translation import gettext
from shared.errors import AisleError, Conflict

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 40
TTL_SECONDS = 7 * 86400
CLOSED = frozenset(
    {"payment_declined", "out_of_stock", "attempt_closed", "code_used_up", "code_not_valid", "balance_spent"}
)


class AlreadyOrdered(Conflict):
    """This revision of the basket is an order; `paid` is False while its payment is under way."""

    code, title = "already_ordered", "You have already ordered this"

    def __init__(self, orderid: str, *, paid: bool = True) -> None:
        super().__init__(gettext("You have already ordered this."))
        self.orderid, self.paid = orderid, paid


@dataclass(frozen=True)
class Purchase:
    """The order that a basket revision became, and the form that placed it."""

    orderid: str
    form: str


def revision_of(basket: str, lines: Mapping[str, int]) -> str:
    """The revision of these lines; `basket` stands for the basket they are in and changes once it is bought."""
    text = orjson.dumps([basket, sorted(lines.items())])
    return hashlib.sha256(text).hexdigest()[:24]


class Checkouts:
    """Which revisions were bought. Without Redis the orders service's keys still hold, for the same order."""

    def __init__(self, orders: Orders, redis: Redis) -> None:
        self._orders, self._redis = orders, redis

    def purchase(self, revision: str) -> Purchase | None:
        """The order that this revision was placed as."""
        orderid, form = self._read(revision, "orderid"), self._read(revision, "form")
        return Purchase(orderid, form) if orderid else None

    def place(
        self,
        token: str,
        body: dict[str, Any],
        revision: str,
        form: str,
        address: str,
        end_payment: Callable[[str], bool],
    ) -> dict[str, Any]:
        """The order, placed now or before with the same content. Raises AlreadyOrdered, and what the orders service refuses.

        One of other content that still waits for its payment is ended by `end_payment`, which says whether it was not paid.
        """
        first = int(self._read(revision, "attempt") or 0)
        for attempt in range(first, first + MAX_ATTEMPTS):
            try:
                order: dict[str, Any] = self._orders.place(token, body, f"{revision}-{attempt}", address)
            except AisleError as error:
                if error.code in CLOSED:
                    self._write(revision, attempt=str(attempt + 1))
                if error.code == "idempotency_key_reused":
                    _check_closed(error, end_payment)
                elif error.code != "attempt_closed":
                    raise
            else:
                if not order["payment_page"]:
                    self.note(revision, order["orderid"], form)
                return order
        raise Conflict(gettext("This basket was tried too often: change it, or try again tomorrow."))

    def note(self, revision: str, orderid: str, form: str) -> None:
        """This revision was bought."""
        self._write(revision, orderid=orderid, form=form)

    def _read(self, revision: str, field: str) -> str:
        try:
            found = self._redis.hget(_name(revision), field)
        except RedisError as error:
            log.warning("checkouts cannot be looked up: %s", error)
            return ""
        return found.decode() if isinstance(found, bytes) else ""

    def _write(self, revision: str, **fields: str) -> None:
        try:
            self._redis.hset(_name(revision), mapping=dict(fields))
            self._redis.expire(_name(revision), TTL_SECONDS)
        except RedisError as error:
            log.warning("a checkout cannot be noted: %s", error)


def _check_closed(error: AisleError, end_payment: Callable[[str], bool]) -> None:
    """Raises AlreadyOrdered unless the other request's attempt ended, or ends now, without a payment."""
    orderid = str(error.extra.get("orderid", ""))
    if not error.extra.get("closed") and not (error.extra.get("awaiting") and end_payment(orderid)):
        raise AlreadyOrdered(error.extra.get("orderid", ""), paid=bool(error.extra.get("paid"))) from error


def _name(revision: str) -> str:
    return f"storefront:checkout:{revision}"
