"""EasyPost's shipments: a label is prepared, bought, and its money asked back (`/v2/shipments`).

That of a return is made with `is_return` and both addresses as of the parcel that went out, which EasyPost swaps. It can be bought once: EasyPost
refuses a second purchase with SHIPMENT.POSTAGE.EXISTS. A `reference` need not be unique there, so a purchase is found again by the
shipment's id.
"""

import logging
from decimal import InvalidOperation
from typing import Final
from urllib.parse import quote

from services.orders.clients.easypost_api import (
    EasyPostApi,
    Json,
    error_code,
    error_text,
    minor_units,
    ounces,
    ounces_of_line,
)
from services.orders.declarations.labels import LabelForm
from services.orders.declarations.parts import CarrierService
from services.orders.rules.labels import (
    NOT_APPLICABLE,
    NOT_BOUGHT,
    REFUND_STATUSES,
    BoughtLabel,
    CustomsDeclaration,
    LabelParcel,
    LabelRefused,
    Place,
)
from services.orders.settings import EASYPOST
from shared.couch.deadline import time_for
from shared.couch.http import HttpClient, TransportError
from shared.errors import Unavailable
from shared.money import major, money

log = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 8.0
"""Carriers take seconds to sell a label."""
MAX_DESCRIPTION: Final = 100
BOUGHT_BEFORE: Final = "SHIPMENT.POSTAGE.EXISTS"
_NAMES: Final = {
    "company": "company",
    "line1": "street1",
    "line2": "street2",
    "city": "city",
    "region": "state",
    "postcode": "zip",
    "country": "country",
    "phone": "phone",
}
_REFUSALS: Final = frozenset({400, 402, 404, 422})
_UNCERTAIN: Final = frozenset(
    {"SHIPMENT.PURCHASE.IN_PROGRESS", "SHIPMENT.POSTAGE.TIMED_OUT", "SHIPMENT.POSTAGE.NO_RESPONSE"}
)
"""Errors after which it may have been bought: whoever asks again hears which."""


