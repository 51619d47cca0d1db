"""The three services as the storefront uses them: one method per question, and several questions at once."""

import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from services.storefront.clients.base import ANONYMOUS, CountedClient, counting, without_empty
from services.storefront.clients.orders import Orders, Requester
from services.storefront.clients.products import Products
from services.storefront.clients.users import Users
from shared.errors import AisleError

__all__ = [
    "ANONYMOUS",
    "Requester",
    "CountedClient",
    "Orders",
    "Products",
    "Services",
    "Users",
    "attempt",
    "counting",
    "without_empty",
]


@dataclass(frozen=True)
class Services:
    """All three, and the threads that ask them side by side."""

    users: Users
    products: Products
    orders: Orders
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(16, "together"))

    def together(self, **calls: Callable[[], Any]) -> dict[str, Any]:
        """Runs independent calls side by side and answers under the same names. Raises the first error after all are done."""
        running = {
            name: self.pool.submit(contextvars.copy_context().run, call) for name, call in calls.items()
        }
        found = {name: (future.exception(), future) for name, future in running.items()}
        for error, _ in found.values():
            if error is not None:
                raise error
        return {name: future.result() for name, (_, future) in found.items()}


def attempt(call: Callable[[], Any], instead: Any) -> Callable[[], Any]:
    """`call` for a part of the page that may be missing: `instead` when its service says no or is away."""

    def tried() -> Any:
        try:
            return call()
        except AisleError:
            return instead

    return tried
