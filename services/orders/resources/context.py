"""What the handlers of the running service act with."""

from services.orders.dependencies import Dependencies
from shared.web import current_dependencies


def dependencies() -> Dependencies:
    return current_dependencies(Dependencies)
