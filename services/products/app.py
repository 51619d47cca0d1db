"""The products service, wired."""

import os
from functools import partial

from flask import Flask

from services.products.dependencies import open_dependencies
from services.products.resources import BLUEPRINTS
from services.products.resources.category_sync import category_sync, describe
from services.products.settings import Settings
from shared.audit import AuditTrail
from shared.couch import counting
from shared.settings import load
from shared.web import create_service


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    deps = open_dependencies(settings)
    app = create_service(
        "products",
        settings,
        BLUEPRINTS,
        title="Aisle products",
        ready={"database": deps.server.readiness(deps.design)},
        tally=counting,
        dependencies=deps,
        audit=AuditTrail(deps.server.open(deps.design)),
    )
    app.register_blueprint(category_sync)
    api = app.extensions["aisle.api"]
    api.describe_later(partial(describe, api))
    return app
