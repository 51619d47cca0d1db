"""Who works tax out: the shop's own table of rates, or a tax service; the table of TAX_PROVIDER.

A new one is a class with the members of `TaxProvider`, a row in TAX_PROVIDERS, and its name among the choices of that setting.
"""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from services.orders.clients.stripe_tax import StripeTax
from services.orders.rules.pricing.tax_question import TaxedItem, TaxQuestion
from services.orders.settings import STRIPE, TABLE, Settings


class TaxProvider(Protocol):
    """A tax service."""

    @property
    def name(self) -> str: ...

    def taxes(self, question: TaxQuestion) -> tuple[TaxedItem, ...]:
        """The tax of each item, in their order. Raises TaxLocationInvalid, TaxUnavailable."""


TAX_PROVIDERS: Final[Mapping[str, Callable[[Settings], TaxProvider | None]]] = {
    TABLE: lambda settings: None,
    STRIPE: lambda settings: StripeTax(
        settings.stripe_url,
        settings.stripe_api_key,
        dict(pair.split("=", 1) for pair in settings.stripe_tax_codes),
    ),
}
"""None: the table of rates, which needs nobody else."""
