"""What the desk does with sales at a stall afterwards: their margin, what was oversold and how that ended, lists and files."""

import csv
import io
import secrets
from dataclasses import replace
from typing import Any

import pytest

from services.orders.actions import fulfilment
from services.orders.actions.stall_sales import record_sale, settle_oversold
from services.orders.dependencies import Dependencies
from services.orders.schemas.stall import StallSale
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.stall import PATH, level, recorded, sale

SETTINGS = "/v1/admin/settings"


def costs_of(deps: Dependencies, orderid: str) -> dict[str, int]:
    found = deps.orders.order(orderid).costs
    return found["costs"] if found else {}


def test_a_sale_keeps_what_its_goods_cost(shop: Shop, staff: Person, deps: Dependencies) -> None:
    known, unknown = shop.product(price=1250, cost_prices={"GBP": 400}), shop.product(price=1250)
    order = recorded(shop, staff, sale({known: (2, 1250), unknown: (1, 1250)}))
    assert costs_of(deps, order["orderid"]) == {known: 400}


def test_a_sale_that_was_killed_in_its_first_write_keeps_what_its_goods_cost(
    shop: Shop, deps: Dependencies
) -> None:
    product, key = shop.product(price=1250, cost_prices={"GBP": 400}), secrets.token_hex(8)

    class OrderAlone:
        """Writes the claim, and dies before the rest of the bulk."""

        def place(self, docs: list[Any]) -> None:
            deps.orders.place(docs[:1])
            raise Killed

        def __getattr__(self, name: str) -> Any:
            return getattr(deps.orders, name)

    dying = replace(deps, stores=replace(deps.stores, orders=OrderAlone()))
    body = sale({product: (1, 1250)})
    with pytest.raises(Killed):
        record_sale(dying, key, StallSale().load(body), "user clerk")
    order = recorded(shop, shop.admin, body, key)
    assert order["items"][0]["productid"] == product
    assert costs_of(deps, order["orderid"]) == {product: 400}


def listed(shop: Shop, person: Person) -> set[str]:
    found, cursor = set(), None
    while True:
        page = shop.get(person, f"{PATH}/oversold", params={"cursor": cursor, "limit": 100}).json()
        found |= {each["orderid"] for each in page["items"]}
        cursor = page["next"]
        if cursor is None:
            return found


def settled(shop: Shop, person: Person, orderid: str, outcome: str) -> Any:
    return shop.post(person, f"{PATH}/oversold/{orderid}/settlement", {"outcome": outcome})


def test_what_was_oversold_is_settled_once_and_leaves_the_list(shop: Shop, staff: Person) -> None:
    product = shop.product(stock=0)
    order = recorded(shop, staff, sale({product: (2, 1250)}))
    orderid = order["orderid"]
    assert order["oversold"]["settled"] is None
    assert orderid in listed(shop, staff)
    first = settled(shop, staff, orderid, "delivered_later")
    assert first.status_code == 201, first.text
    told = first.json()["oversold"]["settled"]
    assert told["outcome"] == "delivered_later"
    assert orderid not in listed(shop, staff)
    assert settled(shop, staff, orderid, "delivered_later").json()["oversold"]["settled"] == told
    other = settled(shop, shop.admin, orderid, "paid_back")
    assert (other.status_code, other.json()["code"]) == (409, "settled_another_way")
    assert shop.get(staff, f"/v1/orders/{orderid}").json()["oversold"]["settled"] == told
    assert level(shop, product) == -2, "settling moves no stock"
    trail = shop.admin.get(f"{shop.users}/v1/admin/audit", params={"subject": orderid}, timeout=30).json()
    acts = {(each["action"], each["actor"], each["details"].get("outcome")) for each in trail["items"]}
    assert ("settle oversold", staff.userid, "delivered_later") in acts


def test_a_settlement_that_was_killed_before_the_list_is_settled_again(
    shop: Shop, staff: Person, deps: Dependencies
) -> None:
    order = recorded(shop, staff, sale({shop.product(stock=0): (1, 1250)}))
    dying = replace(
        deps, stores=replace(deps.stores, stall=Dying(deps.stall, "remove_oversold", before=True))
    )
    with pytest.raises(Killed):
        settle_oversold(dying, order["orderid"], "restocked", "user clerk")
    assert order["orderid"] in listed(shop, staff)
    assert settled(shop, staff, order["orderid"], "restocked").status_code == 201
    assert order["orderid"] not in listed(shop, staff)


def test_only_what_was_oversold_is_settled_and_only_by_staff(
    shop: Shop, staff: Person, customer: Person
) -> None:
    order = recorded(shop, staff, sale({shop.product(): (1, 1250)}))
    refused = settled(shop, staff, order["orderid"], "restocked")
    assert (refused.status_code, refused.json()["code"]) == (404, "nothing_oversold")
    assert settled(shop, staff, "no-such-order", "restocked").status_code == 404
    assert settled(shop, staff, order["orderid"], "forgotten").status_code == 422
    assert settled(shop, customer, order["orderid"], "restocked").status_code == 403


