"""The products database: the only rooms that query it, one method per access pattern."""

from dataclasses import dataclass

from redis import Redis

from services.products.store.catalogue import Catalogue
from services.products.store.ledger import Ledger
from services.products.store.menu import MenuCache
from services.products.store.pictures import Pictures
from services.products.store.progress import Progress
from services.products.store.reviews import Reviews
from shared.couch import Database

__all__ = ["Catalogue", "Ledger", "MenuCache", "Pictures", "Progress", "Reviews", "Store", "open_store"]


@dataclass(frozen=True)
class Store:
    """Everything the actions read and write."""

    catalogue: Catalogue
    ledger: Ledger
    reviews: Reviews
    pictures: Pictures
    menu: MenuCache
    progress: Progress


def open_store(database: Database, redis: Redis, menu_seconds: int = 300) -> Store:
    return Store(
        catalogue=Catalogue(database),
        ledger=Ledger(database, redis),
        reviews=Reviews(database),
        pictures=Pictures(database),
        menu=MenuCache(redis, database.name, menu_seconds),
        progress=Progress(redis, database.name),
    )
