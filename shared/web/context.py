"""What belongs to the request at hand on this thread: what to note of it, and what the service handed to its handlers."""

from contextvars import ContextVar
from typing import TypeVar

from flask import current_app, request

from shared.couch.binding import Binding

T = TypeVar("T")

_at_hand: ContextVar[object] = ContextVar("dependencies", default=None)


def add_log_fields(**ids: str) -> None:
    """Adds ids of the shop's own making (`orderid=...`) to this request's log line and span; never what a person typed."""
    request.environ.setdefault("aisle.noted", {}).update(ids)


def log_fields() -> dict[str, str]:
    """What `add_log_fields` has added so far."""
    return dict(request.environ.get("aisle.noted", {}))


def at_hand(dependencies: object) -> Binding[object]:
    """Within it, `current_dependencies` finds these without a way through Flask's proxies: a page asks some forty times."""
    return Binding(_at_hand, dependencies)


def current_dependencies(kind: type[T]) -> T:
    """What `create_service(dependencies=...)` was given, of the service's own class: the store, clients and rules a handler acts with."""
    found = _at_hand.get()
    if found is None:
        found = current_app.extensions["aisle.dependencies"]
    if not isinstance(found, kind):
        raise TypeError(f"this service acts with a {type(found).__name__}, not a {kind.__name__}")
    return found
