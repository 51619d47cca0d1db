"""Payments that staff record: the shop has the money already, and no provider is asked for it."""

from typing import Final

from services.orders.declarations.events import OrderPayment
from services.orders.declarations.order import Order
from services.orders.rules.credits import is_covered

CASH, BANK_TRANSFER, PAID_ELSEWHERE, TERMINAL = "cash", "bank_transfer", "paid_elsewhere", "terminal"
MANUAL_PAYMENTS: Final = (CASH, BANK_TRANSFER, PAID_ELSEWHERE, TERMINAL)
"""What such a payment has for its `provider`."""


def is_manual(payment: Order | OrderPayment) -> bool:
    """Whether staff recorded it, so that staff pay it back as well."""
    return payment["provider"] in MANUAL_PAYMENTS


def needs_no_provider(order: Order) -> bool:
    """Whether its checkout charges nobody: gift cards and store credit pay it, or staff have the money."""
    return is_covered(order) or is_manual(order)
