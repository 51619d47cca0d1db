"""The history of prices: what of them changed between two contents of a product, as documents."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from services.products.declarations.related_documents import PriceChange
from services.products.documents import PRICE_CHANGE, price_change_id
from services.products.price_fields import regular_prices
from services.products.rules.prices import own_currency, regular_amount
from shared.money import money


class PriceKey(NamedTuple):
    """Which amount it is: regular ones have no `kind`."""

    sku: str
    currency: str
    kind: str = ""
    group: str = ""
    sale_from: str = ""
    sale_until: str = ""

    def name(self, own: str) -> str:
        """What tells it from the others of the same SKU; nothing for the regular price in the product's own currency."""
        parts = (self.kind, self.group, self.sale_from, self.sale_until)
        if not self.kind and self.currency == own:
            return ""
        return ".".join([*(each for each in parts if each), self.currency])

    def fields(self) -> dict[str, str]:
        named = {name: value for name, value in self._asdict().items() if value and name != "currency"}
        return {str(name): str(value) for name, value in named.items()}


def price_changes(
    before: Mapping[str, Any], content: Mapping[str, Any], date: str, by: str = ""
) -> list[PriceChange]:
    """A document for each amount that changed: of the product, and of each variant that it had before and has now."""
    known = {"", *(variant["sku"] for variant in before.get("variants", ()))}
    old, new = dict(_amounts(before)), dict(_amounts(content))
    skus = {key.sku for key in new}
    changed = [
        key
        for key in dict.fromkeys([*new, *old])
        if old.get(key) != new.get(key) and key.sku in known and key.sku in skus
    ]
    return [_document(content, key, old.get(key), new.get(key), date, by) for key in changed]


def _amounts(product: Mapping[str, Any]) -> Iterator[tuple[PriceKey, int]]:
    """All that a product says of prices; the regular price of a variant is what it costs, also where that is the product's."""
    for currency, amount in regular_prices(product).items():
        yield PriceKey("", currency), amount
        for variant in product.get("variants", ()):
            own = regular_amount(product, variant, currency)
            yield PriceKey(variant["sku"], currency), amount if own is None else own
    for priced in (product, *product.get("variants", ())):
        yield from _terms(priced, priced.get("sku", ""))


def _terms(priced: Mapping[str, Any], sku: str) -> Iterator[tuple[PriceKey, int]]:
    for currency, amount in priced.get("compare_at_prices", {}).items():
        yield PriceKey(sku, currency, "compare_at"), amount
    for sale in priced.get("sales", ()):
        for currency, amount in sale["prices"].items():
            times = sale.get("from", ""), sale.get("until", "")
            yield PriceKey(sku, currency, "sale", "", *times), amount
    for group, amounts in priced.get("group_prices", {}).items():
        for currency, amount in amounts.items():
            yield PriceKey(sku, currency, "group", group), amount


def _document(
    content: Mapping[str, Any], key: PriceKey, before: int | None, after: int | None, date: str, by: str
) -> PriceChange:
    taxonomy, productid = content["taxonomy"], content["productid"]
    changed = key.name(own_currency(content))
    return PRICE_CHANGE.build(
        price_change_id(taxonomy, productid, date, key.sku, changed),
        productid=productid,
        taxonomy=taxonomy,
        before=None if before is None else money(before, key.currency),
        after=None if after is None else money(after, key.currency),
        date=date,
        **key.fields(),
        **({"by": by} if by else {}),
    )
