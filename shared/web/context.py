"""What belongs to the request at hand on this thread: its id, and what the service handed to its handlers."""

import os
import re
from contextvars import ContextVar
from typing import Any

from flask import current_app, request

_ACCEPTED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

request_id_var: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of the request being answered, or "" outside one."""
    return request_id_var.get()


def new_request_id(sent: str | None = None) -> str:
    """Takes over a well-formed id that the caller sent, otherwise makes one."""
    if sent and _ACCEPTED.fullmatch(sent):
        return sent
    return os.urandom(12).hex()


def note(**ids: str) -> None:
    """Adds ids of the shop's own making (`orderid=...`) to this request's log line and span; never what a person typed."""
    request.environ.setdefault("aisle.noted", {}).update(ids)


def provided() -> Any:
    """What `create_service(provides=...)` was given: the store, clients and rules a handler acts with."""
    return current_app.extensions["aisle.provided"]
