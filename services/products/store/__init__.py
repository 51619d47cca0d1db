"""The products database: the only rooms that query it, one method per access pattern."""

from dataclasses import dataclass

from services.products.documents import design_in
from services.products.settings import Settings
from services.products.store.answer_cache import AnswerCache
from services.products.store.catalogue import Catalogue
from services.products.store.import_progress import ImportProgress
from services.products.store.ledger import Ledger
from services.products.store.menu import MenuCache
from services.products.store.pictures import Pictures
from services.products.store.review_pages import ReviewPages
from services.products.store.reviews import Reviews
from services.products.store.vocabulary import Vocabulary
from shared.couch import DatabaseDesign, IndexCatchUp, Server
from shared.locks import Locks
from shared.redis import open_redis

__all__ = [
    "Catalogue",
    "Ledger",
    "MenuCache",
    "Pictures",
    "ImportProgress",
    "Reviews",
    "Store",
    "Vocabulary",
    "open_store",
]


@dataclass(frozen=True)
class Store:
    """Everything the actions read and write."""

    catalogue: Catalogue
    ledger: Ledger
    reviews: Reviews
    review_pages: ReviewPages
    pictures: Pictures
    menu: MenuCache
    answer_cache: AnswerCache
    import_progress: ImportProgress
    locks: Locks
    vocabulary: Vocabulary
    server: Server
    index_catch_up: IndexCatchUp
    design: DatabaseDesign


STRETCH = 10_000
"""Products that an import writes while the indexes take in as many before them."""


def open_store(settings: Settings, server: Server) -> Store:
    design = design_in(settings.search_language)
    database, redis = server.open(design), open_redis(settings.redis_url)
    catalogue = Catalogue(database, settings.search_language)
    return Store(
        catalogue=catalogue,
        ledger=Ledger(database, redis),
        reviews=Reviews(database),
        review_pages=ReviewPages(redis, database.name),
        pictures=Pictures(database),
        menu=MenuCache(redis, database.name, settings.menu_seconds),
        answer_cache=AnswerCache(redis, database.name, settings.menu_seconds),
        import_progress=ImportProgress(redis, database.name),
        locks=Locks(redis, database.name),
        vocabulary=Vocabulary(redis, database.name, catalogue.language),
        server=server,
        index_catch_up=IndexCatchUp(lambda: server.wait_for_indexes(design), STRETCH),
        design=design,
    )
