"""Carriers' rates for a quote: each provider that its methods name is asked once for each weight, or its answer of a moment ago taken."""

import logging
from collections.abc import Mapping, Sequence
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
    answers, problems = dict[str, Mapping[int, tuple[CarrierRate, ...]]](), dict[str, NoRates]()
    for name, parcels in sorted(asked_of_carriers(request, products, terms).items()):
        found = _of_all(deps, name, parcels) if parcels is not None else None
        if found is not None:
            answers[name] = found
        else:
            problems[name] = NoRates.CARRIER_UNAVAILABLE if parcels is not None else NoRates.WEIGHT_UNKNOWN
    return CarrierRates(answers, problems)


def _of_all(
    deps: Dependencies, name: str, parcels: Sequence[CarrierParcel]
) -> dict[int, tuple[CarrierRate, ...]] | None:
    """By weight; None as soon as the provider does not answer."""
    found: dict[int, tuple[CarrierRate, ...]] = {}
    for parcel in parcels:
        rates = _rates(deps, name, parcel)
        if rates is None:
            return None
        found[parcel.grams] = rates
    return found


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
