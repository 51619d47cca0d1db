"""All routes, one table: (method, path pattern, handler, name). Every module here exports its ROUTES."""

from ..routing import Route
from . import all_docs, bulk, changes, databases, documents, server, session, views

MODULES = [server, session, databases, documents, all_docs, bulk, changes, views]
ROUTES: list[Route] = [route for module in MODULES for route in module.ROUTES]
