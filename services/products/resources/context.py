"""What the handlers of the running service act with."""

from typing import cast

from services.products.dependencies import Dependencies
from shared.web import current_dependencies


def dependencies() -> Dependencies:
    return cast(Dependencies, current_dependencies())
