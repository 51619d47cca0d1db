"""The id of the request at hand: made or taken over once, then in every log line and every call to another service."""

import random
import re
from contextvars import ContextVar

_ACCEPTED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

request_id_var: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of the request being answered, or "" outside one."""
    return request_id_var.get()


def new_request_id(sent: str | None = None) -> str:
    """Takes over a well-formed id that the caller sent, otherwise makes one."""
    if sent and _ACCEPTED.fullmatch(sent):
        return sent
    return f"{random.getrandbits(96):024x}"
