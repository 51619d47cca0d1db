"""A local stand-in for EasyPost's stateless rates (`POST /beta/rates`) and its shipments (`/v2/shipments`), as its published API has them:
basic authorization with the key, weights in ounces, amounts as texts, errors as {error: {code, message, errors}}. A shipment is bought once.

Of carriers it has RoyalMail in pounds and USPS in dollars. Nothing goes to Northern Ireland; a postcode of `ZZ` is refused. Between countries
a shipment needs `customs_info` (CustomsInfo and CustomsItem as published); a label has its commercial invoice then, as `forms`.
"""

import base64
import json
import re
import secrets
import threading
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


CONTENTS = frozenset(("documents", "gift", "merchandise", "returned_goods", "sample"))
ITEM_FIELDS = frozenset(
    (
        *("description", "quantity", "value", "weight", "hs_tariff_number", "code", "origin_country"),
        *("currency", "manufacturer", "eccn", "printed_commodity_identifier"),
    )
)
INFO_FIELDS = frozenset(
    (
        *("eel_pfc", "contents_type", "contents_explanation", "customs_certify", "customs_signer"),
        *("non_delivery_option", "restriction_type", "restriction_comments", "customs_items", "declaration"),
    )
)


def wrong_customs(shipment: Mapping[str, Any]) -> str:
    """What is wrong with a shipment's customs_info: docs.easypost.com/docs/customs-infos and /customs-items."""
    info = shipment.get("customs_info")
    ends = [shipment[end].get("country") for end in ("from_address", "to_address")]
    if info is None:
        return "customs_info is required" if ends[0] != ends[1] else ""
    if unknown := info.keys() - INFO_FIELDS:
        return f"customs_info has no {sorted(unknown)}"
    if info["contents_type"] not in CONTENTS or info["restriction_type"] != "none":
        return "contents_type or restriction_type"
    if info["customs_certify"] is not True or not info["customs_signer"] or not info["eel_pfc"]:
        return "it is not certified"
    if not info["customs_items"]:
        return "no items"
    return next((wrong for item in info["customs_items"] if (wrong := _wrong_item(item, shipment))), "")


def _wrong_item(item: Mapping[str, Any], shipment: Mapping[str, Any]) -> str:
    if unknown := item.keys() - ITEM_FIELDS:
        return f"a customs item has no {sorted(unknown)}"
    numbers = (item["quantity"], item["value"], item["weight"])
    if not all(isinstance(each, int | float) and each > 0 for each in numbers):
        return "quantity, value and weight are greater than 0"
    if round(item["weight"], 3) != item["weight"] or item["weight"] > shipment["parcel"]["weight"]:
        return "weight"
    if not re.fullmatch("[0-9]{6,10}", item["hs_tariff_number"]) or not item["description"]:
        return "hs_tariff_number or description"
    codes = (item["origin_country"], item["currency"])
    return "" if [len(each) for each in codes if each.isupper()] == [2, 3] else "country or currency"


def refusal(status: int, code: str, message: str = "stand-in") -> Answer:
    return status, {"error": {"code": code, "message": message, "errors": []}}


