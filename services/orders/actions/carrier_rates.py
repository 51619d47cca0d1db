"""Carriers' rates for a quote: each provider that its methods name is asked once, or its answer of a moment ago taken."""

import logging
from dataclasses import asdict

from services.orders.dependencies import Dependencies
from services.orders.rules.pricing import QuoteRequest, Terms, asked_of_carriers
from services.orders.rules.pricing.carriers import CarrierParcel, CarrierRate, CarrierRates, NoRates
from shared.couch import Doc
from shared.errors import Unavailable

log = logging.getLogger(__name__)


def carrier_rates(
    deps: Dependencies, request: QuoteRequest, products: dict[str, Doc], terms: Terms
) -> CarrierRates:
    """No database call; nothing is asked where no method depends on it. Raises NoSuchProduct, VariantNeeded, MixedCurrencies."""
    providers, parcel = asked_of_carriers(request, products, terms)
    if parcel is None:
        return CarrierRates(problems=dict.fromkeys(providers, NoRates.WEIGHT_UNKNOWN))
    found = {name: _rates(deps, name, parcel) for name in sorted(providers)}
    return CarrierRates(
        {name: rates for name, rates in found.items() if rates is not None},
        {name: NoRates.CARRIER_UNAVAILABLE for name, rates in found.items() if rates is None},
    )


def _rates(deps: Dependencies, name: str, parcel: CarrierParcel) -> tuple[CarrierRate, ...] | None:
    """None while the provider does not answer, or is not connected any more."""
    question = asdict(parcel)
    kept = deps.provider_answers.get(name, question)
    if kept is not None:
        return tuple(CarrierRate(**each) for each in kept)
    provider = deps.rate_providers.get(name)
    try:
        if provider is None:
            raise Unavailable("RATE_PROVIDERS does not name it.")
        rates = provider.rates(parcel)
    except Unavailable as error:
        log.warning("no rates of %s: %s", name, error.detail)
        return None
    deps.provider_answers.keep(name, question, [asdict(rate) for rate in rates])
    return rates
