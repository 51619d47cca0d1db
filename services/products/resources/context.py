"""What the handlers of the running service act with."""

from typing import cast

from services.products.dependencies import Dependencies
from services.products.store import Store
from shared.web import current_dependencies


def dependencies() -> Dependencies:
    return cast(Dependencies, current_dependencies())


def store() -> Store:
    return dependencies().store


def bulk_store() -> Store:
    """The same for imports, which wait for the database longer than a visitor does."""
    return dependencies().bulk
