"""The shop of the orders tests."""

from tests.services.orders.conftest import customer, database, ledger, orders_settings, shop, worker

__all__ = ["customer", "database", "ledger", "orders_settings", "shop", "worker"]
