"""What a person sees of themselves, out of one partition query."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from services.users.actions.addresses import PREFIX as ADDRESS_PREFIX
from services.users.actions.addresses import address_key, addresses_of
from services.users.declarations.accounts import Account
from services.users.dependencies import Dependencies
from services.users.documents import (
    ADDRESS,
    BASKET_ITEM,
    BASKET_ITEM_FIELDS,
    PAYMENT_METHOD,
    PAYMENT_METHOD_FIELDS,
    PREFERENCE_FIELDS,
    PREFERENCES,
    USER,
    USER_FIELDS,
    PaymentMethod,
)
from services.users.rules.accounts import is_live
from services.users.rules.errors import NoSuchUser
from shared.couch import Doc, Document
from shared.errors import Unauthorized

_SHOWN = frozenset(kind.name for kind in (USER, ADDRESS, PREFERENCES, PAYMENT_METHOD, BASKET_ITEM))


def whole_profile(deps: Dependencies, userid: str) -> tuple[dict[str, Any], list[Doc]]:
    """Profile, addresses, preferences, payment methods and basket; and all documents of the person. 1 partition query."""
    docs = deps.store.documents_of_account(userid)
    return profile_of(docs), docs


def revisions_shown(docs: Iterable[Document]) -> list[str]:
    """Of what `profile_of` shows: a device that syncs, or a session that is refreshed, makes no other version of a profile."""
    return [doc["_rev"] for doc in docs if doc["type"] in _SHOWN]


def profile_of(docs: Sequence[Document], user: Account | None = None) -> dict[str, Any]:
    """Of the `user` among the documents. Raises Unauthorized when there is no live account."""
    user = user or live_user(docs)
    preferences: Doc = next((doc["values"] for doc in docs if doc["type"] == PREFERENCES.name), {})
    return {
        **person_answer(user),
        "addresses": addresses_of(docs),
        "preferences": PREFERENCE_FIELDS.shown(preferences),
        "payment_methods": payment_methods_of(docs),
        "basket": basket_items(docs),
        "basket_revision": basket_revision(docs),
    }


def checkout(deps: Dependencies, userid: str, address_id: str) -> dict[str, Any]:
    """What a checkout needs to know. 1 partition query, and 1 read of an address that is not in its list: that is one node's, which may not
    have what was saved a moment ago. Raises NoSuchUser."""
    docs = deps.store.documents_of_account(userid)
    if address_id and not any(address_key(each) == address_id for each in ADDRESS.among(docs)):
        late = deps.store.of_user(userid, f"{ADDRESS_PREFIX}{address_id}")
        docs = [*docs, late] if late else docs
    return _checkout_of(docs)


def _checkout_of(docs: Sequence[Document]) -> dict[str, Any]:
    user = next(iter(USER.among(docs)), None)
    if user is None or not is_live(user):
        raise NoSuchUser("There is no such account, or it is closed.")
    return {
        "userid": user["userid"],
        "name": user["name"],
        "email": user["email"],
        "group": user.get("group", ""),
        "addresses": addresses_of(docs),
        "basket": basket_items(docs),
    }


def live_user(docs: Iterable[Document]) -> Account:
    user = next(iter(USER.among(docs)), None)
    if user is None or not is_live(user):
        raise Unauthorized("This account is closed.")
    return user


def present_user(docs: Iterable[Document]) -> Account:
    """Also a closed one. Raises NoSuchUser when it was erased, or never was."""
    user = next(iter(USER.among(docs)), None)
    if user is None or user.get("erasure"):
        raise NoSuchUser("There is no such account.")
    return user


def person_answer(user: Account) -> dict[str, Any]:
    """The account itself as its owner sees it: never the hash."""
    return USER_FIELDS.shown(user)


def account_answer(user: Account) -> dict[str, Any]:
    """An account as staff sees it."""
    return {**USER_FIELDS.shown(user), "active": user["active"]}


def payment_methods_of(docs: Iterable[Document]) -> list[dict[str, Any]]:
    """All references among a person's documents, oldest first."""
    methods = sorted(PAYMENT_METHOD.among(docs), key=lambda doc: (doc["updated"], doc["_id"]))
    return [payment_method_answer(doc) for doc in methods]


def payment_method_answer(doc: PaymentMethod) -> dict[str, Any]:
    return {"id": doc["_id"].partition(":payment")[2], **PAYMENT_METHOD_FIELDS.shown(doc)}


def basket_revision(docs: Iterable[Document]) -> str:
    """Another one after every change, also when a line comes back as it was."""
    lines = sorted(
        (doc["_id"], doc["updated"], doc["quantity"]) for doc in docs if doc["type"] == BASKET_ITEM.name
    )
    return hashlib.sha256(repr(lines).encode()).hexdigest()[:32]


def basket_items(docs: Iterable[Document]) -> list[dict[str, Any]]:
    """The items of a basket in the order they were last touched."""
    items = sorted(
        (doc for doc in docs if doc["type"] == BASKET_ITEM.name), key=lambda doc: (doc["updated"], doc["_id"])
    )
    return [BASKET_ITEM_FIELDS.shown(doc) for doc in items]
