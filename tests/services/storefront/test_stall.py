"""The stall over HTTP: its page that holds nothing, what its scripts ask, and the day at the desk."""

import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from shared.clock import timestamp
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

DEVICE = "/admin/stall/device"
PLACE = ["Stall fair"]


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    sizes = [{"sku": f"stallhat-{size}", "options": {"Size": size}, "stock": 3} for size in ("S", "L")]
    hat = product(
        "stallhat", "Felt hat", PLACE, 2400, options=[{"name": "Size", "values": ["S", "L"]}], variants=sizes
    )
    del hat["stock"]
    import_goods(keeper, [hat, product("stallmug", "Stoneware mug", PLACE, 900, cost_prices={"GBP": 300})])


def who(visitor: Visitor) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(visitor.get(DEVICE).body)
    return found


def post(visitor: Visitor, path: str, key: str, body: dict[str, Any]) -> Page:
    headers = {"Content-Type": "application/json", "X-CSRF-Token": who(visitor)["csrf"]}
    return visitor.send("POST", f"{DEVICE}{path}", json.dumps({"key": key, "body": body}).encode(), headers)


def sale(stall: str, quantity: int) -> dict[str, Any]:
    return {
        "items": [
            {
                "productid": "stallmug",
                "quantity": quantity,
                "price": {"amount": 900, "currency": "GBP"},
                "name": "Stoneware mug",
                "taxonomy": PLACE,
            }
        ],
        "total": {"amount": 900 * quantity, "currency": "GBP"},
        "payment": {"kind": "cash"},
        "stall": stall,
        "sold_at": timestamp(),
        "sold_by": "somebody",
    }


def test_the_page_is_the_same_for_everybody_and_holds_nothing(visitor: Visitor, keeper: Visitor) -> None:
    pages = [visitor.get("/stall"), keeper.get("/stall")]
    for page in pages:
        assert page.status == 200
        assert page.headers["Cache-Control"] == "no-cache"
        assert "Selling without a network needs JavaScript" in page.text
        assert page.link("Draft orders") == "/admin/drafts"
        assert page.inline == []
        assert b"data-owner" not in page.body
    assert pages[0].body == pages[1].body
    shell = visitor.get("/worker.js").body.decode().partition("\n")[0]
    assert '"stall":"/stall?language=en"' in shell
    assert all(name in shell for name in ("/stall.js", "/stall-device.js", "/stall.css"))


def test_a_device_of_staff_learns_what_it_can_sell(keeper: Visitor) -> None:
    me = who(keeper)
    assert me["userid"]
    assert {"path": PLACE[0], "label": PLACE[0], "depth": 0} in me["categories"]
    page = keeper.get(f"{DEVICE}/goods?category=Stall%20fair")
    items = {each["key"]: each for each in json.loads(page.body)["items"]}
    assert set(items) == {"stallhat-S", "stallhat-L", "stallmug"}
    assert items["stallhat-S"]["selected_options"] == {"Size": "S"}
    assert items["stallmug"]["price"] == {"amount": 900, "currency": "GBP"}
    assert b"cost" not in page.body
    assert page.headers["Cache-Control"] == "no-store"


def test_a_department_is_kept_with_all_below_it_and_its_pictures(keeper: Visitor) -> None:
    digest = "5" * 64
    cake = product("stallcake", "Plum cake", ["Stall hall", "Cakes"], 600, image=f"/v1/pictures/{digest}")
    import_goods(keeper, [cake])
    path = f"{DEVICE}/goods?category=Stall%20hall"
    (item,) = eventually(lambda: json.loads(keeper.get(path).body)["items"])
    assert item["key"] == "stallcake"
    assert item["image"] == f"/pictures/{digest}/640"


def test_nobody_else_is_answered(visitor: Visitor, join: Callable[..., Visitor]) -> None:
    buyer = join("Fair Buyer")
    assert visitor.get(DEVICE).status == 401
    assert json.loads(visitor.get(f"{DEVICE}/goods?category=Stall%20fair").body)["code"] == "unauthorized"
    assert buyer.get(DEVICE).status == 404
    assert buyer.get("/admin/stall").status == 404


def test_a_sale_is_sent_once_and_stands_in_the_day(keeper: Visitor) -> None:
    stall, key = f"Fair {secrets.token_hex(3)}", secrets.token_hex(16)
    body = sale(stall, 2)
    told = [json.loads(post(keeper, "/sales", key, body).body) for _ in range(2)]
    assert told[0] == told[1]
    assert told[0]["oversold"] == []
    day = body["sold_at"][:10]
    page = keeper.get(f"/admin/stall/days/{day}")
    assert f"{stall} Last 31 days (CSV) somebody 1 £18.00 £0.00" in page.text
    assert page.link(told[0]["number"]) == f"/admin/orders/{told[0]['orderid']}"
    order = keeper.get(f"/admin/orders/{told[0]['orderid']}")
    assert f"Stall {stall}" in order.text


