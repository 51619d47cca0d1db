"""By what a customer is known whose orders are counted as new or returning, and which of two orders came first."""

import hashlib

from services.orders.declarations.summaries import FirstOrder
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import same_person


def customer_key(found: OrderDocuments) -> str:
    """Of an account by its id, of a guest by a hash of the e-mail; empty where nobody can tell (erased, or none was given)."""
    userid = found.order["userid"]
    if userid:
        return f"user{userid}"
    email = found.customer["email"] if found.customer else ""
    return guest_customer(email) if email else ""


def guest_customer(email: str) -> str:
    return "guest" + hashlib.sha256(same_person(email).encode()).hexdigest()


def turn(found: OrderDocuments) -> tuple[str, str]:
    """What paid orders are sorted by: the moment of the payment, of two in one moment the id."""
    payment = found.require_payment()
    return payment["date"], payment["orderid"]


def comes_first(found: OrderDocuments, claim: FirstOrder) -> bool:
    """Whether this paid order came before the one of the claim."""
    return turn(found) < (claim["paid"], claim["orderid"])
