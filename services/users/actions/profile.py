"""What a person sees of themselves, out of one partition query."""

import hashlib
from collections.abc import Iterable
from typing import Any

from services.users.actions.addresses import addresses_of
from services.users.dependencies import Dependencies
from services.users.rules.accounts import DEFAULT_PREFERENCES, is_live
from services.users.rules.errors import NoSuchUser
from shared.couch import Doc
from shared.errors import Unauthorized


def whole_profile(deps: Dependencies, userid: str) -> tuple[dict[str, Any], list[Doc]]:
    """Profile, addresses, preferences, payment methods and basket; and the documents they came from. 1 partition query."""
    docs = deps.store.documents_of(userid)
    return profile_of(docs), docs


def profile_of(docs: list[Doc]) -> dict[str, Any]:
    """Raises Unauthorized when there is no live account among the documents."""
    user = live_user(docs)
    preferences: Doc = next((doc["values"] for doc in docs if doc["type"] == "preferences"), {})
    return {
        **person(user),
        "addresses": addresses_of(docs),
        "preferences": DEFAULT_PREFERENCES | preferences,
        "payment_methods": [payment_method(doc) for doc in docs if doc["type"] == "paymentmethod"],
        "basket": basket_lines(docs),
        "basket_revision": basket_revision(docs),
    }


def checkout_of(docs: list[Doc]) -> dict[str, Any]:
    """What a checkout needs to know. Raises NoSuchUser."""
    user = next((doc for doc in docs if doc["type"] == "user"), None)
    if user is None or not is_live(user):
        raise NoSuchUser("There is no such account, or it is closed.")
    return {
        "userid": user["userid"],
        "name": user["name"],
        "email": user["email"],
        "addresses": addresses_of(docs),
        "basket": basket_lines(docs),
    }


def live_user(docs: Iterable[Doc]) -> Doc:
    user = next((doc for doc in docs if doc["type"] == "user"), None)
    if user is None or not is_live(user):
        raise Unauthorized("This account is closed.")
    return user


def person(user: Doc) -> dict[str, Any]:
    """The account itself as the API shows it: never the hash."""
    return {
        "userid": user["userid"],
        "name": user["name"],
        "email": user["email"],
        "email_verified": user["email_verified"],
        "pending_email": user.get("pending_email"),
        "roles": user["roles"],
        "created": user["created"],
    }


def account(user: Doc) -> dict[str, Any]:
    """An account as staff sees it."""
    return {**person(user), "active": user["active"]}


def payment_method(doc: Doc) -> dict[str, Any]:
    return {
        "id": doc["_id"].partition(":payment")[2],
        "provider": doc["provider"],
        "reference": doc["reference"],
        "label": doc["label"],
    }


def basket_revision(docs: Iterable[Doc]) -> str:
    """Another one after every change, also when a line comes back as it was."""
    lines = sorted(
        (doc["_id"], doc["updated"], doc["quantity"]) for doc in docs if doc["type"] == "basketline"
    )
    return hashlib.sha256(repr(lines).encode()).hexdigest()[:32]


def basket_lines(docs: Iterable[Doc]) -> list[dict[str, Any]]:
    """Basket lines in the order they were last touched."""
    lines = sorted(
        (doc for doc in docs if doc["type"] == "basketline"), key=lambda doc: (doc["updated"], doc["_id"])
    )
    return [{"productid": doc["productid"], "quantity": doc["quantity"]} for doc in lines]