class EasyPostLabels:
    """A `LabelProvider`."""

    name = EASYPOST

    def __init__(self, url: str, api_key: str) -> None:
        self._api = EasyPostApi(url, api_key)
        self._files = HttpClient(max_idle=2)

    def prepare(self, parcel: LabelParcel) -> str:
        shipment = {
            "to_address": _address(parcel.customer),
            "from_address": _address(parcel.shop),
            "parcel": {"weight": ounces(parcel.grams)},
            "is_return": parcel.comes_back,
            "reference": parcel.reference,
            "options": {"label_format": "PDF"},
        }
        if parcel.customs:
            shipment["customs_info"] = _customs(parcel.customs)
        prepared = self._call("POST", "/v2/shipments", {"shipment": shipment})
        _chosen(prepared, parcel.currency, parcel.service)
        return str(prepared["id"])

    def buy(self, shipment: str, currency: str, service: CarrierService | None = None) -> BoughtLabel:
        path = _path(shipment)
        found = self._call("GET", path)
        if not found.get("postage_label"):
            chosen = _chosen(found, currency, service)
            status, said = self._asked("POST", f"{path}/buy", {"rate": {"id": chosen["id"]}})
            again = error_code(said) == BOUGHT_BEFORE
            found = self._call("GET", path) if again else _checked(status, said)
        return _label(found)

    def give_back(self, shipment: str) -> str:
        path = _path(shipment)
        found = self._call("GET", path)
        if not found.get("postage_label"):
            return NOT_BOUGHT
        if not found.get("refund_status"):
            status, said = self._asked("POST", f"{path}/refund")
            if status in _REFUSALS:
                log.warning("EasyPost does not pay back %s: %s", shipment, error_code(said))
                return NOT_APPLICABLE
            found = _checked(status, said)
        said_status = str(found.get("refund_status"))
        return said_status if said_status in REFUND_STATUSES else NOT_APPLICABLE

    def document(self, url: str) -> bytes:
        try:
            answer = self._files.request("GET", url, {}, None, timeout=time_for(TIMEOUT_SECONDS))
        except TransportError as error:
            raise Unavailable("The label cannot be fetched just now.") from error
        if answer.status != 200 or not answer.body.startswith(b"%PDF"):
            raise Unavailable(f"The label cannot be fetched just now: {answer.status}.")
        return bytes(answer.body)

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        return _checked(*self._asked(method, path, body))

    def _asked(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        return self._api.call(method, path, body, timeout=TIMEOUT_SECONDS)


def _checked(status: int, said: Json) -> Json:
    if status in _REFUSALS and error_code(said) not in _UNCERTAIN:
        raise LabelRefused(f"EasyPost says: {error_text(said)}", kept=error_code(said) or f"status {status}")
    if status >= 400:
        log.error("EasyPost answered %s: %s", status, error_code(said))
        raise Unavailable(f"EasyPost answered {status}.")
    return said


def _path(shipment: str) -> str:
    return f"/v2/shipments/{quote(shipment, safe='')}"


def _address(place: Place) -> Json:
    parts = {_NAMES[name]: value for name, value in place.parts.items() if name in _NAMES and value}
    return {"name": place.name, **parts}


def _customs(declared: CustomsDeclaration) -> Json:
    """What is declared, as EasyPost's CustomsInfo: values and weights of a line together."""
    return {
        "contents_type": declared.contents,
        "restriction_type": "none",
        "non_delivery_option": "return",
        "eel_pfc": declared.filing,
        "customs_certify": True,
        "customs_signer": declared.signer,
        "customs_items": [
            {
                "description": item.description[:MAX_DESCRIPTION],
                "quantity": item.quantity,
                "value": float(major(item.value)),
                "currency": item.value["currency"],
                "weight": ounces_of_line(item.grams),
                "origin_country": item.origin,
                "hs_tariff_number": item.hs_code,
                "code": item.sku,
            }
            for item in declared.items
        ],
    }


def _forms(shipment: Json) -> tuple[LabelForm, ...]:
    return tuple(
        {
            "kind": str(form.get("form_type") or "form")[:60],
            "url": str(form["form_url"])[:1000],
            "sent": bool(form.get("submitted_electronically")),
        }
        for form in shipment.get("forms") or ()
        if form.get("form_url")
    )


def _chosen(shipment: Json, currency: str, service: CarrierService | None) -> Json:
    """The rate of this service, else the cheapest. Raises LabelRefused where no carrier takes it, or not in this way."""
    rates: list[Json] = [each for each in shipment.get("rates") or [] if each.get("currency") == currency]
    if rates and service is not None:
        offered = sorted({f"{each.get('carrier')} {each.get('service')}" for each in rates})
        rates = [each for each in rates if _is_of(each, service)]
        if not rates:
            raise LabelRefused(
                f"{service['name']} {service['service']}, which the customer has paid for, does not take this parcel. "
                f"These do: {', '.join(offered)}. Ask for the cheapest instead."
            )
    if not rates:
        reasons = "; ".join(str(each.get("message")) for each in shipment.get("messages") or [])
        refusal = f"No carrier takes this parcel for a price in {currency}."
        raise LabelRefused(f"{refusal} {reasons}".strip(), kept=refusal)
    try:
        return min(rates, key=lambda each: (minor_units(each["rate"], currency), each["id"]))
    except (KeyError, ValueError, InvalidOperation) as error:
        raise Unavailable("EasyPost gave no answer that can be read.") from error


def _is_of(rate: Json, service: CarrierService) -> bool:
    names = (str(rate.get("carrier")), str(rate.get("service")))
    return [name.casefold() for name in names] == [service["name"].casefold(), service["service"].casefold()]


def _label(shipment: Json) -> BoughtLabel:
    try:
        rate, label = shipment["selected_rate"], shipment["postage_label"]
        tracker = shipment.get("tracker") or {}
        return BoughtLabel(
            carrier=str(rate["carrier"])[:100],
            service=str(rate["service"])[:100],
            tracking_code=str(shipment.get("tracking_code") or "")[:200],
            tracking_url=str(tracker.get("public_url") or "")[:1000],
            url=str(label.get("label_pdf_url") or label["label_url"])[:1000],
            cost=money(minor_units(rate["rate"], rate["currency"]), rate["currency"]),
            forms=_forms(shipment),
        )
    except (KeyError, TypeError, ValueError, InvalidOperation) as error:
        raise Unavailable("EasyPost gave no answer that can be read.") from error
