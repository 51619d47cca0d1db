"""All routes, one table: (method, path pattern, handler, name). Every module here exports its ROUTES."""

from ..http.routing import Route
from . import (
    all_docs,
    attachments,
    bulk,
    changes,
    databases,
    documents,
    faults,
    find,
    functions,
    local,
    nouveau,
    operations,
    replication,
    search,
    server,
    session,
    views,
)

MODULES = [
    server,
    session,
    databases,
    documents,
    local,
    attachments,
    all_docs,
    bulk,
    changes,
    replication,
    views,
    functions,
    find,
    search,
    nouveau,
    operations,
    faults,
]
ROUTES: list[Route] = [route for module in MODULES for route in module.ROUTES]
ALLOW: dict[str, str] = {
    **databases.ALLOW,
    **views.ALLOW,
    **server.ALLOW,
    "/_session": "GET,HEAD,POST,DELETE",
    "/{db}/_changes": "GET,POST,HEAD",
    "/{db}/_all_docs": "GET,HEAD,POST",
    "/{db}/{docid}": "DELETE,GET,HEAD,POST,PUT,COPY",
    "/{db}/_design/{ddoc}": "DELETE,GET,HEAD,POST,PUT,COPY",
}
WITHOUT_DATABASE = {databases.create}
