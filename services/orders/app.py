"""The orders service, wired."""

import os

from flask import Flask

from services.orders.dependencies import open_dependencies
from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.orders.resources import BLUEPRINTS
from services.orders.settings import Settings
from shared.audit import AuditTrail
from shared.couch import counting
from shared.settings import load, log_warnings
from shared.web import create_service


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    deps = open_dependencies(settings)
    readiness = deps.stores.server.readiness(DESIGN, SANDBOX_LEDGER)
    app = create_service(
        "orders",
        settings,
        BLUEPRINTS,
        title="Aisle orders",
        ready={"database": readiness},
        tally=counting,
        dependencies=deps,
        audit=AuditTrail(deps.orders.database),
    )
    log_warnings(settings)
    return app
