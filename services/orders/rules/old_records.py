"""Which old records may go: what no customer, accountant or dispute can ask for any more."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from services.orders.documents import (
    ATTEMPT_OUTCOME,
    CANCELLATION,
    COSTS,
    CUSTOMER,
    LINE_ITEM,
    NOTICE,
    ORDER,
    ORDER_SUMMARY,
    PROCESSING,
    SESSION,
    SLOT_CHOICE,
)
from services.orders.rules.progress import Progress
from shared.couch import Document

LOOKED_AT: Final = timedelta(days=100)
"""So far back the worker looks for unfinished orders: what is younger stays, whatever the settings say."""

_OF_AN_ATTEMPT: Final = frozenset(
    kind.name
    for kind in (
        ORDER,
        CUSTOMER,
        LINE_ITEM,
        CANCELLATION,
        COSTS,
        ORDER_SUMMARY,
        ATTEMPT_OUTCOME,
        SESSION,
        PROCESSING,
        SLOT_CHOICE,
        NOTICE,
    )
)
_LAST: Final = frozenset(kind.name for kind in (ORDER, CANCELLATION, ORDER_SUMMARY))


def may_be_given_up(progress: Progress) -> bool:
    """Whether the sums of an order's documents are those of a checkout that ended without money, or of what a removal has left of one."""
    if progress.payments or progress.refunds or progress.imported:
        return False
    return bool(progress.cancellations) or not progress.orders


def is_given_up(docs: Sequence[Document]) -> bool:
    """Whether these are all the documents of a checkout that ended without money, and of nothing else: no note of staff, no exchange, no
    version that replicas wrote differently."""
    if not docs or any(doc["type"] not in _OF_AN_ATTEMPT or "_conflicts" in doc for doc in docs):
        return False
    if any(doc["type"] == ORDER.name and "exchange_of" in doc for doc in docs):
        return False
    cancellations = [doc for doc in docs if doc["type"] == CANCELLATION.name]
    left = {doc["type"] for doc in docs} <= _LAST - {ORDER.name}
    return left or any(not doc["was_paid"] for doc in cancellations)


def in_order_of_removal(docs: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """What goes first, and what goes when that is gone: a removal that was killed is found by the second."""
    first = [doc for doc in docs if doc["type"] not in _LAST]
    return first, [doc for doc in docs if doc["type"] in _LAST]


def ended_dead_letters(docs: Sequence[Document], before: str) -> list[Document]:
    """Dead letters, with their retries, of the jobs and subjects that had none since `before`. All of one subject go together, for they are
    numbered by how many there are."""
    together: dict[tuple[str, str], list[Document]] = defaultdict(list)
    for doc in docs:
        together[doc["job"], doc["subject"]].append(doc)
    return [doc for some in together.values() if max(each["date"] for each in some) < before for doc in some]
