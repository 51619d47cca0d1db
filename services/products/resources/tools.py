"""What the handlers of this service act with."""

from dataclasses import dataclass
from typing import cast

from services.products.clients import Orders
from services.products.settings import Settings
from services.products.store import Store
from shared.web import current_dependencies


@dataclass(frozen=True)
class Tools:
    settings: Settings
    store: Store
    bulk: Store
    orders: Orders


def tools() -> Tools:
    """The tools of the running service."""
    return cast(Tools, current_dependencies())


def store() -> Store:
    return tools().store


def bulk_store() -> Store:
    """The same for imports, which wait for the database longer than a visitor does."""
    return tools().bulk
