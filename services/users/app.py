"""The users service, wired."""

import os

from flask import Flask

from services.users.actions.tools import Tools
from services.users.clients import Orders, Products
from services.users.documents import DESIGN
from services.users.keys import RefreshTokens, load_keys
from services.users.limits import Limits
from services.users.passwords import Passwords
from services.users.resources import BLUEPRINTS
from services.users.settings import Settings
from services.users.store import Store
from shared.couch import Server, counting
from shared.mail import BackgroundMailer, open_mailer
from shared.settings import load
from shared.web import ServiceClient, Tokens, create_service, open_redis


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    server = open_server(settings)
    tools = make_tools(settings, server)
    return create_service(
        "users", settings, BLUEPRINTS, title="Aisle users", ready={"database": server.ready}, tally=counting,
        tokens=Tokens(tools.keys.public_key), provides=tools,
    )  # fmt: skip


def open_server(settings: Settings) -> Server:
    return Server(
        settings.couch_url, username=settings.couch_username, password=settings.couch_password,
        apikey=settings.couch_apikey, prefix=settings.database_prefix,
    )  # fmt: skip


def make_tools(settings: Settings, server: Server) -> Tools:
    redis = open_redis(settings.redis_url)
    return Tools(
        settings=settings,
        store=Store(server.open(DESIGN)),
        passwords=Passwords(
            memory_kib=settings.argon2_memory_kib,
            passes=settings.argon2_passes,
            at_once=settings.argon2_at_once,
        ),
        keys=load_keys(
            settings.jwt_private_key_file, settings.jwt_other_key_files, seconds=settings.access_token_seconds
        ),
        refresh_tokens=RefreshTokens(settings.secret_key),
        limits=Limits(redis),
        redis=redis,
        mailer=BackgroundMailer(open_mailer(settings.mail_dir, settings.smtp_url, settings.mail_sender)),
        products=Products(ServiceClient(settings.products_url, settings.service_secret)),
        orders=Orders(ServiceClient(settings.orders_url, settings.service_secret)),
    )
