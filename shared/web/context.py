"""What belongs to the request at hand on this thread: what to note of it, and what the service handed to its handlers."""

from typing import Any

from flask import current_app, request


def note(**ids: str) -> None:
    """Adds ids of the shop's own making (`orderid=...`) to this request's log line and span; never what a person typed."""
    request.environ.setdefault("aisle.noted", {}).update(ids)


def current_dependencies() -> Any:
    """What `create_service(dependencies=...)` was given: the store, clients and rules a handler acts with."""
    return current_app.extensions["aisle.dependencies"]
