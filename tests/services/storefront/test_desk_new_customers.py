"""New and returning customers at the desk: by month, as a file, and at the orders themselves."""

import csv
import io
import os
import secrets
import subprocess
import sys

import orjson
import requests

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.processes import ROOT
from tests.services.storefront.conftest import PREFIX, couch_url_of
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

PATH = "/admin/new-customers"
SPAN = "from=2009-03-01&to=2009-04-30"


def import_orders(shop: Shop, *orders: dict) -> None:
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = requests.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30).json()
    headers = {"Authorization": f"Bearer {login['access_token']}", "Content-Type": "application/x-ndjson"}
    body = b"\n".join(orjson.dumps(each) for each in orders)
    answer = requests.post(f"{shop.urls['orders']}/v1/admin/orders/import", body, headers=headers, timeout=60)
    assert answer.json()["created"] == len(orders), answer.text


def summarise(shop: Shop) -> None:
    """As an operator does after an import, who does not wait for the worker's sweep."""
    env = {**os.environ, "COUCH_URL": couch_url_of(shop), "DATABASE_PREFIX": PREFIX}
    command = [sys.executable, "-m", "services.prepare", "--rebuild"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def imported(orderid: str, date: str, amount: int) -> dict:
    price = {"amount": amount, "currency": "GBP"}
    return {
        "orderid": orderid,
        "userid": None,
        "email": "ottilie.returner@example.com",
        "name": "Ottilie Returner",
        "date": date,
        "currency": "GBP",
        "items": [{"productid": "lamp", "name": "Lamp", "quantity": 1, "unitPrice": price}],
        "payment": {"provider": "till", "provider_ref": orderid, "date": date},
    }


def test_the_desk_tells_new_customers_from_those_who_came_back(shop: Shop, keeper: Visitor) -> None:
    name = secrets.token_hex(4)
    orders = (
        imported(f"{name}a", "2009-03-03T08:00:00Z", 123_411),
        imported(f"{name}b", "2009-04-04T08:00:00Z", 234_511),
    )
    import_orders(shop, *orders)
    summarise(shop)
    assert eventually(lambda: "£2,345.11" in keeper.get(f"{PATH}?{SPAN}").text and keeper.page.text)
    text = keeper.page.text
    assert "£1,234.11" in text
    assert "Mar 2009" in text
    assert "As many days before, in GBP" in text
    file = keeper.get(f"{PATH}.csv?{SPAN}").body.decode()
    rows = {row["period"]: row for row in csv.DictReader(io.StringIO(file))}
    assert (rows["2009-03"]["new_customers"], rows["2009-03"]["new_gross"]) == ("1", "1234.11")
    assert (rows["2009-04"]["returning_orders"], rows["2009-04"]["returning_gross"]) == ("1", "2345.11")
    page = keeper.get(f"/admin?by=month&{SPAN}")
    assert "New customers" in page.text
    assert PATH in page.link("New and returning customers by month")
    listed = keeper.get("/admin/orders?q=ottilie.returner@example.com").text
    assert listed.count("First order") == 1
    assert [keeper.get(f"/admin/orders/{name}{each}").text.count("First order") for each in "ab"] == [1, 0]


def test_a_range_that_is_none_is_named(keeper: Visitor) -> None:
    page = keeper.get(f"{PATH}?from=2009-05-01&to=2009-04-01")
    assert "The first day comes after the last." in page.text