class EasyPostStandIn(ApiStandIn):
    """`surcharge` minor units are added to every price; `asked` are the shipments that it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.surcharge = 0
        self.closed: set[str] = set()
        """Services that take no parcel just now."""
        self.asked: list[dict[str, Any]] = []
        self.shipments: dict[str, dict[str, Any]] = {}
        self.purchases: list[str] = []
        """The ids of shipments, each time that one was paid for."""
        self.refunds: list[str] = []
        self._buying = threading.Lock()

    @property
    def label_settings(self) -> dict[str, str]:
        """Of a shop that buys its labels here."""
        return {"LABEL_PROVIDER": "easypost", "EASYPOST_URL": self.url, "EASYPOST_API_KEY": API_KEY}

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        expected = f"Basic {base64.b64encode(f'{API_KEY}:'.encode()).decode()}"
        if path.startswith("/labels/"):
            return 200, b"%PDF-1.4 the label of " + path.encode()
        if headers.get("Authorization") != expected:
            return refusal(401, "APIKEY.INACTIVE")
        if path.startswith("/v2/shipments"):
            return self._shipments(method, path.removeprefix("/v2/shipments"), body)
        if (method, path) != ("POST", "/beta/rates"):
            return refusal(404, "NOT_FOUND")
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

    def _shipments(self, method: str, path: str, body: bytes) -> Answer:
        if (method, path) == ("POST", ""):
            return self._prepared(json.loads(body)["shipment"])
        _, id, *verb = path.split("/")
        shipment = self.shipments.get(id)
        if shipment is None:
            return refusal(404, "NOT_FOUND")
        if method == "GET" and not verb:
            return 200, shipment
        if (method, verb) == ("POST", ["buy"]):
            return self._bought(shipment, json.loads(body)["rate"]["id"])
        if (method, verb) == ("POST", ["refund"]):
            if not shipment["postage_label"]:
                return refusal(422, "SHIPMENT.REFUND.UNAVAILABLE")
            self.refunds.append(id)
            shipment["refund_status"] = "submitted"
            return 200, shipment
        return refusal(404, "NOT_FOUND")

    def _prepared(self, asked: dict[str, Any]) -> Answer:
        places = [asked["from_address"], asked["to_address"]]
        if not all(place.get("street1") and place.get("city") and place.get("country") for place in places):
            return refusal(422, "ADDRESS.REQUIRED")
        if asked["to_address"].get("zip", "").startswith("ZZ"):
            return refusal(422, "ADDRESS.VERIFY.FAILURE", "Unable to verify address.")
        if wrong := wrong_customs(asked):
            return refusal(422, "SHIPMENT.CUSTOMS_INFO.INVALID", wrong)
        id = f"shp_{secrets.token_hex(16)}"
        self.shipments[id] = {
            "id": id,
            "object": "Shipment",
            "reference": asked.get("reference"),
            "is_return": asked.get("is_return", False),
            "from_address": places[1] if asked.get("is_return") else places[0],
            "to_address": places[0] if asked.get("is_return") else places[1],
            "parcel": asked["parcel"],
            "options": asked.get("options", {}),
            "customs_info": asked.get("customs_info"),
            "forms": [],
            "rates": [
                self._rate(each, asked["parcel"]["weight"]) for each in SERVICES if each[1] not in self.closed
            ],
            "messages": [],
            "selected_rate": None,
            "postage_label": None,
            "tracking_code": None,
            "tracker": None,
            "refund_status": None,
        }
        return 201, self.shipments[id]

    def _bought(self, shipment: dict[str, Any], rate: str) -> Answer:
        with self._buying:
            if shipment["postage_label"]:
                return refusal(422, "SHIPMENT.POSTAGE.EXISTS", "Postage already exists for this shipment.")
            chosen = next((each for each in shipment["rates"] if each["id"] == rate), None)
            if chosen is None:
                return refusal(422, "RATE.NOT_FOUND")
            self.purchases.append(shipment["id"])
            code = f"RM{len(self.purchases):09d}GB"
            url = f"{self.url}/labels/{shipment['id']}.pdf"
            label = {"label_url": url, "label_pdf_url": None, "label_file_type": "application/pdf"}
            tracker = {"public_url": f"https://track.easypost.com/{code}", "status": "unknown"}
            shipment |= {"selected_rate": chosen, "postage_label": label, "tracking_code": code}
            shipment["tracker"] = tracker
            if shipment["customs_info"]:
                form = {
                    "object": "Form",
                    "form_type": "commercial_invoice",
                    "submitted_electronically": False,
                }
                shipment["forms"] = [form | {"form_url": f"{self.url}/labels/{shipment['id']}-invoice.pdf"}]
            return 200, shipment

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
