"""What the actions work with: made once by `app.py` or the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from services.products.clients.picture_downloads import PictureDownloads
from services.products.clients.services import Orders
from services.products.documents import design_in
from services.products.imaging import ImagingProcess
from services.products.settings import Settings
from services.products.store.answer_cache import AnswerCache
from services.products.store.catalogue import Catalogue
from services.products.store.categories import CategoryCache, CategoryDocuments, category_cache
from services.products.store.category_sync import CategorySnapshots, CategorySyncStates
from services.products.store.facet_counts import FacetCounts
from services.products.store.labels import LabelCache, label_cache
from services.products.store.ledger import Ledger
from services.products.store.menu import MenuCache
from services.products.store.pictures import Pictures
from services.products.store.product_answers import ProductAnswers
from services.products.store.product_types import (
    ProductTypeCache,
    ProductTypeDocuments,
    product_type_cache,
)
from services.products.store.query_counts import PopularQueries, QueryCounter, SearchDays
from services.products.store.related_products import RelatedProducts
from services.products.store.reservations import Reservations
from services.products.store.review_pages import ReviewPages
from services.products.store.reviews import Reviews
from services.products.store.search_rules import RuleDocuments, RulesCache, rules_cache
from services.products.store.stock_totals import StockTotals
from services.products.store.suggestion_cache import SuggestionCache
from services.products.store.supplier_deliveries import SupplierDeliveries
from services.products.store.vocabulary import Translated, Vocabulary
from services.products.store.word_learning import WordLearning
from shared.background import Background
from shared.cache_tags import CacheTags
from shared.client import ServiceClient
from shared.couch import DatabaseDesign, IndexCatchUp, RepeatedReads, Server, language_named
from shared.database import LONG_TIMEOUT, TIMEOUT, open_server
from shared.import_progress import ImportProgress
from shared.locks import Locks
from shared.recent import Recent
from shared.redis import open_redis
from shared.waiting import Marks, Waiting

MAX_LANGUAGES = 50
"""That are remembered; anybody may ask for one that no product has."""
DOCUMENTS_PER_UPDATE = 20_000
"""That an import writes while the indexes take in as many before them: ten thousand products without variants."""


MAX_LIST_BYTES = 8 * 1024 * 1024
"""Of lists that are answered again while the database says the same, in each process."""


class SentList(NamedTuple):
    """A list of products as the web framework sends it (jobs import none), to several requests at a time: nobody changes it. And how many
    products have what was searched for."""

    answer: Any
    found: int


@dataclass(frozen=True)
class Dependencies:
    """Passed to every action: the stores, what is cached in Redis, locks, and the service that knows who bought what."""

    settings: Settings
    catalogue: Catalogue
    product_answers: ProductAnswers
    sent_lists: RepeatedReads[SentList]
    ledger: Ledger
    reservations: Reservations
    stock_totals: StockTotals
    supplier_deliveries: SupplierDeliveries
    reviews: Reviews
    review_pages: ReviewPages
    related_products: RelatedProducts
    pictures: Pictures
    picture_downloads: PictureDownloads
    menu: MenuCache
    answer_cache: AnswerCache
    cache_tags: CacheTags
    facet_counts: FacetCounts
    import_progress: ImportProgress
    vocabulary: Vocabulary
    word_learning: WordLearning
    rule_documents: RuleDocuments
    search_rules: RulesCache
    search_rules_by_language: Mapping[str, RulesCache]
    labels: LabelCache
    product_type_documents: ProductTypeDocuments
    product_types: ProductTypeCache
    category_documents: CategoryDocuments
    categories: CategoryCache
    category_sync_states: CategorySyncStates
    category_snapshots: CategorySnapshots
    marks: Marks
    """Of categories, for the devices that keep them: changed with every product of theirs."""
    waiting: Waiting
    query_counter: QueryCounter
    popular_queries: PopularQueries
    search_days: SearchDays
    suggestion_cache: SuggestionCache
    locks: Locks
    orders: Orders
    imaging: ImagingProcess
    server: Server
    design: DatabaseDesign
    index_catch_up: IndexCatchUp

    @cached_property
    def _by_language(self) -> dict[str, Dependencies]:
        return {}

    def in_language(self, code: str) -> Dependencies:
        """The same for reading, products in a language: where the shop has it, they are searched in it too; "" is the shop's own."""
        if not code:
            return self
        if code not in self._by_language:
            if len(self._by_language) >= MAX_LANGUAGES:
                self._by_language.clear()
            self._by_language[code] = self._read_in(code)
        return self._by_language[code]

    def _read_in(self, code: str) -> Dependencies:
        catalogue = self.catalogue.in_language(code)
        return replace(
            self,
            catalogue=catalogue,
            vocabulary=self.vocabulary.in_language(code),
            search_rules=self.search_rules_by_language.get(code, self.search_rules),
            facet_counts=self.facet_counts.in_language(catalogue.language.code),
        )

    @cached_property
    def bulk(self) -> Dependencies:
        """The same for imports, which wait for the database longer than a visitor does."""
        return open_dependencies(self.settings, LONG_TIMEOUT)


