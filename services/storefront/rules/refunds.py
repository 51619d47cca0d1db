"""How much of an order can still be paid back, and what may be asked for."""

from typing import Any

from services.storefront.rules import prices
from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.money import Money, money


def refundable_amount(order: dict[str, Any]) -> Money | None:
    """What was paid and not paid back yet; None for an order that was never paid."""
    if not order.get("payment"):
        return None
    paid = order["payment"]["total"]
    refunded = sum(refund["total"]["amount"] for refund in order["refunds"])
    return money(max(0, paid["amount"] - refunded), paid["currency"])


def refundable(order: dict[str, Any]) -> bool:
    left = refundable_amount(order)
    return left is not None and left["amount"] > 0 and order["status"] != "cancelled"


def parse_refund(text: str, left: Money) -> Money:
    """The amount typed. Raises Invalid (on `amount`) for nothing, and for more than is left."""
    amount = prices.parse(text, left["currency"], "amount")
    if not amount["amount"]:
        raise Invalid(errors={"amount": [_("Write an amount above zero.")]})
    if amount["amount"] > left["amount"]:
        raise Invalid(
            errors={
                "amount": [
                    _(
                        "%(left)s is left to refund, not %(amount)s.",
                        left=prices.shown(left),
                        amount=prices.shown(amount),
                    )
                ]
            }
        )
    return amount
