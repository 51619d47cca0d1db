"""What the handlers of the running service act with."""

from services.products.dependencies import Dependencies
from shared.web import current_dependencies


def dependencies() -> Dependencies:
    return current_dependencies(Dependencies)
