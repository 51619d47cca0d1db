"""What belongs to the request at hand on this thread: what to note of it, and what the service handed to its handlers."""

from typing import TypeVar

from flask import current_app, request

T = TypeVar("T")


def add_log_fields(**ids: str) -> None:
    """Adds ids of the shop's own making (`orderid=...`) to this request's log line and span; never what a person typed."""
    request.environ.setdefault("aisle.noted", {}).update(ids)


def current_dependencies(kind: type[T]) -> T:
    """What `create_service(dependencies=...)` was given, of the service's own class: the store, clients and rules a handler acts with."""
    found = current_app.extensions["aisle.dependencies"]
    if not isinstance(found, kind):
        raise TypeError(f"this service acts with a {type(found).__name__}, not a {kind.__name__}")
    return found
