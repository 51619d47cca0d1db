"""What a repeated request is: one that brings the Idempotency-Key of an earlier one, and the same content.

There are two ways to answer it. `shared.web.idempotent` keeps the answer in Redis for a day. Where a repetition must be
found however late it comes (an order, a refund, a return), the document that the first request wrote holds its key and
fingerprint, and `check_same` compares.
"""

import hashlib
from typing import Any

import orjson

from shared.errors import Invalid


class KeyReused(Invalid):
    code, title = "idempotency_key_reused", "This Idempotency-Key was used for another request"


def fingerprint_of(body: Any) -> str:
    """The same for the same content, whatever the order of its fields."""
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def check_same(stored: str, fingerprint: str, **extra: Any) -> None:
    """Raises KeyReused, with `extra` members in its problem, when the key came with another body before."""
    if stored != fingerprint:
        raise KeyReused("Send the same body with the same key, or a new Idempotency-Key.", **extra)
