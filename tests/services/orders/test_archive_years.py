"""Closed years archived over the API: in pieces that may die anywhere, read from the files, nothing changed until an order is back."""

import os
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.orders.actions import archive_years
from services.orders.dependencies import Dependencies
from tests.patience import patient
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.test_desk_orders import line, send
from tests.waiting import eventually

Answer = dict[str, Any]
YEAR = "2011"


@pytest.fixture(scope="module")
def orders_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"COURIER": "manual", "ARCHIVE_DIR": str(tmp_path_factory.mktemp("archive"))}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of two orders a job."""
    monkeypatch.setattr(archive_years, "ORDERS_PER_FILE", 2)
    monkeypatch.setattr(archive_years, "PIECE_SECONDS", 0.0)


def past(number: int, year: str, **more: Any) -> Answer:
    date = f"{year}-03-0{number + 1}T10:00:00.000Z"
    return line(f"y{secrets.token_hex(4)}", date, dispatch={"date": date}, delivery={"date": date}, **more)


def begun(shop: Shop, year: str, act: str, **more: Any) -> None:
    answer = shop.post(shop.admin, f"/v1/admin/archives/{year}", {"act": act, **more})
    assert answer.status_code == 202, answer.text


def year_of(shop: Shop, year: str) -> Answer:
    answer = patient(lambda: shop.get(shop.admin, "/v1/admin/archives")).json()
    return next(each for each in answer["items"] if each["year"] == year)


def done(shop: Shop, deps: Dependencies, year: str) -> tuple[Answer, int]:
    """The year after its act, and how many jobs died over it: each piece is done, and its process killed before that is counted.

    Whether it is done its document says: the list of years is one node's copy on a cluster.
    """
    dying = replace(deps, stores=replace(deps.stores, archive=Dying(deps.archive, "put_year", before=True)))
    killed = 0
    while is_under_way(deps, year):
        with pytest.raises(Killed):
            archive_years.advance(dying, year)
        if not deps.orders.database.has_one_copy:
            time.sleep(1)  # a job that died is repeated minutes later, when every node has what it did
        archive_years.advance(deps, year)
        killed += 1
        assert killed < 40
    eventually(lambda: year_of(shop, year)["last"]["state"] not in archive_years.UNDER_WAY)
    return year_of(shop, year), killed


def is_under_way(deps: Dependencies, year: str) -> bool:
    known = deps.archive.year(year)
    return known is not None and known["state"] in archive_years.UNDER_WAY


def test_a_year_goes_and_comes_back_in_pieces_that_are_killed(
    shop: Shop, deps: Dependencies, customer: Person
) -> None:
    send(shop, orders := [past(n, YEAR, userid=customer.userid) for n in range(5)])
    orderid = orders[0]["orderid"]
    before = {path: shop.get(customer, f"/v1/orders/{orderid}{path}").json() for path in ("", "/items")}
    assert before[""]["archived"] is False

    begun(shop, YEAR, "save")
    busy = shop.post(shop.admin, f"/v1/admin/archives/{YEAR}", {"act": "save"})
    assert (busy.status_code, busy.json()["code"]) == (409, "archive_busy")
    saved, killed = done(shop, deps, YEAR)
    assert (saved["last"]["state"], saved["archive"]["orders"], saved["archive"]["whole"]) == (
        "done",
        5,
        True,
    )
    assert (saved["archive"]["files"], killed) > (2, 2)

    begun(shop, YEAR, "remove", copied=True)
    removed, killed = done(shop, deps, YEAR)
    assert (removed["removed"], removed["last"]["orders"], removed["last"]["left"]) == (5, 5, {})
    assert killed == 2 * saved["archive"]["files"], "each file is compared, then emptied out"
    assert {doc["type"] for doc in deps.orders.documents_of(orderid)} <= {
        "archivedorder",
        "customer",
        "ordersummary",
    }
    after = {path: shop.get(customer, f"/v1/orders/{orderid}{path}").json() for path in before}
    assert after == {**before, "": {**before[""], "archived": True}}
    assert shop.get(shop.customer(), f"/v1/orders/{orderid}").status_code == 404

    begun(shop, YEAR, "restore")
    restored, _ = done(shop, deps, YEAR)
    assert (restored["removed"], restored["last"]["orders"]) == (0, 5)
    assert {path: shop.get(customer, f"/v1/orders/{orderid}{path}").json() for path in before} == before


def test_nothing_is_done_with_an_archived_order_until_it_is_back(
    shop: Shop, deps: Dependencies, customer: Person
) -> None:
    send(shop, [order := past(0, "2012", userid=customer.userid)])
    begun(shop, "2012", "save")
    done(shop, deps, "2012")
    begun(shop, "2012", "remove", copied=True)
    done(shop, deps, "2012")
    orderid, amount = order["orderid"], {"amount": {"amount": 100, "currency": "GBP"}, "reason": "late"}
    docs = deps.orders.documents_of(orderid)
    for who, path, body in (
        (shop.admin, f"/v1/admin/orders/{orderid}/refunds", amount),
        (shop.admin, f"/v1/admin/orders/{orderid}/notes", {"text": "called"}),
        (customer, f"/v1/orders/{orderid}/returns", {"items": [{"productid": "x", "quantity": 1}]}),
        (customer, f"/v1/orders/{orderid}/cancellation", {}),
    ):
        answer = shop.post(who, path, body)
        assert (answer.status_code, answer.json()["code"]) == (404, "order_archived"), path
    invoice = shop.get(customer, f"/v1/orders/{orderid}/invoice.pdf")
    assert (invoice.status_code, invoice.json()["code"]) == (409, "not_issued")
    assert deps.orders.documents_of(orderid) == docs
    for _ in range(2):
        back = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/restoration")
        assert (back.status_code, back.json()["archived"]) == (201, False), back.text
    assert shop.post(shop.admin, f"/v1/admin/orders/{orderid}/notes", {"text": "called"}).status_code == 201


def test_a_damaged_file_ends_the_act_before_anything_is_removed(
    shop: Shop, deps: Dependencies, orders_settings: dict[str, str]
) -> None:
    send(shop, orders := [past(n, "2013") for n in range(3)])
    begun(shop, "2013", "save")
    done(shop, deps, "2013")
    path = sorted(Path(orders_settings["ARCHIVE_DIR"], "orders-2013").glob("part*"))[-1]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    begun(shop, "2013", "remove", copied=True)
    archive_years.advance(deps, "2013")
    archive_years.advance(deps, "2013")
    found = year_of(shop, "2013")["last"]
    assert (found["state"], found["orders"]) == ("failed", 0)
    assert "damaged or missing" in found["problem"]
    assert [shop.get(shop.admin, f"/v1/orders/{each['orderid']}").json()["archived"] for each in orders] == [
        False
    ] * 3


def test_what_the_queue_lost_is_found_and_what_was_damaged_is_not_shown(
    shop: Shop, deps: Dependencies, orders_settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    send(shop, [order := past(0, "2014")])
    begun(shop, "2014", "save")
    assert "2014" not in archive_years.unfinished(deps)
    with monkeypatch.context() as later:
        later.setattr(archive_years, "LOST_AFTER", -archive_years.LOST_AFTER)
        assert "2014" in archive_years.unfinished(deps)
    done(shop, deps, "2014")
    begun(shop, "2014", "remove", copied=True)
    done(shop, deps, "2014")
    file = next(Path(orders_settings["ARCHIVE_DIR"], "orders-2014").glob("part*"))
    os.truncate(file, file.stat().st_size // 2)
    answer = shop.get(shop.admin, f"/v1/orders/{order['orderid']}")
    assert (answer.status_code, answer.json()["code"]) == (404, "order_archived")


def test_customers_begin_nothing_and_staff_look(shop: Shop, customer: Person) -> None:
    assert shop.get(customer, "/v1/admin/archives").status_code == 403
    assert shop.post(customer, "/v1/admin/archives/2011", {"act": "save"}).status_code == 403
    assert shop.post(customer, "/v1/admin/orders/x/restoration").status_code == 403
