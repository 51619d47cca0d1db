"""The figures of the day before, by e-mail to the staff whom the settings name: once to each, whichever worker is quicker."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from services.orders.actions import reports
from services.orders.actions.shop_settings import shop
from services.orders.dependencies import Dependencies
from services.orders.rules import daily_figures as rules
from services.orders.store.summaries import Choice
from shared.couch import UpdateConflict
from shared.mail import Email
from shared.money import money
from shared.money_text import localized
from shared.translation import day_text, gettext, language_active


def send_daily_figures(deps: Dependencies, now: datetime) -> int:
    """The job: how many e-mails it sent. 1 read while nobody wants them, and a partition query from the morning on; 4 global queries once a day.

    Raises Unavailable while no mail can be sent: the next run goes on.
    """
    settings = shop(deps) or {}
    addresses = rules.addresses_of(settings.get("daily_figures_to", ""))
    day = rules.day_due(rules.zone_of(settings.get("time_zone", "")), now) if addresses else None
    if day is None:
        return 0
    docs = deps.reports.daily_figures(day.name)
    due = {each: claim for each in addresses if (claim := rules.next_claim(docs, day, each, now))}
    if not due:
        return 0
    with language_active(deps.language("")):
        parts = _parts(deps, day)
        sent = 0
        for address, claim in due.items():
            try:
                deps.reports.claim(claim)
            except UpdateConflict:
                continue
            deps.mailer.send(_email(deps, day, address, parts))
            deps.reports.add(rules.step(rules.SENT, day, address, claim["number"], now))
            sent += 1
    return sent


def _email(deps: Dependencies, day: rules.Day, address: str, parts: Mapping[str, Any]) -> Email:
    return deps.email(
        address,
        gettext("Figures of %(day)s", day=day_text(day.local)),
        parts["text"],
        rows=parts["rows"],
        closing=parts["closing"],
        page="/admin",
        label=gettext("To the desk"),
        key=f"daily-figures.{day.name}.{rules.recipient_of(address)}",
    )


def _parts(deps: Dependencies, day: rules.Day) -> dict[str, Any]:
    """What the e-mail says, in the active language."""
    present, before = (reports.sales(deps, "total", each) for each in (day.span, day.before))
    found = rules.beside(present, before)
    text = gettext("This is what was sold on %(day)s, and on the day before.", day=day_text(day.local))
    if not any(totals for _, totals, _ in found):
        text = gettext("Nothing was sold on %(day)s.", day=day_text(day.local))
    counts = deps.summaries.counts(Choice())
    returns = deps.summaries.counts(Choice(open_returns=True)).get("", 0)
    closing = [
        gettext("Paid orders that have not gone out: %(count)s", count=counts.get("paid", 0)),
        gettext("Orders with an open return: %(count)s", count=returns),
    ]
    rows = [row for currency, *totals in found for row in _rows(currency, *totals)]
    return {"text": text, "rows": rows, "closing": "\n".join(closing)}


def _rows(currency: str, present: dict[str, Any], before: dict[str, Any]) -> list[tuple[str, str]]:
    labels = {
        "orders": gettext("Orders in %(currency)s", currency=currency),
        "gross": gettext("Sales"),
        "refunds": gettext("Refunds"),
        "net": gettext("Sales less refunds"),
    }
    return [
        (
            label,
            gettext(
                "%(amount)s (the day before %(other)s)",
                amount=_shown(present.get(name), name, currency),
                other=_shown(before.get(name), name, currency),
            ),
        )
        for name, label in labels.items()
    ]


def _shown(value: Any, name: str, currency: str) -> str:
    return str(value or 0) if name == "orders" else localized(value or money(0, currency))
