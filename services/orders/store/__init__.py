"""The only room that queries: one method per access pattern of documents.py."""

from dataclasses import dataclass
from typing import Final

from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.orders.settings import Settings
from services.orders.store.archive import ArchiveStore
from services.orders.store.credits import CreditStore
from services.orders.store.dead_letters import DeadLetterStore
from services.orders.store.drafts import DraftStore
from services.orders.store.invoice_numbers import InvoiceNumbers
from services.orders.store.ledger import Ledger
from services.orders.store.numbers import OrderNumbers
from services.orders.store.old_records import OldRecords
from services.orders.store.orders import Key, OrderStore
from services.orders.store.promotions import PromotionStore
from services.orders.store.provider_answers import ProviderAnswers
from services.orders.store.reports import ReportStore
from services.orders.store.settings import SettingsStore, TermsCache, terms_cache
from services.orders.store.stall import StallStore
from services.orders.store.summaries import Choice, SummaryStore
from shared.couch import IndexCatchUp, Server
from shared.database import LONG_TIMEOUT, TIMEOUT, open_server

__all__ = [
    "ArchiveStore",
    "Choice",
    "CreditStore",
    "DeadLetterStore",
    "DraftStore",
    "InvoiceNumbers",
    "Key",
    "Ledger",
    "OldRecords",
    "OrderNumbers",
    "OrderStore",
    "PromotionStore",
    "ProviderAnswers",
    "ReportStore",
    "SettingsStore",
    "StallStore",
    "Stores",
    "SummaryStore",
    "TermsCache",
    "open_stores",
    "terms_cache",
]

DOCUMENTS_PER_UPDATE: Final = 20_000
"""Documents that an import writes while the views take in as many before them."""


@dataclass(frozen=True)
class Stores:
    """Every store of the service on one server; `bulk_*` wait longer, for imports and for jobs."""

    server: Server
    orders: OrderStore
    numbers: OrderNumbers
    invoice_numbers: InvoiceNumbers
    reports: ReportStore
    credits: CreditStore
    dead_letters: DeadLetterStore
    drafts: DraftStore
    old_records: OldRecords
    stall: StallStore
    ledger: Ledger
    settings: SettingsStore
    promotions: PromotionStore
    summaries: SummaryStore
    bulk_summaries: SummaryStore
    bulk_orders: OrderStore
    bulk_reports: ReportStore
    index_catch_up: IndexCatchUp
    archive: ArchiveStore


def open_stores(settings: Settings, timeout: float = TIMEOUT) -> Stores:
    """No call is made."""
    server = open_server(settings, timeout)
    database, bulk = server.open(DESIGN), open_server(settings, LONG_TIMEOUT).open(DESIGN)
    bulk_reports = ReportStore(bulk)
    return Stores(
        server=server,
        orders=OrderStore(database),
        numbers=OrderNumbers(database),
        invoice_numbers=InvoiceNumbers(database),
        reports=ReportStore(database),
        credits=CreditStore(database),
        dead_letters=DeadLetterStore(database),
        drafts=DraftStore(database),
        old_records=OldRecords(bulk),
        stall=StallStore(database),
        ledger=Ledger(server.open(SANDBOX_LEDGER)),
        settings=SettingsStore(database),
        promotions=PromotionStore(database),
        summaries=SummaryStore(database),
        bulk_summaries=SummaryStore(bulk),
        bulk_orders=OrderStore(bulk),
        bulk_reports=bulk_reports,
        index_catch_up=IndexCatchUp(bulk_reports.catch_up, DOCUMENTS_PER_UPDATE),
        archive=ArchiveStore(bulk),
    )
