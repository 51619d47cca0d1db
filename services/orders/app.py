"""The orders service, wired."""

import os

from flask import Flask

from services.orders.actions.shop import open_shop
from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.orders.resources import BLUEPRINTS
from services.orders.settings import Settings
from shared.couch import counting
from shared.settings import load, log_warnings
from shared.web import create_service


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    shop = open_shop(settings)
    readiness = shop.stores.server.readiness(DESIGN, SANDBOX_LEDGER)
    app = create_service(
        "orders", settings, BLUEPRINTS, title="Aisle orders", ready={"database": readiness},
        tally=counting, provides=shop,
    )  # fmt: skip
    log_warnings(settings)
    return app