def saved(shop: Shop, content: dict[str, Any]) -> None:
    before = shop.get(shop.admin, SETTINGS)
    known = {"If-Match": before.headers["ETag"]} if before.status_code == 200 else {"If-None-Match": "*"}
    put = shop.admin.put(f"{shop.orders}{SETTINGS}", json=content, headers=known, timeout=30)
    assert put.ok, put.text


def test_today_is_the_day_in_the_shops_time_zone(shop: Shop, staff: Person) -> None:
    before = shop.get(shop.admin, SETTINGS)
    known = before.json() if before.status_code == 200 else {"country": "GB"}
    days = []
    try:
        for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
            saved(shop, {**known, "time_zone": zone})
            order = recorded(shop, staff, sale({shop.product(): (1, 1250)}, minutes_ago=0))
            found = shop.get(staff, f"{PATH}/days/today").json()
            assert found["day"] == order["stall"]["day"]
            assert order["orderid"] in {each["orderid"] for each in found["sales"]}
            days.append(found["day"])
    finally:
        saved(shop, {"time_zone": "", **known})
    assert days[1] < days[0], "it is never the same day at both"


def test_orders_are_found_by_the_stall_they_were_sold_at(
    shop: Shop, staff: Person, deps: Dependencies
) -> None:
    name, product = f"Harbour {secrets.token_hex(3)}", shop.product()
    sold = [recorded(shop, staff, sale({product: (1, 1250)}, stall=stall)) for stall in (name, f"{name} II")]
    in_the_shop = shop.order(shop.customer(), {product: 1}).json()["orderid"]
    for orderid in (*(order["orderid"] for order in sold), in_the_shop):
        fulfilment.advance_order(deps, orderid)

    def found(**filters: str) -> list[str]:
        answer = shop.get(staff, "/v1/admin/orders", params=filters)
        assert answer.status_code == 200, answer.text
        assert calls(answer)["global"] == 1
        return [each["orderid"] for each in answer.json()["items"]]

    assert found(channel=f"stall:{name.upper()}") == [sold[0]["orderid"]]
    assert set(found(channel="stall", product=product)) == {order["orderid"] for order in sold}
    assert in_the_shop in found(product=product)
    assert found(channel=f"stall:{name}", status="paid") == []
    counted = shop.get(staff, "/v1/admin/orders/counts", params={"channel": f"stall:{name}"}).json()
    assert counted == {"total": 1, "counts": {"delivered": 1}}
    rows = shop.get(staff, "/v1/admin/orders", params={"product": product}).json()["items"]
    assert {each["orderid"]: each["stall"] for each in rows} == {
        in_the_shop: None,
        sold[0]["orderid"]: name,
        sold[1]["orderid"]: f"{name} II",
    }
    both = shop.get(staff, "/v1/admin/orders", params={"channel": "stall", "q": "Ada"})
    assert (both.status_code, list(both.json()["errors"])) == (422, ["channel"])
    assert shop.get(staff, "/v1/admin/orders", params={"channel": "web"}).status_code == 422


def test_the_sales_of_days_are_a_file(shop: Shop, staff: Person) -> None:
    stall, product = f'=Pier "{secrets.token_hex(3)}"', shop.product()
    day = 24 * 60
    made = [
        recorded(shop, staff, sale({product: (1, 1200 + place)}, stall=name, minutes_ago=minutes))
        for place, (name, minutes) in enumerate([(stall, 1), (stall, 2 * day), ("Elsewhere", 1)])
    ]
    newer, older = made[0]["stall"]["day"], made[1]["stall"]["day"]
    query = {"from": older, "to": newer, "stall": stall}
    answer = shop.get(staff, f"{PATH}/sales", params=query)
    assert calls(answer) == {"partition": 3, "global": 0, "read": 0, "write": 0}
    items = answer.json()["items"]
    assert [each["orderid"] for each in items] == [made[1]["orderid"], made[0]["orderid"]]
    assert [each["day"] for each in items] == [older, newer]
    file = shop.get(staff, f"{PATH}/sales", params=query, headers={"Accept": "text/csv"})
    assert file.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert [(row["number"], row["total"], row["currency"]) for row in rows] == [
        (made[1]["number"], "12.01", "GBP"),
        (made[0]["number"], "12.00", "GBP"),
    ]
    assert {row["stall"] for row in rows} == {f"'{stall}"}, "no formula for whoever opens it in a table"
    one_day = shop.get(staff, f"{PATH}/sales", params={"from": newer, "to": newer}).json()["items"]
    assert {made[0]["orderid"], made[2]["orderid"]} <= {each["orderid"] for each in one_day}
    for wrong in ({"from": newer, "to": older}, {"from": "2026-01-01", "to": "2026-02-01"}, {"from": "2026-02-30", "to": "2026-03-01"}):  # fmt: skip
        assert shop.get(staff, f"{PATH}/sales", params=wrong).status_code == 422
    assert shop.get(shop.customer(), f"{PATH}/sales", params=query).status_code == 403
