"""Opens the database server and hands out the stores on it; no call is made."""

from dataclasses import dataclass

from services.orders import documents
from services.orders.settings import Settings
from services.orders.store.deadletters import DeadLetterStore
from services.orders.store.ledger import Ledger
from services.orders.store.orders import OrderStore
from services.orders.store.reports import ReportStore
from shared.couch import Server


@dataclass(frozen=True)
class Stores:
    """Every store of the service on one server."""

    server: Server
    orders: OrderStore
    reports: ReportStore
    deadletters: DeadLetterStore
    ledger: Ledger


def open_stores(settings: Settings) -> Stores:
    server = Server(
        settings.couch_url,
        username=settings.couch_username,
        password=settings.couch_password,
        apikey=settings.couch_apikey,
        prefix=settings.database_prefix,
    )
    database = server.open(documents.DESIGN)
    return Stores(
        server,
        OrderStore(database),
        ReportStore(database),
        DeadLetterStore(database),
        Ledger(server.open(documents.SANDBOX_LEDGER)),
    )
