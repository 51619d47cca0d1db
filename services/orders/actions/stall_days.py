"""A day at the stalls: its sales, takings and cash; what stalls sell, at what price; what was oversold."""

from datetime import datetime
from typing import Any

from services.orders.actions.shop_settings import shop
from services.orders.dependencies import Dependencies
from services.orders.documents import CASH_UP, stall_key
from services.orders.rules import stall as rules
from services.orders.rules.daily_figures import zone_of
from services.orders.rules.pricing.stall import stall_price
from shared.clock import now, timestamp
from shared.couch import PageOf
from shared.errors import Invalid
from shared.money import money

Doc = dict[str, Any]
NOT_FOR_STALLS = "gift_card"
TODAY = "today"
"""The day that it is in the shop's time zone."""
SHOWN = ("productid", "sku", "name", "taxonomy", "stock", "image", "selected_options")


def day_of(deps: Dependencies, moment: datetime) -> str:
    """The day of a moment in the shop's time zone. 1 read."""
    return str(moment.astimezone(zone_of((shop(deps) or {}).get("time_zone", ""))).date())


def day(deps: Dependencies, name: str) -> Doc:
    """1 partition query; of TODAY 1 read more."""
    name = day_of(deps, now()) if name == TODAY else name
    entries, cash_ups = deps.stall.day(name)
    newest_first = sorted(entries, key=lambda each: (each["date"], each["orderid"]), reverse=True)
    return {
        "day": name,
        "takings": rules.takings(entries),
        "sales": [rules.shown_entry(each) for each in newest_first],
        "cash_ups": [rules.shown_cash_up(each) for each in sorted(cash_ups, key=lambda each: each["date"])],
    }


def sales(deps: Dependencies, first: str, last: str, stall: str = "") -> list[Doc]:
    """Each sale of these days, both included, at all stalls or one, the oldest first. 1 partition query a day.

    Raises Invalid for days that there are not, or more than MAX_DAYS.
    """
    return [
        {"day": day, **rules.shown_entry(each)}
        for day in rules.days_between(first, last)
        for each in sorted(deps.stall.day(day)[0], key=lambda each: (each["date"], each["orderid"]))
        if stall in ("", each["stall"])
    ]


def cash_up(deps: Dependencies, id: str, content: Doc, actor: str) -> Doc:
    """Writes down what was counted, against what was sold for cash by then; the same id again is the same document. 1 partition query, 1 write."""
    currency = content["counted"]["currency"]
    nothing = money(0, currency)
    opening, paid_out = content.get("opening") or nothing, content.get("paid_out") or nothing
    if {opening["currency"], paid_out["currency"]} != {currency}:
        raise Invalid("Count one currency after the other.", errors={"counted": ["Another currency."]})
    if (known := deps.stall.cash_up(content["day"], id)) is not None:
        return rules.shown_cash_up(known)
    entries, _ = deps.stall.day(content["day"])
    sold = rules.cash_of(entries, content["stall"], content["sold_by"], currency)
    expected = rules.expected_cash(opening, sold, paid_out)
    doc = CASH_UP.build(
        stall_key(content["day"], f"cashup-{id}"),
        id=id,
        day=content["day"],
        stall=content["stall"],
        sold_by=content["sold_by"],
        opening=opening,
        sold=sold,
        paid_out=paid_out,
        expected=expected,
        counted=content["counted"],
        difference=content["counted"]["amount"] - expected["amount"],
        note=content["note"],
        by=actor,
        date=timestamp(),
    )
    return rules.shown_cash_up(deps.stall.add_cash_up(doc))


def oversold(deps: Dependencies, limit: int, before: str | None) -> PageOf[Doc]:
    """The newest first. 1 partition query."""
    page = deps.stall.oversold(limit, before)
    names = ("orderid", "number", "stall", "sold_by", "lines", "date")
    return PageOf([{name: each[name] for name in names} for each in page.items], page.next)  # type: ignore[literal-required]  # names of its fields


def goods(deps: Dependencies, category: str, currency: str | None, language: str) -> list[Doc]:
    """What can be sold of a category, at prices that hold the tax: what a device of a stall needs to know, no more. 1 partition query of
    products, 1 read."""
    found = deps.products.offers_in(category, currency, language)
    today = day_of(deps, now())
    return [
        {name: offer.get(name) for name in SHOWN}
        | {"key": key, "price": stall_price(offer, deps.terms, today)}
        for key, offer in found.items()
        if _sold_at_stalls(key, offer)
    ]


def _sold_at_stalls(key: str, offer: Doc) -> bool:
    chosen = offer.get("sku", key) is not None and offer.get("for_sale", True)
    return bool(
        chosen and offer.get("kind") != NOT_FOR_STALLS and not offer.get("not_sold_in") and offer.get("price")
    )
