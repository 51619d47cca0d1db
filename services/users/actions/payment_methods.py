"""References to payment methods that a provider keeps: never a card number."""

from typing import Any

from services.users.actions.profile import payment_method_answer, payment_methods_of
from services.users.dependencies import Dependencies
from services.users.documents import PAYMENT_METHOD, user_document
from services.users.rules.accounts import MAX_PAYMENT_METHODS
from services.users.rules.card_numbers import reject_card_numbers
from services.users.rules.errors import NoSuchPaymentMethod
from shared.clock import timestamp
from shared.couch import time_ordered_id
from shared.errors import Conflict


class TooManyPaymentMethods(Conflict):
    code, title = "too_many_payment_methods", "No room for another payment method"


def list_payment_methods(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """1 partition query."""
    return payment_methods_of(deps.store.documents_with_prefix(userid, "payment"))


def add_payment_method(
    deps: Dependencies, userid: str, values: dict[str, str], key: str | None
) -> dict[str, Any]:
    """Keeps a provider's reference. Raises CardNumberRejected for what might be a card number."""
    reject_card_numbers(values)
    docid = user_document(userid, f"payment{key or time_ordered_id().lower()}")
    present = deps.store.documents_with_prefix(userid, "payment")
    if len([doc for doc in present if doc["_id"] != docid]) >= MAX_PAYMENT_METHODS:
        raise TooManyPaymentMethods(f"Remove one of your {MAX_PAYMENT_METHODS} payment methods first.")
    doc = PAYMENT_METHOD.build(docid, userid=userid, updated=timestamp(), **values)
    return payment_method_answer(
        doc if deps.store.try_put(doc) else PAYMENT_METHOD.typed(deps.store.get(docid)) or doc
    )


def remove_payment_method(deps: Dependencies, userid: str, key: str) -> None:
    """Raises NoSuchPaymentMethod, also for another user's."""
    doc = PAYMENT_METHOD.typed(deps.store.of_user(userid, f"payment{key}"))
    if doc is None:
        raise NoSuchPaymentMethod("It may have been removed.")
    deps.store.delete(doc)
