"""The products service, wired."""

import os

from flask import Flask

from services.products.clients import Orders
from services.products.documents import DESIGN
from services.products.resources import BLUEPRINTS
from services.products.resources.tools import Tools
from services.products.settings import Settings
from services.products.store import open_store
from shared.couch import Server, counting
from shared.settings import load
from shared.web import ServiceClient, create_service, open_redis


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    server = open_server(settings)
    store = open_store(server.open(DESIGN), open_redis(settings.redis_url), settings.menu_seconds)
    tools = Tools(settings, store, Orders(ServiceClient(settings.orders_url, settings.service_secret)))
    return create_service(
        "products", settings, BLUEPRINTS, title="Aisle products", ready={"database": server.ready}, tally=counting,
        provides=tools,
    )  # fmt: skip


def open_server(settings: Settings) -> Server:
    return Server(
        settings.couch_url, username=settings.couch_username, password=settings.couch_password,
        apikey=settings.couch_apikey, prefix=settings.database_prefix,
    )  # fmt: skip
