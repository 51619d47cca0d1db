"""All routes, one table: (method, path pattern, handler, name). Every module here exports its ROUTES."""

from ..routing import Route
from . import databases, documents, server

MODULES = [server, databases, documents]
ROUTES: list[Route] = [route for module in MODULES for route in module.ROUTES]
