"""Checkouts that die at a chosen step, leaving in the databases exactly what a killed process would."""

from dataclasses import replace
from typing import Any

from services.orders.actions.checkout import place_order
from services.orders.actions.intents import Buyer
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.rules.identity import orderid_for
from services.orders.settings import Settings
from shared.settings import load

STEPS = ("intent", "reservation", "charge", "payment")


class Killed(BaseException):
    """The process ends here; no handler catches it."""


class Dying:
    """Passes everything on to `real`, and dies right after (or, with `before`, instead of) the call named."""

    def __init__(self, real: Any, call: str, *, before: bool = False) -> None:
        self._real, self._call, self._before = real, call, before

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._real, name)
        if name != self._call:
            return attribute

        def die(*args: Any, **kwargs: Any) -> None:
            if not self._before:
                attribute(*args, **kwargs)
            raise Killed

        return die


def checkout_that_dies(
    environment: dict[str, str], userid: str, key: str, body: dict[str, Any], step: str
) -> str:
    """Runs a checkout up to and including `step`; the id of the order it leaves behind."""
    shop = open_dependencies(load(Settings, environment))
    try:
        place_order(_dying(shop, step), Buyer(userid), key, body)
    except Killed:
        return orderid_for(userid, key)
    raise AssertionError(f"the checkout did not reach {step}")


def _dying(shop: Dependencies, step: str) -> Dependencies:
    if step == "intent":
        return replace(shop, stores=replace(shop.stores, orders=Dying(shop.orders, "place")))
    if step == "reservation":
        return replace(shop, products=Dying(shop.products, "reserve"))
    if step == "claim":
        return replace(shop, stores=replace(shop.stores, credits=Dying(shop.credits, "write")))
    if step == "charge":
        return replace(shop, providers={"sandbox": Dying(shop.providers["sandbox"], "charge")})
    return replace(shop, stores=replace(shop.stores, orders=Dying(shop.orders, "add")))
