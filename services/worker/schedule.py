"""What the worker does by the clock: the whole timetable as one table (UTC)."""

from dataclasses import dataclass, replace
from typing import Final

from celery.schedules import crontab

from shared.jobs import (
    CATCH_UP,
    CLOSE_PERIODS,
    COMPLETE_SUMMARIES,
    CORRECT_STOCK,
    COUNT_SEARCHES,
    DEEP_CORRECT_STOCK,
    DEEP_SWEEP_ORDERS,
    FIND_UNFINISHED_ARCHIVES,
    FINISH_ERASURES,
    FINISH_MOVES,
    FINISH_RECEIPTS,
    LEARN_WORDS,
    LOOK_FOR_GOODS,
    MOVE_CATEGORIES,
    NOTIFY_IN_STOCK,
    PUBLISH_PRODUCTS,
    REFRESH_SALE_PRICES,
    REMOVE_EXPIRED,
    REMOVE_EXPIRED_DRAFTS,
    REMOVE_OLD_RECORDS,
    RESTORE_ORDER_INDEXES,
    RESTORE_PRODUCT_INDEXES,
    RESTORE_USER_INDEXES,
    ROLL_UP_STOCK,
    SEND_DAILY_FIGURES,
    SETTLE_ORDER_CONFLICTS,
    SETTLE_PRODUCT_CONFLICTS,
    SETTLE_USER_CONFLICTS,
    SUM_UP_PRODUCTS,
    SWEEP_ORDERS,
    SWEEP_RESERVATIONS,
)


@dataclass(frozen=True)
class Row:
    """A job and when it is due: every so many seconds, or at a time of day."""

    name: str
    job: str
    due: float | crontab


SWEEP_SECONDS: Final = 10.0
UNFINISHED_ORDERS: Final = Row("unfinished orders", SWEEP_ORDERS, SWEEP_SECONDS)
TIMETABLE: Final = (
    UNFINISHED_ORDERS,
    Row("unfinished orders of the last hundred days", DEEP_SWEEP_ORDERS, crontab(minute="17")),
    Row("goods that orders wait for", LOOK_FOR_GOODS, 10.0),
    Row("indexes of orders up to date", CATCH_UP, 60.0),
    Row("orders that replicas changed apart", SETTLE_ORDER_CONFLICTS, 30.0),
    Row("summaries of orders from before there were any", COMPLETE_SUMMARIES, 10.0),
    Row("close the days and the month that have ended", CLOSE_PERIODS, crontab(minute="10")),
    Row("figures of the day before to staff", SEND_DAILY_FIGURES, crontab(minute="*/10")),
    Row("archives of years half-way", FIND_UNFINISHED_ARCHIVES, 60.0),
    Row("stock and ratings shown on products", SUM_UP_PRODUCTS, 2.0),
    Row("reservations whose time is up", SWEEP_RESERVATIONS, 60.0),
    Row("goods that an order took twice", CORRECT_STOCK, 15.0),
    Row(
        "goods that an order of the last two days took twice",
        DEEP_CORRECT_STOCK,
        crontab(hour="4", minute="27"),
    ),
    Row("old movements of stock into totals", ROLL_UP_STOCK, crontab(hour="3", minute="47")),
    Row("products and stock that replicas changed apart", SETTLE_PRODUCT_CONFLICTS, 30.0),
    Row("prices of sales that begin or end", REFRESH_SALE_PRICES, 10.0),
    Row("products of categories that have moved", MOVE_CATEGORIES, 15.0),
    Row("products that moved half-way", FINISH_MOVES, 60.0),
    Row("goods received half-way", FINISH_RECEIPTS, 60.0),
    Row("products whose time to be published has come", PUBLISH_PRODUCTS, 10.0),
    Row("what customers searched for, added to the day", COUNT_SEARCHES, 60.0),
    Row("words of products that Redis does not have", LEARN_WORDS, 10.0),
    Row("accounts that replicas changed apart", SETTLE_USER_CONFLICTS, 30.0),
    Row("unfinished erasures", FINISH_ERASURES, 60.0),
    Row("who waits for products that are back in stock", NOTIFY_IN_STOCK, 15.0),
    Row("expired sessions and one-time tokens", REMOVE_EXPIRED, crontab(minute="37")),
    Row("draft orders that nobody changed for long", REMOVE_EXPIRED_DRAFTS, crontab(minute="47")),
    Row("old reports, dead letters and given-up checkouts", REMOVE_OLD_RECORDS, crontab(minute="7,27,57")),
    Row("indexes that were dropped: orders", RESTORE_ORDER_INDEXES, 30.0),
    Row("indexes that were dropped: products", RESTORE_PRODUCT_INDEXES, 30.0),
    Row("indexes that were dropped: users", RESTORE_USER_INDEXES, 30.0),
)


def timetable(sweep_seconds: float = SWEEP_SECONDS) -> list[Row]:
    """The rows, unfinished orders being looked for as often as the settings say."""
    return [replace(row, due=sweep_seconds) if row is UNFINISHED_ORDERS else row for row in TIMETABLE]