def open_dependencies(settings: Settings, timeout: float = TIMEOUT) -> Dependencies:
    """Nothing is connected to yet. `timeout`: seconds that a database call may take."""
    server = open_server(settings, timeout)
    design = design_in(*settings.spoken, groups=settings.priced_groups)
    database, redis = server.open(design), open_redis(settings.redis_url)
    recent = Recent(redis, f"{database.name}:made", most=2)
    catalogue = Catalogue(database, settings.spoken, groups=settings.priced_groups, recent=recent)
    rule_documents = RuleDocuments(database)
    type_documents, category_documents = ProductTypeDocuments(database), CategoryDocuments(database)
    background = Background()
    translations = [
        Translated(each, Vocabulary(redis, f"{database.name}:{each}", language_named(each)))
        for each in settings.spoken[1:]
    ]
    vocabulary = Vocabulary(redis, database.name, catalogue.language, translations)
    rules = {
        each: rules_cache(redis, background, rule_documents, database.name, language_named(each))
        for each in settings.spoken
    }
    ledger = Ledger(database, redis)
    marks = Marks(redis, database.name)
    answer_cache = AnswerCache(redis, background, database.name, settings.menu_seconds)
    return Dependencies(
        settings=settings,
        catalogue=catalogue,
        product_answers=ProductAnswers(),
        sent_lists=RepeatedReads(MAX_LIST_BYTES),
        ledger=ledger,
        reservations=Reservations(database, ledger),
        stock_totals=StockTotals(database),
        supplier_deliveries=SupplierDeliveries(database),
        reviews=Reviews(database),
        review_pages=ReviewPages(redis, database.name),
        related_products=RelatedProducts(redis, background, database.name),
        pictures=Pictures(database),
        picture_downloads=PictureDownloads(settings.picture_bytes, settings.picture_networks),
        menu=MenuCache(redis, database.name, settings.menu_seconds),
        answer_cache=answer_cache,
        cache_tags=CacheTags(redis),
        facet_counts=FacetCounts(redis, database.name, answer_cache),
        import_progress=ImportProgress(redis, database.name),
        vocabulary=vocabulary,
        word_learning=WordLearning(redis, database.name, vocabulary),
        rule_documents=rule_documents,
        search_rules=rules[settings.spoken[0]],
        search_rules_by_language=rules,
        labels=label_cache(redis, background, catalogue, database.name),
        product_type_documents=type_documents,
        product_types=product_type_cache(redis, background, type_documents, database.name),
        category_documents=category_documents,
        categories=category_cache(redis, background, category_documents, database.name),
        category_sync_states=CategorySyncStates(database),
        category_snapshots=CategorySnapshots(),
        marks=marks,
        waiting=Waiting(marks, settings.sync_waiting),
        query_counter=QueryCounter(redis, database.name),
        popular_queries=PopularQueries(redis, database.name),
        search_days=SearchDays(database),
        suggestion_cache=SuggestionCache(redis, database.name),
        locks=Locks(redis, database.name),
        orders=Orders(ServiceClient("orders", settings.orders_url, settings.service_secret)),
        imaging=ImagingProcess(),
        server=server,
        design=design,
        index_catch_up=IndexCatchUp(lambda: server.wait_for_indexes(design), DOCUMENTS_PER_UPDATE),
    )
