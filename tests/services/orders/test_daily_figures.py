"""The figures of the day before, by e-mail: to whom the settings name, once a day whoever sends them, by the shop's clock."""

import email
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import default as POLICY
from html import unescape
from zoneinfo import ZoneInfo

import pytest
import requests

from services.orders.actions.daily_figures import send_daily_figures
from services.orders.dependencies import Dependencies
from services.orders.documents import PAYMENT, SALES, order_key
from services.orders.rules.daily_figures import addresses_of, day_due
from shared.clock import iso
from shared.couch import Database, DatabaseUnavailable
from shared.errors import Unavailable
from shared.mail import Email
from shared.money import money
from tests.people import Person
from tests.services.orders.conftest import Shop, until

BERLIN = ZoneInfo("Europe/Berlin")
MORNING = datetime(2031, 7, 2, 7, 5, tzinfo=BERLIN)


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual", "LANGUAGES": "de,en", "SHOP_NAME": "Lampe & Buch"}


@pytest.fixture
def wanted(shop: Shop, deps: Dependencies) -> Iterator[None]:
    """The settings as the desk saves them; put back afterwards."""
    done = saved(shop, daily_figures_to="Anna@example.com\nbert@example.com", time_zone="Europe/Berlin")
    assert done.status_code == 200, done.text
    yield
    assert saved(shop).status_code == 200


def saved(shop: Shop, **values: str) -> requests.Response:
    before = shop.get(shop.admin, "/v1/admin/settings")
    known = {"If-Match": before.headers["ETag"]} if before.status_code == 200 else {"If-None-Match": "*"}
    path = f"{shop.orders}/v1/admin/settings"
    return shop.admin.put(path, json={"country": "DE", **values}, headers=known, timeout=60)


def paid(database: Database, orderid: str, moment: datetime, amount: int) -> None:
    date = iso(moment.astimezone(UTC))
    doc = PAYMENT.new(
        order_key(orderid, "payment"),
        orderid=orderid,
        userid="u1",
        placed=date,
        currency="EUR",
        date=date,
        paid=True,
        provider="till",
        provider_ref="t",
        total=money(amount, "EUR"),
        units=1,
        lines=[{"productid": "tea", "name": "Tea", "quantity": 1, "amount": amount}],
        imported=True,
    )
    database.put(doc)


def is_caught_up(deps: Dependencies) -> bool:
    """A busy server may not be, in the time that a call has."""
    try:
        deps.stores.bulk_reports.catch_up(SALES)
    except DatabaseUnavailable:
        return False
    return True


def figures(shop: Shop, to: str) -> list[EmailMessage]:
    found = []
    for path in sorted((shop.mail / "new").glob("*")):
        message = email.message_from_bytes(path.read_bytes(), policy=POLICY)
        if "daily-figures" in str(message["Message-ID"]) and to in str(message["To"]):
            found.append(message)
    return found


def test_each_gets_the_figures_of_the_day_before_once(
    shop: Shop, deps: Dependencies, database: Database, wanted: None
) -> None:
    """Midnight is the shop's: what was sold at 23:30 UTC two days before belongs to the day, what was sold at 22:30 to today."""
    yesterday = MORNING - timedelta(days=1)
    paid(database, "dfa", yesterday.replace(hour=0, minute=30), 1000)
    paid(database, "dfb", yesterday.replace(hour=23, minute=59), 250)
    paid(database, "dfc", MORNING.replace(hour=0, minute=30), 70_000)
    paid(database, "dfd", yesterday - timedelta(days=1), 4000)
    until(lambda: is_caught_up(deps))
    assert send_daily_figures(deps, MORNING - timedelta(hours=2)) == 0, "not before six"
    with ThreadPoolExecutor(4) as workers:
        assert sum(workers.map(lambda _: send_daily_figures(deps, MORNING), range(4))) == 2
    assert send_daily_figures(deps, MORNING + timedelta(hours=9)) == 0
    for address in ("anna@example.com", "bert@example.com"):
        [message] = figures(shop, address)
        assert message["Subject"] == "Zahlen vom 1. Juli 2031"
        text, html = (message.get_body((kind,)).get_content() for kind in ("plain", "html"))
        for part in (text, html):
            said = " ".join(unescape(re.sub("<[^>]+>", " ", part)).split())
            assert "12,50 € (am Vortag 40,00 €)" in said, said
            assert "Bestellungen in EUR 2 (am Vortag 1)" in said, said
            assert "700,00" not in said
        assert "Lampe &amp; Buch" in html
    assert send_daily_figures(deps, MORNING + timedelta(days=1)) == 2, "the next day again"


def test_who_was_killed_before_sending_is_replaced_and_who_cannot_send_tries_again(
    shop: Shop, deps: Dependencies, wanted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim behind which nothing is sent holds for a quarter of an hour."""
    morning = MORNING + timedelta(days=30)
    before = len(figures(shop, "anna@example.com"))

    def refused(message: Email) -> None:
        raise Unavailable("no mail server")

    with monkeypatch.context() as broken:
        broken.setattr(deps.mailer, "send", refused)
        with pytest.raises(Unavailable):
            send_daily_figures(deps, morning)
    assert send_daily_figures(deps, morning + timedelta(minutes=10)) == 1, "bert, whom nobody had claimed"
    assert send_daily_figures(deps, morning + timedelta(minutes=20)) == 1
    assert send_daily_figures(deps, morning + timedelta(minutes=40)) == 0
    assert len(figures(shop, "anna@example.com")) == before + 1
    assert (
        "Am 31. Juli 2031 wurde nichts verkauft."
        in figures(shop, "anna@example.com")[-1].get_body(("plain",)).get_content()
    )


def test_settings_refuse_what_is_no_address_and_no_time_zone(shop: Shop, customer: Person) -> None:
    for values, field in (
        ({"daily_figures_to": "anna"}, "daily_figures_to"),
        ({"daily_figures_to": "\n".join(f"a{n}@example.com" for n in range(21))}, "daily_figures_to"),
        ({"time_zone": "Berlin"}, "time_zone"),
        ({"time_zone": "../etc/passwd"}, "time_zone"),
    ):
        refused = saved(shop, **values)
        assert refused.status_code == 422, (values, refused.text)
        assert list(refused.json()["errors"]) == [field]


def test_a_day_ends_by_the_shop_s_clock_also_when_it_has_25_hours() -> None:
    day = day_due(BERLIN, datetime(2026, 10, 26, 6, 0, tzinfo=BERLIN))
    assert day is not None
    assert (day.name, day.span.as_text()) == (
        "2026-10-25",
        ("2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"),
    )
    assert day.before.as_text() == ("2026-10-23T22:00:00.000Z", "2026-10-24T22:00:00.000Z")
    assert (
        day_due(ZoneInfo("Pacific/Auckland"), datetime(2026, 11, 22, 17, 0, tzinfo=UTC)).name == "2026-11-22"
    )
    assert day_due(ZoneInfo("UTC"), datetime(2026, 11, 22, 5, 59, tzinfo=UTC)) is None
    assert addresses_of(" A@example.com; a@example.com,\nb@example.com ") == [
        "a@example.com",
        "b@example.com",
    ]
