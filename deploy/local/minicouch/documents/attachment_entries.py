"""The entries of `_attachments` that a client sends: their names and their inline data."""

import base64
import binascii
from typing import Any

from ..errors import bad_request

Record = dict[str, Any]


def decoded(name: str, entry: Record) -> Record:
    """An entry of `_attachments` with its data as bytes; stubs and what follows as they are. Errors: 400."""
    if entry.get("stub") is True or entry.get("follows") is True:
        return entry
    plain = {key: value for key, value in entry.items() if key not in ("encoding", "length")}
    return plain | {"data": inline_data(name, entry.get("data"))}


def inline_data(name: str, data: Any) -> bytes:
    """Errors: 400 for what is no base64."""
    try:
        plain = "".join(data.split())
        if len(plain) % 4:
            raise ValueError("not whole quartets")
        return base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError, AttributeError):
        raise bad_request(f"Invalid attachment data for {name}") from None


def check_name(name: str) -> str:
    """Errors: 400 for a name CouchDB keeps for itself."""
    if name[:1] == "_":
        raise bad_request(f"Attachment name '{name}' starts with prohibited character '_'")
    return name