def test_what_the_stock_lacked_is_listed(keeper: Visitor) -> None:
    told = json.loads(post(keeper, "/sales", secrets.token_hex(16), sale("Fair", 1000)).body)
    assert told["oversold"][0]["name"] == "Stoneware mug"
    page = keeper.get("/admin/stall")
    assert "Oversold at the stall" in page.text
    assert f"{told['oversold'][0]['quantity']} × Stoneware mug" in page.text
    order = keeper.get(f"/admin/orders/{told['orderid']}")
    assert f"Oversold {told['oversold'][0]['quantity']} × Stoneware mug" in order.text


def test_a_refusal_comes_as_json_with_its_reasons(keeper: Visitor) -> None:
    refused = post(
        keeper, "/sales", secrets.token_hex(16), sale("Fair", 1) | {"total": {"amount": 1, "currency": "GBP"}}
    )
    told = json.loads(refused.body)
    assert (refused.status, told["errors"]) == (422, {"total": ["They come to 900."]})
    assert post(keeper, "/sales", "short", sale("Fair", 1)).status == 400
    forged = keeper.send("POST", f"{DEVICE}/sales", b"{}", {"Content-Type": "application/json"})
    assert forged.status == 403


def test_a_count_is_booked_as_the_difference(keeper: Visitor) -> None:
    body = {"stall": "Fair", "items": [{"sku": "stallhat-L", "level": 2, "counted_at": timestamp()}]}
    key = secrets.token_hex(16)
    told = [json.loads(post(keeper, "/counts", key, body).body) for _ in range(2)]
    assert [(each["items"][0]["change"], each["items"][0]["stock"]) for each in told] == [(-1, 2)] * 2


def test_cash_is_counted_against_what_was_sold(keeper: Visitor) -> None:
    stall = f"Till {secrets.token_hex(3)}"
    body = sale(stall, 1) | {"sold_by": who(keeper)["userid"]}
    post(keeper, "/sales", secrets.token_hex(16), body)
    day = body["sold_at"][:10]
    keeper.get(f"/admin/stall/days/{day}")
    action = f"/admin/stall/days/{day}/cash-ups"
    values = {"stall": stall, "sold_by": body["sold_by"], "currency": "GBP", "opening": "50", "paid_out": ""}
    page = keeper.submit(action, counted="58.50", note="", **values)
    assert "£0.50 are missing." in page.text
    assert f"{stall}" in page.text
    assert "£59.00 £58.50 differs" in page.text
    page = keeper.submit(action, counted="", note="", **values)
    assert page.form(action).values["opening"] == "50"


def test_what_was_oversold_is_settled_at_the_desk(keeper: Visitor) -> None:
    told = json.loads(post(keeper, "/sales", secrets.token_hex(16), sale("Fair", 1000)).body)
    orderid, number = told["orderid"], told["number"]
    page = keeper.get("/admin/stall")
    action = f"/admin/stall/oversold/{orderid}/settlement"
    refused = keeper.submit(action, outcome="")
    assert "Settled." not in refused.text
    assert refused.link(number)
    page = keeper.submit(action, outcome="delivered_later")
    assert page.status == 200
    assert "Settled." in page.text
    assert action not in page.body.decode()
    assert (
        f"{told['oversold'][0]['quantity']} × Stoneware mug (Who waits gets them later"
        in keeper.get(f"/admin/orders/{orderid}").text
    )


def test_a_days_sales_are_a_file_and_a_stall_leads_to_its_orders(keeper: Visitor) -> None:
    stall = f"Row {secrets.token_hex(3)}"
    body = sale(stall, 1)
    told = json.loads(post(keeper, "/sales", secrets.token_hex(16), body).body)
    day = body["sold_at"][:10]
    page = keeper.get(f"/admin/stall/days/{day}")
    file = keeper.get(page.link("Sales of the day (CSV)"))
    assert file.headers["Content-Type"].startswith("text/csv")
    assert told["number"] in file.body.decode()
    of_stall = keeper.get(
        f"/admin/stall/days/{day}/sales.csv?stall={stall.replace(' ', '%20')}"
    ).body.decode()
    assert [line.split(",")[2] for line in of_stall.splitlines()[1:]] == [told["number"]]
    assert f"/admin/orders?stall={stall.replace(' ', '+')}" in page.body.decode()

    def is_listed() -> bool:
        found = keeper.get(f"/admin/orders?stall={stall.replace(' ', '+')}")
        return told["number"] in found.text and f"Stall {stall}" in found.text

    assert eventually(is_listed)
    assert told["number"] in keeper.get("/admin/orders?stalls=true").text
    assert "not both" in keeper.get("/admin/orders?stalls=true&q=Ada").text
    assert keeper.get("/admin/stall/days/2026-13-40/sales.csv").status == 422
