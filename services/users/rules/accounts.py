"""What holds for accounts whatever the storage: rights, default addresses, baskets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from services.users.documents import MAX_QUANTITY
from services.users.rules.errors import LastAdmin

MAX_BASKET_ITEMS = 200
MAX_WISHES = 200
MAX_ADDRESSES = 50
MAX_KEPT_CATEGORIES = 20
MAX_PAYMENT_METHODS = 20


def default_address(addresses: Iterable[Mapping[str, Any]]) -> str | None:
    """The `_id` of the one default: the address chosen last, the newest one among those never chosen."""
    newest_choice = max(addresses, key=lambda doc: (doc["default_since"], *creation_order(doc)), default=None)
    return None if newest_choice is None else newest_choice["_id"]


def creation_order(address: Mapping[str, Any]) -> tuple[str, str]:
    """Sorts addresses oldest first. The id alone would not: one that was added under an Idempotency-Key has its id from that."""
    return address.get("created", ""), address["_id"]


def merged_quantity(own: int, guest: int) -> int:
    """Guest basket at login: the larger one wins, so that merging the same basket twice changes nothing."""
    return min(max(own, guest), MAX_QUANTITY)


def is_live(user: Mapping[str, Any]) -> bool:
    """Whether an account may act: not closed and not erased."""
    return bool(user["active"]) and not user.get("erasure")


def is_admin(user: Mapping[str, Any]) -> bool:
    """Whether a user can log in and act as admin: one who is closed or has lost the e-mail cannot."""
    return "admin" in user["roles"] and bool(user["active"] and user["email_verified"])


def check_roles_change(user: Mapping[str, Any], roles: Sequence[str], *, another: bool) -> None:
    """Raises LastAdmin when this would leave the shop without an admin: there is not `another`."""
    if is_admin(user) and "admin" not in roles and not another:
        raise LastAdmin("Make another user admin first.")
