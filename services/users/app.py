"""The users service, wired."""

import os
from functools import partial

from flask import Flask

from services.users.actions.revocations import StoredSessions
from services.users.dependencies import open_dependencies
from services.users.documents import DESIGN
from services.users.resources import BLUEPRINTS
from services.users.resources.sync import describe, sync
from services.users.settings import Settings
from shared.couch import counting
from shared.settings import load
from shared.translation import activate
from shared.web import Tokens, create_service, requested_language


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    deps = open_dependencies(settings)
    app = create_service(
        "users",
        settings,
        BLUEPRINTS,
        title="Aisle users",
        ready={"database": deps.store.server.readiness(DESIGN)},
        tally=counting,
        tokens=Tokens(deps.keys.public_key),
        sessions=StoredSessions(deps),
        dependencies=deps,
        audit=deps.audit,
    )
    app.register_blueprint(sync)
    api = app.extensions["aisle.api"]
    api.describe_later(partial(describe, api))
    app.before_request(lambda: activate(requested_language(deps.languages)))
    return app
