"""What the actions work with: made once by `app.py`."""

from dataclasses import dataclass

from services.products.clients.services import Orders
from services.products.settings import Settings
from services.products.store import Store, open_store
from shared.client import ServiceClient
from shared.database import LONG_TIMEOUT, open_server


@dataclass(frozen=True)
class Dependencies:
    """`bulk` is the same store for imports, which wait for the database longer than a visitor does."""

    settings: Settings
    store: Store
    bulk: Store
    orders: Orders


def open_dependencies(settings: Settings) -> Dependencies:
    """Nothing is connected to yet."""
    return Dependencies(
        settings=settings,
        store=open_store(settings, open_server(settings)),
        bulk=open_store(settings, open_server(settings, LONG_TIMEOUT)),
        orders=Orders(ServiceClient("orders", settings.orders_url, settings.service_secret)),
    )
