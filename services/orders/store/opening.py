"""Opens the database server and hands out the stores on it; no call is made."""

from dataclasses import dataclass

from services.orders import documents
from services.orders.settings import Settings
from services.orders.store.deadletters import DeadLetterStore
from services.orders.store.ledger import Ledger
from services.orders.store.orders import OrderStore
from services.orders.store.reports import ReportStore
from shared.couch import FollowingIndexes, Server

TIMEOUT, LONG_TIMEOUT = 2.5, 60.0


@dataclass(frozen=True)
class Stores:
    """Every store of the service on one server; `bulk_*` wait longer, for imports and jobs that nobody looks at."""

    server: Server
    orders: OrderStore
    reports: ReportStore
    deadletters: DeadLetterStore
    ledger: Ledger
    bulk_orders: OrderStore
    bulk_reports: ReportStore
    following: FollowingIndexes


STRETCH = 20_000
"""Documents that an import writes while the views take in as many before them."""


def open_stores(settings: Settings, timeout: float = TIMEOUT) -> Stores:
    server, bulk_server = _server(settings, timeout), _server(settings, LONG_TIMEOUT)
    database, bulk = server.open(documents.DESIGN), bulk_server.open(documents.DESIGN)
    bulk_reports = ReportStore(bulk)
    return Stores(
        server,
        OrderStore(database),
        ReportStore(database),
        DeadLetterStore(database),
        Ledger(server.open(documents.SANDBOX_LEDGER)),
        OrderStore(bulk),
        bulk_reports,
        FollowingIndexes(bulk_reports.catch_up, STRETCH),
    )


def _server(settings: Settings, timeout: float) -> Server:
    return Server(
        settings.couch_url, username=settings.couch_username, password=settings.couch_password,
        apikey=settings.couch_apikey, prefix=settings.database_prefix, timeout=timeout,
    )  # fmt: skip
