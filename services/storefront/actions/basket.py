"""What lies in a basket, at today's prices, and how it changes."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from services.storefront.clients import Products, Users, attempt
from services.storefront.rules.backorders import orderable
from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext
from shared.errors import AisleError, Conflict
from shared.money import Money, add, times
from shared.types import Json

log = logging.getLogger(__name__)

MAX_QUANTITY = 99
MAX_GUEST_ITEMS = 30
MAX_ORDER_ITEMS = 100


def pieces(lines: Iterable[Mapping[str, Any]]) -> int:
    return sum(line["quantity"] for line in lines)


@dataclass(frozen=True)
class Line:
    """One basket line with today's price: `key` is a SKU, or the productid of what has no variants; `offer` is None when
    nobody knows it any more."""

    key: str
    quantity: int
    offer: Json | None

    @property
    def product(self) -> Json | None:
        """What is sold; None when the shop has it no more, or only others of its variants."""
        return self.offer if self.offer and self.offer.get("for_sale", True) else None

    @property
    def not_sold_in(self) -> str:
        """The currency of the basket, if this has no price in it."""
        return str(self.offer.get("not_sold_in", "")) if self.offer else ""

    @property
    def name(self) -> str:
        """With what was chosen: Shirt (M, red)."""
        if self.offer is None:
            return ""
        options = ", ".join(self.offer.get("selected_options", {}).values())
        return f"{self.offer['name']} ({options})" if options else str(self.offer["name"])

    @property
    def sum(self) -> Money | None:
        return times(self.product["price"], self.quantity) if self.product else None

    @property
    def short(self) -> bool:
        """More than can be ordered."""
        return self.product is not None and self.orderable < self.quantity

    @property
    def orderable(self) -> int:
        """How many can be ordered: what is there, and what may wait for goods."""
        return orderable(self.product) if self.product else 0

    @property
    def waiting(self) -> int:
        """How many of it are still to come."""
        return max(0, self.quantity - (self.product.get("stock") or 0)) if self.product else 0


@dataclass(frozen=True)
class Part:
    """The lines of one currency: they can be ordered together."""

    currency: str
    lines: list[Line]

    @property
    def goods(self) -> Money:
        return add(*(line.sum for line in self.lines if line.sum))

    @property
    def items(self) -> list[Json]:
        """As an order names them."""
        return [{"productid": line.key, "quantity": line.quantity} for line in self.lines]

    @property
    def count(self) -> int:
        return sum(line.quantity for line in self.lines)

    @property
    def surplus(self) -> int:
        """How many different products must go before it can be ordered."""
        return max(0, len(self.lines) - MAX_ORDER_ITEMS)

    @property
    def buyable(self) -> bool:
        return not self.surplus and not any(line.short for line in self.lines)


@dataclass(frozen=True)
class Basket:
    """What lies in it; a customer may keep more there than one order holds, and in several currencies."""

    lines: list[Line]

    @property
    def parts(self) -> list[Part]:
        """One for each currency, in the order in which they came in."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.product:
                found.setdefault(line.product["price"]["currency"], []).append(line)
        return [Part(currency, lines) for currency, lines in found.items()]

    @property
    def gone(self) -> list[Line]:
        """What the shop has no more."""
        return [line for line in self.lines if not line.product]

    @property
    def count(self) -> int:
        return sum(line.quantity for line in self.lines)

    def quantities(self, currency: str) -> dict[str, int]:
        """What can be ordered in `currency`."""
        return {
            line.key: line.quantity for part in self.parts if part.currency == currency for line in part.lines
        }


def priced(
    products: Products, wanted: Mapping[str, int], currency: str = "", group: str = "", language: str = ""
) -> Basket:
    """A basket with today's prices in a currency, to a customer group, its goods named in a language, in one look-up; what has no price in
    it is `gone`."""
    if not wanted:
        return Basket([])
    found = {
        offer.get("sku") or offer["productid"]: offer
        for offer in products.lookup(list(wanted), currency, group, language)["found"]
    }
    return Basket([Line(key, quantity, found.get(key)) for key, quantity in wanted.items()])


def quantities_of(me: Json) -> dict[str, int]:
    return {line_key(line): line["quantity"] for line in me["basket"]}


def with_guest_item(basket: Mapping[str, int], key: str, quantity: int) -> dict[str, int]:
    """A guest's basket with one line set (0 takes it out). Raises Conflict when the cookie would grow too large."""
    changed = {**basket, key: min(quantity, MAX_QUANTITY)}
    if quantity <= 0:
        changed.pop(key)
    if len(changed) > MAX_GUEST_ITEMS:
        raise Conflict(
            gettext("A basket holds %(count)s different products until you log in.", count=MAX_GUEST_ITEMS)
        )
    return changed


def without_bought(basket: Mapping[str, int], bought: Mapping[str, int]) -> dict[str, int]:
    """What is left of a basket: more pieces of the same product may have come in while it was paid."""
    left = {key: quantity - bought.get(key, 0) for key, quantity in basket.items()}
    return {key: quantity for key, quantity in left.items() if quantity > 0}


def take_bought_as_guest(users: Users, token: str, bought: Mapping[str, int]) -> None:
    """Takes out of a customer's basket what they bought as a guest before they logged in: their basket had come along. What fails
    here stays in it."""
    try:
        basket = quantities_of(users.me(token))
        left = without_bought(basket, bought)
        for key in basket.keys() & bought.keys():
            if key in left:
                users.put_in_basket(token, key, left[key])
            else:
                users.take_from_basket(token, key)
    except AisleError as error:
        log.warning("what a guest bought stays in the basket: %s", error)


def remove_ordered(users: Users, userid: str, bought: Mapping[str, int], date: str) -> None:
    """Takes out of the basket what was ordered at `date`. What fails here the worker does a little later."""
    attempt(partial(users.clear_bought, userid, bought, date), None)()
