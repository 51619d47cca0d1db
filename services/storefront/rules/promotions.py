"""Promotions as the desk types them: what comes off in percent and amounts, for which goods and whom, when."""

import re
from collections.abc import Mapping
from typing import Final

from services.storefront.rules.terms import amounts, amounts_text, whole
from services.storefront.translation import gettext as _
from services.storefront.translation import number_text
from shared.errors import Invalid
from shared.money import money
from shared.types import Json

_BUY_GET: Final = re.compile(r"(\d{1,4}) *\+ *(\d{1,4})(?: +at +(.+))?")
_LISTS: Final = {"categories": "categories", "products": "products", "groups": "groups"}


def promotion_body(values: Mapping[str, str]) -> Json:
    """A promotion out of its form. Raises Invalid by field."""
    return {
        "name": values["name"],
        "codes": _words(values["codes"]),
        "active": bool(values["active"]),
        "combines": bool(values["combines"]),
        "from": values["from"],
        "to": values["to"],
        "priority": whole(values["priority"] or "0", "priority"),
        "conditions": _conditions(values),
        "actions": _actions(values),
        **{name: whole(values[name], name) for name in ("limit", "per_customer") if values[name]},
    }


def promotion_values(promotion: Json) -> dict[str, str]:
    """The form of a promotion."""
    conditions, actions = promotion["conditions"], {each["kind"]: each for each in promotion["actions"]}
    lists = {name: [value for each in conditions for value in each.get(name, [])] for name in _LISTS}
    return {
        "name": promotion["name"],
        "codes": ", ".join(promotion["codes"]),
        **{name: "\n".join(values) for name, values in lists.items()},
        "minimum": amounts_text(_amounts_of(conditions, "minimum")),
        "first_order": "yes" if any(each["kind"] == "first_order" for each in conditions) else "",
        "percent": _percent_text(actions["percent"]["basis_points"]) if "percent" in actions else "",
        "amount": amounts_text(_amounts_of(promotion["actions"], "amount")),
        "buy_get": _buy_get_text(actions["buy_x_get_y"]) if "buy_x_get_y" in actions else "",
        "free_delivery": "yes" if "free_delivery" in actions else "",
        "methods": ", ".join(actions.get("free_delivery", {}).get("methods", [])),
        **{name: str(promotion[name] or "") for name in ("limit", "per_customer", "priority")},
        **{name: "yes" if promotion[name] else "" for name in ("active", "combines")},
        **{name: promotion[name] for name in ("from", "to")},
    }


def summary(promotion: Json) -> str:
    """What it takes off, in a few words: 10 %, GBP 5.00, buy 2 get 1, free delivery."""
    values = promotion_values(promotion)
    actions = {each["kind"]: each for each in promotion["actions"]}
    parts = [
        values["percent"] and f"{values['percent']} %",
        values["amount"],
        actions.get("buy_x_get_y") and _buy_get_words(actions["buy_x_get_y"]),
        values["free_delivery"] and _("free delivery"),
    ]
    return ", ".join(part for part in parts if part)


def _conditions(values: Mapping[str, str]) -> list[Json]:
    named = [
        {"kind": kind, name: found}
        for kind, name in _LISTS.items()
        if (found := [line.strip() for line in values[name].splitlines() if line.strip()])
    ]
    minimums = [
        {"kind": "minimum", "amount": money(amount, currency)}
        for currency, amount in amounts(values["minimum"], "minimum").items()
    ]
    return [*named, *minimums, *([{"kind": "first_order"}] if values["first_order"] else [])]


def _actions(values: Mapping[str, str]) -> list[Json]:
    found: list[Json] = []
    if values["percent"]:
        found.append({"kind": "percent", "basis_points": _basis_points(values["percent"], "percent")})
    found += [
        {"kind": "amount", "amount": money(amount, currency)}
        for currency, amount in amounts(values["amount"], "amount").items()
    ]
    if values["buy_get"]:
        found.append(_buy_get(values["buy_get"]))
    if values["free_delivery"]:
        methods = _words(values["methods"])
        found.append({"kind": "free_delivery"} | ({"methods": methods} if methods else {}))
    if not found:
        raise _wrong("percent", _("Say what comes off: percent, an amount, buy and get, or free delivery."))
    return found


def _buy_get(text: str) -> Json:
    found = _BUY_GET.fullmatch(text)
    if found is None:
        raise _wrong(
            "buy_get", _("Write 2 + 1 for three at the price of two, 2 + 1 at 50 % for the third at half.")
        )
    off = {"basis_points": _basis_points(found[3], "buy_get")} if found[3] else {}
    return {"kind": "buy_x_get_y", "buy": int(found[1]), "get": int(found[2]), **off}


def _buy_get_text(action: Json) -> str:
    off = f" at {_percent_text(action['basis_points'])} %" if "basis_points" in action else ""
    return f"{action['buy']} + {action['get']}{off}"


def _buy_get_words(action: Json) -> str:
    if "basis_points" in action:
        return _(
            "buy %(buy)s get %(get)s at %(percent)s %%",
            buy=action["buy"],
            get=action["get"],
            percent=_percent_text(action["basis_points"]),
        )
    return _("buy %(buy)s get %(get)s", buy=action["buy"], get=action["get"])


def _basis_points(text: str, field: str) -> int:
    try:
        points = round(float(text.replace(",", ".").removesuffix("%")) * 100, 6)
    except ValueError:
        points = 0
    if not 1 <= points <= 10_000 or points != int(points):
        raise _wrong(field, _("Write percent from 0.01 to 100, such as 10 or 12.5."))
    return int(points)


def _percent_text(basis_points: int) -> str:
    return number_text(basis_points / 100, "0.##")


def _amounts_of(entries: list[Json], kind: str) -> dict[str, int]:
    return {each["amount"]["currency"]: each["amount"]["amount"] for each in entries if each["kind"] == kind}


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,;]+", text) if word]


def _wrong(field: str, message: str) -> Invalid:
    return Invalid(errors={field: [message]})
