"""The only room that queries: one method per access pattern of documents.py."""

from services.orders.store.deadletters import DeadLetterStore
from services.orders.store.ledger import Ledger
from services.orders.store.opening import TIMEOUT, Stores, open_stores
from services.orders.store.orders import Key, OrderStore
from services.orders.store.recent import RecentOrders
from services.orders.store.reports import ReportStore

__all__ = [
    "TIMEOUT",
    "DeadLetterStore",
    "Key",
    "Ledger",
    "OrderStore",
    "RecentOrders",
    "ReportStore",
    "Stores",
    "open_stores",
]
