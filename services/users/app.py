"""The users service, wired."""

import os

from flask import Flask

from services.users.actions.revocations import StoredSessions
from services.users.actions.tools import open_tools
from services.users.documents import DESIGN
from services.users.resources import BLUEPRINTS
from services.users.settings import Settings
from shared.couch import counting
from shared.settings import load
from shared.web import Tokens, create_service


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    tools = open_tools(settings)
    return create_service(
        "users", settings, BLUEPRINTS, title="Aisle users", ready={"database": tools.store.server.readiness(DESIGN)},
        tally=counting, tokens=Tokens(tools.keys.public_key), sessions=StoredSessions(tools), provides=tools,
    )  # fmt: skip
