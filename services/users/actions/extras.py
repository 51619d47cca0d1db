"""Preferences, references to payment methods, and what was looked at lately."""

import time
from typing import Any, cast

from services.users.actions.profile import payment_method
from services.users.actions.tools import JobTools, Tools
from services.users.documents import PAYMENT_METHOD, PREFERENCES, user_document
from services.users.rules import MAX_PAYMENT_METHODS, NoSuchPaymentMethod, refuse_cards
from services.users.rules import PREFERENCES as DEFAULTS
from shared.clock import iso, now, timestamp
from shared.couch import Doc, UpdateConflict, time_ordered_id
from shared.errors import Conflict

_VIEWED_KEPT = 20
_VIEWED_SECONDS = 30 * 24 * 3600


class TooManyPaymentMethods(Conflict):
    code, title = "too_many_payment_methods", "No room for another payment method"


def preferences(tools: Tools, userid: str) -> dict[str, Any]:
    """All preferences, with the shop's defaults where none was chosen. 1 read."""
    doc = tools.store.of_user(userid, "preferences")
    return DEFAULTS | (doc["values"] if doc else {})


def change_preferences(tools: Tools, userid: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Changes those named and answers all."""
    docid = user_document(userid, "preferences")
    for _ in range(5):
        doc = tools.store.get(docid)
        values = (doc["values"] if doc else {}) | changes
        new = PREFERENCES.new(docid, userid=userid, values=values, updated=timestamp())
        if tools.store.put_if_first({**new, "_rev": doc["_rev"]} if doc else new):
            return DEFAULTS | values
    raise UpdateConflict("The preferences change too quickly; try again.")


def payment_methods(tools: Tools, userid: str) -> list[dict[str, Any]]:
    """1 partition query."""
    return [payment_method(doc) for doc in tools.store.some_of(userid, "payment")]


def add_payment_method(tools: Tools, userid: str, values: dict[str, str], key: str | None) -> dict[str, Any]:
    """Keeps a provider's reference. Raises LooksLikeCard for what might be a card number."""
    refuse_cards(values)
    docid = user_document(userid, f"payment{key or time_ordered_id().lower()}")
    present = tools.store.some_of(userid, "payment")
    if len([doc for doc in present if doc["_id"] != docid]) >= MAX_PAYMENT_METHODS:
        raise TooManyPaymentMethods(f"Remove one of your {MAX_PAYMENT_METHODS} payment methods first.")
    doc = PAYMENT_METHOD.new(docid, userid=userid, updated=timestamp(), **values)
    return payment_method(doc if tools.store.put_if_first(doc) else tools.store.get(docid) or doc)


def remove_payment_method(tools: Tools, userid: str, key: str) -> None:
    """Raises NoSuchPaymentMethod, also for somebody else's."""
    doc: Doc | None = tools.store.of_user(userid, f"payment{key}")
    if doc is None:
        raise NoSuchPaymentMethod("It may have been removed.")
    tools.store.delete(doc)


def view_product(tools: Tools, userid: str, productid: str) -> None:
    """Remembers that a product was looked at: the last 20, for 30 days, in Redis because it is short-lived."""
    key = _viewed_key(userid)
    pipeline = tools.redis.pipeline(transaction=False)
    pipeline.zadd(key, {productid: time.time()})
    pipeline.zremrangebyrank(key, 0, -_VIEWED_KEPT - 1)
    pipeline.expire(key, _VIEWED_SECONDS)
    pipeline.execute()


def viewed(tools: Tools, userid: str) -> list[dict[str, str]]:
    """What was looked at lately, newest first."""
    found = tools.redis.zrevrange(_viewed_key(userid), 0, -1, withscores=True)
    rows = cast(list[tuple[bytes, float]], found)
    return [
        {"productid": productid.decode(), "viewed": iso(now().fromtimestamp(moment, now().tzinfo))}
        for productid, moment in rows
    ]


def forget_viewed(tools: JobTools, userid: str) -> None:
    tools.redis.delete(_viewed_key(userid))


def _viewed_key(userid: str) -> str:
    return f"viewed:{userid}"
