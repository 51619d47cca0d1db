"""What a bulk edit makes of a product's content."""

from dataclasses import dataclass
from typing import Any, Final

from services.products.declarations.limits import MAX_PRICE
from shared.couch import Doc
from shared.errors import Invalid

WHOLE: Final = 10_000
"""Basis points of the price as it is."""


class PriceTooHigh(Invalid):
    code, title = "price_too_high", "The price would be too high"


@dataclass(frozen=True)
class BulkEdit:
    """What is to change of many products; None stays. `price_change` is in basis points: -1000 takes a tenth off.

    `key` names this edit: what it has changed already it does not change again; `by` is who makes it.
    """

    key: str
    status: str | None = None
    publish_from: str | None = None
    taxonomy: list[str] | None = None
    price_change: int | None = None
    stock_delta: int | None = None
    reason: str = ""
    by: str = ""

    @property
    def changes_content(self) -> bool:
        given = (self.status, self.publish_from, self.taxonomy, self.price_change)
        return any(each is not None for each in given)

    def applied(self, content: Doc) -> Doc:
        """The content as it is to be. Raises PriceTooHigh."""
        fresh = dict(content)
        if self.status is not None:
            fresh |= {"status": self.status, "publish_from": ""}
        if self.publish_from is not None:
            fresh["publish_from"] = self.publish_from
        if self.taxonomy is not None:
            fresh["taxonomy"] = self.taxonomy
        return fresh if self.price_change is None else self._repriced(fresh)

    def _repriced(self, content: Doc) -> Doc:
        price = content["price"]
        scaled = self._with_scaled_terms(content) | {
            "price": price | {"amount": self._scaled(price["amount"])}
        }
        return scaled | {"variants": [self._with_scaled_terms(each) for each in content["variants"]]}

    def _with_scaled_terms(self, priced: Doc) -> Doc:
        """Regular prices and those of sales and groups; what a price is compared with stays."""
        fresh = dict(priced)
        if "prices" in priced:
            fresh["prices"] = self._scaled_all(priced["prices"])
        if "sales" in priced:
            fresh["sales"] = [each | {"prices": self._scaled_all(each["prices"])} for each in priced["sales"]]
        if "group_prices" in priced:
            groups = priced["group_prices"].items()
            fresh["group_prices"] = {group: self._scaled_all(prices) for group, prices in groups}
        return fresh

    def _scaled_all(self, prices: dict[str, int]) -> dict[str, Any]:
        return {currency: self._scaled(amount) for currency, amount in prices.items()}

    def _scaled(self, amount: int) -> int:
        """Halves of a minor unit go up."""
        scaled = (amount * (WHOLE + (self.price_change or 0)) * 2 + WHOLE) // (2 * WHOLE)
        if scaled > MAX_PRICE:
            raise PriceTooHigh(f"A price may be {MAX_PRICE} minor units.")
        return scaled
