"""The tax step of a quote: by the shop's own table of rates, or by the tax provider that the settings name."""

import logging
from dataclasses import asdict

from services.orders.clients.taxes import TaxProvider
from services.orders.dependencies import Dependencies
from services.orders.rules.pricing import Destination, TaxStep, Terms
from services.orders.rules.pricing.cart import Cart
from services.orders.rules.pricing.tax import with_tax
from services.orders.rules.pricing.tax_question import (
    TaxedItem,
    TaxQuestion,
    TaxUnavailable,
    tax_question,
    with_answer,
)
from services.orders.settings import TABLE

log = logging.getLogger(__name__)


def tax_step(deps: Dependencies) -> TaxStep:
    """Raises in a quote, where a provider is asked, TaxLocationInvalid and TaxUnavailable."""
    provider = deps.tax_provider
    if provider is None:
        return with_tax

    def asked(cart: Cart, terms: Terms, destination: Destination, date: str) -> Cart:
        question = tax_question(cart, terms, destination, date, included=deps.settings.tax_included)
        try:
            return with_answer(cart, question, _taxes(deps, provider, question))
        except TaxUnavailable as error:
            if deps.settings.tax_fallback != TABLE:
                raise
            log.warning("%s does not answer, the shop's own tax rates hold: %s", provider.name, error.detail)
            return with_tax(cart, terms, destination, date)

    return asked


def _taxes(deps: Dependencies, provider: TaxProvider, question: TaxQuestion) -> tuple[TaxedItem, ...]:
    """Its answer of a moment ago, so that an order is charged what its quote showed; else it is asked."""
    key = asdict(question)
    kept = deps.provider_answers.get(provider.name, key)
    if kept is not None:
        return tuple(TaxedItem(**each) for each in kept)
    found = provider.taxes(question)
    deps.provider_answers.keep(provider.name, key, [asdict(each) for each in found])
    return found
