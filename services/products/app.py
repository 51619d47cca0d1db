"""The products service, wired."""

import os

from flask import Flask

from services.products.clients import Orders
from services.products.documents import DESIGN
from services.products.resources import BLUEPRINTS
from services.products.resources.tools import Tools
from services.products.settings import Settings
from services.products.store import open_store
from shared.client import ServiceClient
from shared.couch import counting
from shared.database import LONG_TIMEOUT, open_server
from shared.settings import load
from shared.web import create_service


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    server = open_server(settings)
    orders = Orders(ServiceClient("orders", settings.orders_url, settings.service_secret))
    bulk = open_store(settings, open_server(settings, LONG_TIMEOUT))
    tools = Tools(settings, open_store(settings, server), bulk, orders)
    return create_service(
        "products", settings, BLUEPRINTS, title="Aisle products", ready={"database": server.readiness(DESIGN)}, tally=counting,
        dependencies=tools,
    )  # fmt: skip
