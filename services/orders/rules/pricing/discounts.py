"""The discount step of a quote: what promotions take off the lines, each with its share.

Promotions act one after the other, the highest priority first, each on what the ones before have left: no line and no total
ever falls below 0. What one takes off is rounded once and shared among its lines by largest remainder.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from services.orders.rules.pricing.cart import Cart, CartLine, Discount
from services.orders.rules.pricing.promotions import (
    WHOLE,
    Action,
    AmountOff,
    BuyGet,
    FreeDelivery,
    Percent,
    Promotion,
    Promotions,
    normalized,
)
from shared.errors import Conflict, Invalid
from shared.money import apportion, money, rounding_step, shown

REASONS: Final = {
    "unknown": "There is no such code.",
    "not_yet": "It is not valid yet.",
    "expired": "It is not valid any more.",
    "not_for_you": "It is for certain customers only; log in if you are one of them.",
    "first_order_only": "It is for the first order of an account: log in, if this is yours.",
    "not_first_order": "It is for the first order of an account, and yours has ordered before.",
    "not_these_products": "It does not apply to what is in this order.",
    "minimum_not_reached": "It needs more goods.",
    "other_currency": "It does not hold in this currency.",
    "not_combinable": "It cannot be combined with the other discounts of this order.",
    "per_customer": "You have used it as often as a customer can.",
}


class CodeNotValid(Invalid):
    """`reason` is one of REASONS; the last is what an attempt that was placed already can fail for."""

    code, title = "code_not_valid", "A code is not valid for this order"

    def __init__(self, detail: str = "", *, reason: str = "per_customer", index: int = 0) -> None:
        super().__init__(detail, reason=reason, errors={f"codes.{index}": [detail]})


class CodeUsedUp(Conflict):
    code, title = "code_used_up", "A code is used up"


def not_valid(typed: str, reason: str, detail: str = "", index: int = 0) -> CodeNotValid:
    return CodeNotValid(f"{typed}: {detail or REASONS[reason]}", reason=reason, index=index)


def used_up(typed: str) -> CodeUsedUp:
    return CodeUsedUp(f"{typed} has been used as often as it could be.")


@dataclass(frozen=True)
class Shopper:
    """What promotions ask about who buys: `moment` is now, `is_first_order` is asked only where one depends on it; a guest has no account.

    `used_up`: promotions that apply by themselves, but to no order like this any more.
    """

    moment: str
    codes: tuple[str, ...] = ()
    group: str = ""
    is_first_order: bool = False
    has_account: bool = False
    used_up: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Candidate:
    promotion: Promotion
    code: str = ""
    index: int = 0

    def refuse(self, reason: str, detail: str = "") -> None:
        """A code that is not valid is an error; what would apply by itself just does not."""
        if self.code:
            raise not_valid(self.code, reason, detail, self.index)


def with_discounts(cart: Cart, promotions: Promotions, shopper: Shopper) -> Cart:
    """With what the codes and the automatic promotions take off. Raises CodeNotValid for a code that takes nothing off."""
    for candidate in _candidates(promotions, shopper):
        if (problem := _problem(candidate.promotion, cart, shopper)) is not None:
            candidate.refuse(*problem)
            continue
        after = _applied(cart, candidate)
        if after is not cart and not _combines(cart, candidate.promotion):
            candidate.refuse("not_combinable")
            continue
        if after is cart:
            candidate.refuse(*_reason_for_nothing(candidate.promotion, cart))
        cart = after
    return cart


def taken_off(cart: Cart, promotion: Promotion) -> Cart:
    """The cart with what a promotion takes off whatever its conditions say; the same one if that is nothing."""
    return _applied(cart, _Candidate(promotion))


def _candidates(promotions: Promotions, shopper: Shopper) -> list[_Candidate]:
    """In the order in which they act; of one priority those that the customer asked for come first."""
    found = [_Candidate(each) for each in promotions.automatic if each.id not in shopper.used_up]
    seen: set[str] = set()
    codes = [normalized(code) for code in shopper.codes]
    for index, typed in enumerate(codes):
        if typed in codes[:index]:
            continue
        promotion = promotions.by_code.get(typed)
        if promotion is None:
            raise not_valid(typed, "unknown", index=index)
        candidate = _Candidate(promotion, typed, index)
        if promotion.id in seen:
            candidate.refuse("not_combinable")
        seen.add(promotion.id)
        found.append(candidate)
    return sorted(found, key=lambda each: (-each.promotion.priority, not each.code, each.promotion.id))


def _problem(promotion: Promotion, cart: Cart, shopper: Shopper) -> tuple[str, str] | None:
    """Why it does not hold for this order, with the sentence for it where REASONS has too little."""
    lines = [line for line in cart.lines if _is_eligible(promotion, line)]
    minimum = promotion.minimums.get(cart.currency)
    if promotion.has_ended(shopper.moment):
        return "expired", ""
    if not promotion.has_begun(shopper.moment):
        return "not_yet", ""
    if promotion.groups and shopper.group not in promotion.groups:
        return "not_for_you", ""
    if promotion.first_order and not shopper.is_first_order:
        return ("not_first_order" if shopper.has_account else "first_order_only"), ""
    if not lines:
        return "not_these_products", ""
    if promotion.minimums and minimum is None:
        return "other_currency", ""
    if minimum is not None and sum(line.regular_price for line in lines) < minimum:
        return "minimum_not_reached", f"It needs goods worth {shown(money(minimum, cart.currency))} or more."
    return None


def _is_eligible(promotion: Promotion, line: CartLine) -> bool:
    """Gift cards are worth their price; a price that staff agreed is lowered by what they take off themselves alone."""
    if line.is_gift_card or (line.agreed is not None and not promotion.is_manual):
        return False
    return promotion.includes(line.key, line.productid, line.taxonomy)


def _combines(cart: Cart, promotion: Promotion) -> bool:
    """Whether it may stand beside those that have been applied."""
    others = [discount.promotion for discount in cart.discounts]
    return not others or promotion.combines and all(other.combines for other in others)


def _reason_for_nothing(promotion: Promotion, cart: Cart) -> tuple[str, str]:
    amounts = [action for action in promotion.actions if isinstance(action, AmountOff)]
    if amounts and len(amounts) == len(promotion.actions):
        return ("other_currency", "") if all(each.currency != cart.currency for each in amounts) else _NOTHING
    return _NOTHING


_NOTHING: Final = ("not_these_products", "")


def _applied(cart: Cart, candidate: _Candidate) -> Cart:
    """The cart with all that the promotion does; the same one if it does nothing."""
    promotion, before = candidate.promotion, cart.goods
    frees = tuple(action for action in promotion.actions if isinstance(action, FreeDelivery))
    lines = cart.lines
    for action in promotion.actions:
        lines = _lowered(lines, promotion, action, cart.currency)
    taken = before - sum(line.price for line in lines)
    if not taken and not frees:
        return cart
    discount = Discount(promotion, candidate.code, taken, frees)
    return replace(cart, lines=lines, discounts=(*cart.discounts, discount))


def _lowered(
    lines: tuple[CartLine, ...], promotion: Promotion, action: Action, currency: str
) -> tuple[CartLine, ...]:
    """The lines after one action."""
    places = [index for index, line in enumerate(lines) if _is_eligible(promotion, line)]
    eligible = [lines[index] for index in places]
    off = dict(zip(places, _shares(action, eligible, currency), strict=True))
    return tuple(replace(line, price=line.price - off.get(index, 0)) for index, line in enumerate(lines))


def _shares(action: Action, lines: list[CartLine], currency: str) -> list[int]:
    """What comes off each of these lines."""
    prices = [line.price for line in lines]
    whole = sum(prices)
    match action:
        case Percent(basis_points):
            step = rounding_step(currency, prices)
            return apportion(part_of(whole // step, basis_points) * step, prices, step)
        case AmountOff(amount, held):
            taken = min(amount, whole) if held == currency else 0
            return apportion(taken, prices, rounding_step(currency, [taken, *prices]))
        case BuyGet():
            return _off_cheapest(action, lines, rounding_step(currency, prices))
        case FreeDelivery():
            return [0] * len(lines)


def part_of(amount: int, basis_points: int) -> int:
    """So many basis points of an amount, half a minor unit rounded up."""
    return (amount * basis_points + WHOLE // 2) // WHOLE


def _off_cheapest(action: BuyGet, lines: list[CartLine], step: int) -> list[int]:
    left = sum(line.quantity for line in lines) // (action.buy + action.get) * action.get
    shares = [0] * len(lines)
    for index in _cheapest_first(lines):
        line = lines[index]
        units = min(left, line.quantity)
        worth = line.price // step * units // line.quantity
        shares[index] = part_of(worth, action.basis_points) * step
        left -= units
    return shares


def _cheapest_first(lines: list[CartLine]) -> Iterator[int]:
    yield from sorted(
        range(len(lines)), key=lambda index: (Fraction(lines[index].price, lines[index].quantity), index)
    )
