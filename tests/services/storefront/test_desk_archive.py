"""An archived order at the desk: found in the list, its page says where it is until it is restored."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

from tests.bench.running import Shop
from tests.processes import ROOT
from tests.services.storefront.conftest import PREFIX, couch_url_of
from tests.services.storefront.test_desk_new_customers import import_orders
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

ENGLISH = "its documents are in the shop's archive"
YEAR = 2003


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
