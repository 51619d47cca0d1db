"""An archived order at the desk: found in the list, its page says where it is until it is restored."""

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import requests

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.processes import ROOT
from tests.services.storefront.conftest import PREFIX, couch_url_of
from tests.services.storefront.test_desk_new_customers import import_orders
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

ENGLISH = "its documents are in the shop's archive"
YEAR = 2003
PRICE = {"amount": 4200, "currency": "GBP"}


def archive(shop: Shop, *arguments: str) -> None:
    """As an operator does."""
    env = {**os.environ, "COUCH_URL": couch_url_of(shop), "DATABASE_PREFIX": PREFIX}
    command = [sys.executable, "-m", "services.archive", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_desk_finds_an_archived_order_and_says_where_it_is(
    shop: Shop, keeper: Visitor, tmp_path: Path
) -> None:
    orderid, name = f"arch{secrets.token_hex(4)}", f"Archie{secrets.token_hex(3)}"
    date, price = f"{YEAR}-05-05T08:00:00Z", {"amount": 4200, "currency": "GBP"}
    order = {
        "orderid": orderid,
        "userid": None,
        "email": f"{name}@example.com",
        "name": name,
        "date": date,
        "currency": "GBP",
        "items": [{"productid": "lamp", "name": "Lamp", "quantity": 1, "unitPrice": price}],
        "payment": {"provider": "till", "provider_ref": orderid, "date": date},
        "dispatch": {"date": date},
        "delivery": {"date": date},
    }
    import_orders(shop, order)
    folder, sales = str(tmp_path / "orders"), f"/admin?by=day&from={YEAR}-05-01&to={YEAR}-05-31"
    before = eventually(lambda: (page := keeper.get(sales)) and "42.00" in page.text and page)
    archive(shop, "save", folder, "--year", str(YEAR))
    archive(shop, "remove", folder, "--yes")
    assert orderid in keeper.get(f"/admin/orders?q={name}").text
    page = keeper.get(f"/admin/orders/{orderid}")
    assert page.status == 404
    assert ENGLISH in page.text
    assert "42.00" in keeper.get(sales).text
    assert before.status == 200
    archive(shop, "restore", folder, "--order", orderid)
    assert "42.00" in keeper.get(f"/admin/orders/{orderid}").text


def past(year: int, name: str, *, ended: bool = True) -> dict[str, Any]:
    date = f"{year}-05-05T08:00:00Z"
    order = {
        "orderid": f"arch{secrets.token_hex(4)}",
        "userid": None,
        "email": f"{name}@example.com",
        "name": name,
        "date": date,
        "currency": "GBP",
        "items": [{"productid": "lamp", "name": "Lamp", "quantity": 1, "unitPrice": PRICE}],
        "payment": {"provider": "till", "provider_ref": secrets.token_hex(4), "date": date},
        "dispatch": {"date": date},
    }
    return {**order, "delivery": {"date": date}} if ended else order


def act(keeper: Visitor, year: int, name: str, *, copied: bool = True) -> Page:
    """Sends the form of the year that does this."""
    forms = keeper.get("/admin/archive").forms
    form = next(each for each in forms if each.action.endswith(str(year)) and each.values["act"] == name)
    return keeper.send_form(form, {**form.values, **({"copied": "yes"} if copied else {})})


def test_a_year_is_archived_at_the_desk_read_from_the_archive_and_brought_back(
    shop: Shop, keeper: Visitor
) -> None:
    year, name = 2004, f"Ardis{secrets.token_hex(3)}"
    orders = [past(year, name), past(year, name), past(year, name, ended=False)]
    import_orders(shop, *orders)
    ended, other, unfinished = (each["orderid"] for each in orders)
    eventually(lambda: f"year-{year}" in (page := keeper.get("/admin/archive")).ids and page)
    act(keeper, year, "save")
    page = eventually(
        lambda: "Write the archive: done, 2 orders" in (page := keeper.get("/admin/archive")).text and page
    )
    assert unfinished in page.text
    assert "it is not finished" in page.text
    assert keeper.get(f"/admin/orders/{ended}").forms
    assert "Keep a copy of the folder elsewhere" in act(keeper, year, "remove", copied=False).text
    act(keeper, year, "remove")
    eventually(lambda: "Only in the archive 2 orders" in keeper.get("/admin/archive").text)

    page = keeper.get(f"/admin/orders/{ended}")
    assert (page.status, "42.00" in page.text, name in page.text) == (200, True, True)
    assert "read from the shop's archive" in page.text
    changing = [each.action for each in page.forms if each.method == "post" and ended in each.action]
    assert changing == [f"/admin/orders/{ended}/restoration"]
    invoice = keeper.get(f"/orders/{ended}/invoice.pdf")
    assert invoice.status == 409, "no number is taken for what was never issued"

    page = keeper.get(f"/admin/orders/{ended}")
    page = keeper.submit(f"/admin/orders/{ended}/restoration")
    assert "back from the archive" in page.text
    assert f"/admin/orders/{ended}/restoration" not in [each.action for each in page.forms]
    eventually(lambda: "Only in the archive 1 order" in keeper.get("/admin/archive").text)
    assert "read from the shop's archive" in keeper.get(f"/admin/orders/{other}").text
    act(keeper, year, "restore")
    eventually(lambda: "Bring the orders back: done" in keeper.get("/admin/archive").text)
    assert "read from the shop's archive" not in keeper.get(f"/admin/orders/{other}").text
    assert "Moved the orders of a year into the archive" in keeper.get("/admin/audit").text


def test_this_year_is_not_archived_and_nothing_is_removed_that_no_file_holds(shop: Shop) -> None:
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = requests.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30).json()
    token = {"Authorization": f"Bearer {login['access_token']}"}
    answers = [
        requests.post(f"{shop.urls['orders']}/v1/admin/archives/{year}", json=body, headers=token, timeout=30)
        for year, body in (
            ("2999", {"act": "save"}),
            ("2005", {"act": "shred"}),
            ("2005", {"act": "remove", "copied": True}),
        )
    ]
    assert [each.status_code for each in answers] == [404, 422, 409]
