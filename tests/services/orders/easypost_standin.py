"""A local stand-in for EasyPost's stateless rates (`POST /beta/rates`), as its published API has them: basic authorization with the
key, weights in ounces, amounts as texts, errors as {error: {code, message, errors}}.

Of carriers it has RoyalMail in pounds and USPS in dollars. Nothing goes to Northern Ireland; a postcode of `ZZ` is refused.
"""

import base64
import json
import secrets
from collections.abc import Mapping
from typing import Any

from tests.services.orders.api_standin import Answer, ApiStandIn

API_KEY = "EZTK-standin"
SERVICES = (
    ("RoyalMail", "Tracked24", "4.00", "GBP", 1),
    ("RoyalMail", "Tracked48", "2.50", "GBP", 2),
    ("Evri", "Standard", "2.95", "GBP", None),
    ("USPS", "Priority", "8.10", "USD", 3),
)
"""Carrier, service, price for the first pound, currency, days."""
OUNCES_PER_POUND = 16


def refusal(status: int, code: str, message: str = "stand-in") -> Answer:
    return status, {"error": {"code": code, "message": message, "errors": []}}


class EasyPostStandIn(ApiStandIn):
    """`surcharge` minor units are added to every price; `asked` are the shipments that it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.surcharge = 0
        self.asked: list[dict[str, Any]] = []

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        expected = f"Basic {base64.b64encode(f'{API_KEY}:'.encode()).decode()}"
        if (method, path) != ("POST", "/beta/rates"):
            return refusal(404, "NOT_FOUND")
        if headers.get("Authorization") != expected:
            return refusal(401, "APIKEY.INACTIVE")
        try:
            shipment = json.loads(body)["shipment"]
            to, origin, weight = (
                shipment["to_address"],
                shipment["from_address"],
                shipment["parcel"]["weight"],
            )
        except (ValueError, KeyError):
            return refusal(422, "PARAMETER.REQUIRED")
        self.asked.append(shipment)
        if not isinstance(weight, int | float) or weight <= 0 or round(weight, 1) != weight:
            return refusal(422, "PARCEL.WEIGHT.INVALID")
        if not (origin.get("country") and origin.get("zip")) or not to.get("country"):
            return refusal(422, "ADDRESS.REQUIRED")
        if to.get("zip", "").startswith("ZZ"):
            return refusal(422, "ADDRESS.VERIFY.FAILURE")
        closed = to.get("zip", "").startswith("BT")
        return 200, {"rates": [] if closed else [self._rate(each, weight) for each in SERVICES]}

    def _rate(self, service: tuple[str, str, str, str, int | None], ounces: float) -> dict[str, Any]:
        carrier, name, first, currency, days = service
        pence = round(float(first) * 100) + int(ounces // OUNCES_PER_POUND) * 100 + self.surcharge
        return {
            "id": f"rate_{secrets.token_hex(16)}",
            "object": "Rate",
            "mode": "test",
            "service": name,
            "carrier": carrier,
            "rate": f"{pence // 100}.{pence % 100:02d}",
            "currency": currency,
            "list_rate": None,
            "list_currency": None,
            "delivery_days": days,
            "delivery_date": None,
            "delivery_date_guaranteed": False,
            "est_delivery_days": days,
            "billing_type": "carrier",
            "carrier_account_id": "ca_standin",
        }
