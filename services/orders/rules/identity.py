"""Order ids: an order's id follows from its owner's Idempotency-Key, so the order is its own claim.

A request repeated with the same Idempotency-Key computes the same id and meets the order already there. After a
day the key is free again: the next generation of the same key makes another id.
"""

import hashlib
import hmac
from datetime import datetime, timedelta

from shared.clock import parse
from shared.couch import time_ordered_id
from shared.emails import normalised_email
from shared.errors import Invalid

KEY_TTL = timedelta(hours=24)
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def orderid_for(owner: str, key: str, generation: int = 1) -> str:
    """26 characters fixed by the customer (user id or guest's e-mail), the key and its generation."""
    digest = hashlib.sha256(f"{owner}\n{key}\n{generation}".encode()).digest()
    number = int.from_bytes(digest[:17], "big")
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def key_is_free_again(placed: str, moment: datetime) -> bool:
    """Whether a key used at `placed` may stand for another order by now."""
    return parse(placed) + KEY_TTL < moment


def new_reference(kind: str, request: tuple[str, str] | None) -> str:
    """What a refund or return is known by everywhere, whatever number replicas give it; the same for the same Idempotency-Key."""
    return f"{kind}-{request[0] if request else time_ordered_id()}"


def guest_token(secret: str, orderid: str) -> str:
    """What lets a guest read this one order."""
    return hmac.digest(secret.encode(), f"guest order {orderid}".encode(), "sha256").hex()[:40]


def same_person(email: str) -> str:
    """The one spelling of an e-mail address that a customer is known by, with an account or as a guest."""
    try:
        return normalised_email(email)
    except Invalid:
        return email.strip().lower()
