"""What grows as long as the shop sells, and what bounds it: a part of deploy/COSTS.md.

Measured with `python -m services.growth` before and after 40 orders of a guest's with one line each, which staff sent and reported as
delivered, and 40 checkouts whose card was declined; each customer ordered once. What an archived order leaves was measured before that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Pile:
    """`documents` and their `size` in bytes for a thousand of what makes them."""

    what: str
    of: str
    documents: int
    size: int
    bound: str


NEVER: Final = "nothing: kept for ever"
ARCHIVE: Final = "`python -m services.archive`, when a year is closed"
GIVEN_UP: Final = "`GIVEN_UP_DAYS` (400)"
REPORT: Final = "`REPORT_DAYS` (90)"
STOCK: Final = (
    "`STOCK_HISTORY_DAYS` (400): a thousand movements become one total, what they stood for is removed"
)
MEASURED: Final = (
    Pile(
        "an order with its customer, line, payment, decision, parcel and arrival",
        "orders",
        7000,
        4_346_000,
        ARCHIVE,
    ),
    Pile("e-mails that were sent about it (notices)", "orders", 3000, 916_000, ARCHIVE),
    Pile("what its goods cost the shop, where that is known", "orders", 1000, 184_000, ARCHIVE),
    Pile(
        "in the audit trail, that staff have sent it and that it arrived",
        "orders",
        6000,
        1_423_000,
        NEVER,
    ),
    Pile("its summary", "orders", 1000, 844_000, NEVER),
    Pile(
        "the first order of a customer",
        "orders",
        1000,
        243_000,
        "nothing: one for each customer; erasing a guest",
    ),
    Pile(
        "the order once it is archived, with its customer, summary and first order",
        "orders",
        4000,
        3_044_000,
        NEVER,
    ),
    Pile("its stock: reservation, settlement, movement", "products", 3000, 1_061_850, STOCK),
    Pile(
        "a declined checkout: order, customer, line, its costs, cancellation, summary",
        "orders",
        6000,
        3_702_150,
        GIVEN_UP,
    ),
    Pile("its stock: kept and given back", "products", 4000, 1_424_600, STOCK),
    Pile(
        "charges, void ones too",
        "sandboxledger",
        2000,
        556_000,
        "the sandbox's alone: a real provider keeps its own",
    ),
)
OTHERS: Final = (
    (
        "orders, products, users",
        "audit trail",
        "2 for each act of staff, 1 more for each of its subjects",
        "nothing: it stays, in a partition a month, and small ones for each actor and subject",
    ),
    (
        "orders",
        "dead letters",
        "1 for a job that failed for good, 1 when it is sent again",
        "`DEAD_LETTER_DAYS` (400)",
    ),
    ("orders", "draft orders", "1 for each, while it is not placed", "`DRAFT_DAYS` (30) without a change"),
    ("orders", "daily figures", "2 for each address and day", REPORT),
    ("orders", "closings", "1 a day and 1 a month, more where they were closed anew", NEVER),
    ("orders", "reports that were asked for", "2 and 1 for each part", REPORT),
    ("orders", "blocks of order numbers", "1 for 50 numbers: whose they are stays claimed", NEVER),
    ("users", "e-mails about accounts", "1 for each", "a year"),
    ("users", "how far a device has synced", "1 for each device", "90 days without a sync"),
    ("users", "sessions", "1 for each log-in", "`REFRESH_TOKEN_DAYS` (30)"),
    ("products", "searches, those that found nothing too", "1 a day with 2,000 queries at most", "30 days"),
    ("products", "old prices, notes, reviews", "1 for each", "nothing: they belong to the product"),
    ("Redis", "answers of rate and tax providers", "1 for each question", "15 minutes"),
    (
        "Redis",
        "progress of imports",
        "1 for each import",
        "an hour; an import's report is its answer, and is not kept",
    ),
)


def section() -> Iterator[str]:
    yield "\n## What piles up\n\nMeasured with `python -m services.growth` (documents of each type, and the bytes of their JSON) before and after 40 orders of guests with one line each that staff sent and reported as delivered, and 40"
    yield "checkouts whose card was declined; for 1,000 of them:\n"
    yield "| database | what | documents | bytes | bounded by |\n|---|---|---|---|---|"
    for each in MEASURED:
        yield f"| {each.of} | {each.what} | {each.documents:,} | {each.size:,} | {each.bound} |"
    yield "\nWhat orders do not decide:\n\n| where | what | how many | bounded by |\n|---|---|---|---|"
    for where, what, many, bound in OTHERS:
        yield f"| {where} | {what} | {many} | {bound} |"
    yield "\nA checkout that is refused before its order is written (a wrong code, a field, goods that nobody sells) leaves nothing. One that is given up later (no stock, a payment that failed) leaves its order"
    yield "with the cancellation: the same request is answered alike, and a late payment is paid back. The worker removes it after `GIVEN_UP_DAYS`, unless money or a note of staff belongs to it. [Why, and what is kept](../docs/decisions/13-what-is-kept.md)."
