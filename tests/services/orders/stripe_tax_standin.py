"""A local stand-in for Stripe Tax (`POST /v1/tax/calculations`), as its published API has it: form-encoded, amounts in minor units,
lines in pages of ten, each tax with its jurisdiction, parameters that it does not know refused.

Britain has 20 % VAT (books 0), Germany 19 %; California 7.25 % and 1.25 % of San Diego. An address in the United States needs a postcode.
"""

import re
import secrets
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.services.orders.api_standin import Answer, ApiStandIn
from tests.services.orders.stripe_standin import API_KEY

Json = dict[str, Any]

BOOKS = "txcd_35010000"
PAGE = 10
_ADDRESS = r"\[address\]\[(country|state|postal_code|city|line1)\]"
_KNOWN = re.compile(
    rf"currency|tax_date|expand\[\d\]|customer_details({_ADDRESS}|\[address_source\])|ship_from_details{_ADDRESS}"
    r"|line_items\[\d+\]\[(amount|quantity|reference|tax_behavior|tax_code)\]|shipping_cost\[(amount|tax_behavior|tax_code)\]"
)


def refusal(status: int, code: str, param: str = "") -> Answer:
    said = {"type": "invalid_request_error", "code": code, "param": param, "message": f"stand-in: {code}"}
    return status, {"error": said}


class StripeTaxStandIn(ApiStandIn):
    """`calculations` by id; `more` parts per million are added to every rate."""

    def __init__(self) -> None:
        super().__init__()
        self.calculations: dict[str, Json] = {}
        self.forms: list[dict[str, str]] = []
        self.factor = Decimal(1)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        target = urlsplit(path)
        if headers.get("Authorization") != f"Bearer {API_KEY}":
            return refusal(401, "api_key_invalid")
        if (method, target.path) == ("POST", "/v1/tax/calculations"):
            self.forms.append(dict(parse_qsl(body.decode())))
            return self._calculate(self.forms[-1])
        parts = target.path.strip("/").split("/")
        if method == "GET" and parts[-1] == "line_items" and parts[3] in self.calculations:
            lines, query = self.calculations[parts[3]]["all"], dict(parse_qsl(target.query))
            start = [line["id"] for line in lines].index(query["starting_after"]) + 1
            return 200, _page(lines, start, int(query["limit"]))
        return refusal(404, "resource_missing")

    def _calculate(self, form: dict[str, str]) -> Answer:
        if unknown := [name for name in form if not _KNOWN.fullmatch(name)]:
            return refusal(400, "parameter_unknown", unknown[0])
        place = {
            name.split("[")[-1][:-1]: value
            for name, value in form.items()
            if name.startswith("customer_details[address]")
        }
        if not place.get("country") or (place["country"] == "US" and not place.get("postal_code")):
            return refusal(400, "customer_tax_location_invalid")
        lines = []
        while f"line_items[{len(lines)}][amount]" in form:
            prefix = f"line_items[{len(lines)}]"
            lines.append(self._taxed(prefix, form, place) | {"reference": form[f"{prefix}[reference]"]})
        if not lines or len({line["reference"] for line in lines}) != len(lines):
            return refusal(400, "parameter_invalid", "line_items")
        shipping = self._taxed("shipping_cost", form, place) if "shipping_cost[amount]" in form else None
        if any(line["amount"] <= 0 for line in [*lines, *([shipping] if shipping else [])]):
            return refusal(400, "parameter_invalid_integer", "line_items")
        items = [*lines, *([shipping] if shipping else [])]
        added = sum(item["amount_tax"] for item in items if item["tax_behavior"] == "exclusive")
        calculation = {
            "id": f"taxcalc_{secrets.token_hex(12)}",
            "object": "tax.calculation",
            "currency": form["currency"],
            "amount_total": sum(item["amount"] for item in items) + added,
            "line_items": _page(lines, 0, PAGE),
            "shipping_cost": shipping,
            "tax_amount_exclusive": added,
        }
        self.calculations[calculation["id"]] = {"all": lines}
        return 200, calculation

    def _taxed(self, prefix: str, form: dict[str, str], place: Mapping[str, str]) -> Json:
        amount, behavior = int(form[f"{prefix}[amount]"]), form[f"{prefix}[tax_behavior]"]
        taxes = _rates(place, form.get(f"{prefix}[tax_code]", ""))
        percent = sum((Decimal(rate) for _, rate in taxes), Decimal(0)) * self.factor
        part = percent / (100 + percent) if behavior == "inclusive" else percent / 100
        return {
            "id": f"tax_li_{secrets.token_hex(8)}",
            "amount": amount,
            "amount_tax": int((amount * part).quantize(Decimal(1), ROUND_HALF_UP)),
            "tax_behavior": behavior,
            "tax_breakdown": [
                {
                    "amount": 0,
                    "jurisdiction": {"country": place["country"], "level": "state"},
                    "taxability_reason": "standard_rated",
                    "tax_rate_details": {
                        "display_name": name,
                        "percentage_decimal": str(Decimal(rate) * self.factor),
                        "tax_type": "vat",
                    },
                }
                for name, rate in taxes
            ],
        }


def _rates(place: Mapping[str, str], code: str) -> list[tuple[str, str]]:
    match place["country"], place.get("state"):
        case "GB", _:
            return [("VAT", "0.0" if code == BOOKS else "20.0")]
        case "DE", _:
            return [("VAT", "19.0")]
        case "US", "CA":
            return [("Sales Tax", "7.25"), ("Sales Tax", "1.25")]
        case _:
            return []


def _page(lines: list[Json], start: int, limit: int) -> Json:
    return {
        "object": "list",
        "data": lines[start : start + limit],
        "has_more": start + limit < len(lines),
    }
