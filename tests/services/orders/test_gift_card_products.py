"""A gift card bought as a product: no delivery, no tax, no discount; issued and sent once after the payment, taken back with a cancellation."""

import re
import secrets
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment, gift_card_sales
from services.orders.dependencies import Dependencies
from services.orders.rules.gift_cards import card_id
from shared.couch import Database
from shared.money import money
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, until
from tests.services.orders.gift_cards import charged_at
from tests.services.worker.processes import Worker

CODE = re.compile(r"\b(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}\b")


def gift_card_product(shop: Shop, price: int = 5000) -> str:
    productid = f"gift{secrets.token_hex(5)}"
    body = {
        "productid": productid,
        "taxonomy": ["Gifts"],
        "name": "Gift card",
        "kind": "gift_card",
        "price": money(price, "GBP"),
        "delivery": money(250, "GBP"),
        "stock": 100,
    }
    answer = shop.admin.post(f"{shop.products}/v1/products", json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def recipient() -> dict[str, str]:
    return {"email": f"gift{secrets.token_hex(5)}@example.com", "name": "Grace", "message": "Happy birthday!"}


def balance(shop: Shop, code: str) -> int:
    answer = requests.post(f"{shop.orders}/v1/gift-cards/balance", json={"code": code}, timeout=30)
    return answer.json()["balance"]["amount"] if answer.ok else -1


def issued_codes(deps: Dependencies, orderid: str) -> list[str]:
    return [code for code, _ in gift_card_sales.codes_of(deps, deps.orders.order(orderid))]


def test_it_has_neither_delivery_nor_tax_and_other_goods_have_theirs(shop: Shop, customer: Person) -> None:
    gift, kettle = gift_card_product(shop), shop.product(price=1200, delivery=250)
    only = shop.placed(customer, {gift: 2}, shipping="standard")
    assert only["total"] == money(10_000, "GBP")
    assert (only["shipping"]["id"], only["tax"]["total"]) == ("email", money(0, "GBP"))
    mixed = shop.placed(customer, {gift: 1, kettle: 1})
    assert mixed["total"] == money(5000 + 1450, "GBP")
    assert mixed["deliveryCharge"] == money(250, "GBP")
    rows = {tax["name"]: (tax["base"]["amount"], tax["amount"]["amount"]) for tax in mixed["taxes"]}
    assert rows["Gift card"] == (5000, 0)
    assert sum(rows["VAT"]) == 1450


@pytest.mark.parametrize(
    "dies", ["after the decision", "after one card", "before it is noted that they were sent"]
)
def test_an_issue_that_was_cut_off_is_finished_without_another_card(
    shop: Shop, customer: Person, deps: Dependencies, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    to = recipient()
    order = shop.placed(customer, {gift_card_product(shop, 3000): 2}, gift_recipient=to)
    orderid, calls = order["orderid"], {"issue": 0}
    real = gift_card_sales.gift_cards.issue

    class Cut(Exception):
        pass

    def cut(*args: Any, **options: Any) -> Any:
        calls["issue"] += 1
        if dies == "after the decision" or calls["issue"] == 2:
            raise Cut
        return real(*args, **options)

    if dies.startswith("before"):
        assert gift_card_sales.issue_bought(deps, deps.orders.order(orderid))[1]
    else:
        with monkeypatch.context() as patch:
            patch.setattr(gift_card_sales.gift_cards, "issue", cut)
            with pytest.raises(Cut):
                gift_card_sales.issue_bought(deps, deps.orders.order(orderid))
    fulfilment.advance_order(deps, orderid)
    codes = issued_codes(deps, orderid)
    assert [balance(shop, code) for code in codes] == [3000, 3000]
    assert len(read_mail(shop.mail, to["email"])) == 1


def test_a_cancelled_order_takes_its_cards_back(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    gift, kettle = gift_card_product(shop, 2000), shop.product(price=1000, delivery=0)
    order = shop.placed(customer, {gift: 1, kettle: 1})
    gift_card_sales.issue_bought(deps, deps.orders.order(order["orderid"]))
    (code,) = issued_codes(deps, order["orderid"])
    assert balance(shop, code) == 2000
    answer = shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {})
    assert answer.status_code == 201, answer.text
    assert balance(shop, code) == 0
    assert charged_at(ledger, order["orderid"]) == 0
    gift_card_sales.issue_bought(deps, deps.orders.order(order["orderid"]))
    assert balance(shop, code) == 0


def test_an_order_cancelled_first_never_issues(shop: Shop, customer: Person, deps: Dependencies) -> None:
    order = shop.placed(customer, {gift_card_product(shop): 1})
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {}).status_code == 201
    assert gift_card_sales.issue_bought(deps, deps.orders.order(order["orderid"]))[1] == []
    (code,) = issued_codes(deps, order["orderid"])
    assert balance(shop, code) == 0


def test_an_order_whose_card_was_used_cannot_be_cancelled(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    order = shop.placed(customer, {gift_card_product(shop): 1, shop.product(): 1})
    gift_card_sales.issue_bought(deps, deps.orders.order(order["orderid"]))
    (code,) = issued_codes(deps, order["orderid"])
    shop.placed(customer, {shop.product(price=1000, delivery=0): 1}, gift_cards=[code])
    answer = shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "transition_not_allowed")
    assert balance(shop, code) == 4000
    assert charged_at(ledger, order["orderid"]) == order["total"]["amount"]


def test_a_gift_card_buys_no_gift_card(shop: Shop, customer: Person, ledger: Database) -> None:
    """Or its last day could be put off for ever."""
    body = {"value": money(9000, "GBP")}
    card = shop.post(shop.admin, "/v1/admin/gift-cards", body).json()
    order = shop.placed(
        customer,
        {gift_card_product(shop): 1, shop.product(price=1000, delivery=0): 1},
        gift_cards=[card["code"]],
    )
    assert [credit["amount"]["amount"] for credit in order["credits"]] == [1000]
    assert charged_at(ledger, order["orderid"]) == 5000


def test_a_sold_card_is_no_revenue_and_what_is_bought_with_it_is(
    shop: Shop, customer: Person, deps: Dependencies
) -> None:
    def sums() -> tuple[int, int]:
        deps.reports.catch_up()
        groups = shop.get(shop.admin, "/v1/admin/reports/sales").json()["groups"]
        (total,) = (group["total"] for group in groups if group["currency"] == "GBP")
        return total["gross"]["amount"], total["refunds"]["amount"]

    shop.placed(customer, {shop.product(): 1})
    gross, refunds = sums()
    order = shop.placed(customer, {gift_card_product(shop, 2000): 1})
    assert sums() == (gross, refunds)
    gift_card_sales.issue_bought(deps, deps.orders.order(order["orderid"]))
    shop.placed(
        customer,
        {shop.product(price=1500, delivery=0): 1},
        gift_cards=issued_codes(deps, order["orderid"]),
    )
    assert sums() == (gross + 1500, refunds)
    other = shop.placed(customer, {gift_card_product(shop, 2000): 1})
    assert shop.post(customer, f"/v1/orders/{other['orderid']}/cancellation", {}).status_code == 201
    assert sums() == (gross + 1500, refunds)


def test_it_is_issued_and_sent_once_and_the_order_is_finished(
    shop: Shop, customer: Person, worker: Worker, deps: Dependencies, database: Database
) -> None:
    to = recipient()
    order = shop.placed(customer, {gift_card_product(shop): 2}, gift_recipient=to)
    text = until(lambda: read_mail(shop.mail, to["email"]), 60)[0].text
    codes = CODE.findall(text)
    assert len(set(codes)) == 2
    assert "Happy birthday!" in text
    assert [balance(shop, code) for code in codes] == [5000, 5000]
    until(lambda: shop.get(customer, f"/v1/orders/{order['orderid']}").json()["status"] == "delivered", 60)
    for _ in range(3):
        fulfilment.advance_order(deps, order["orderid"])
    assert len(read_mail(shop.mail, to["email"])) == 1
    assert [balance(shop, code) for code in codes] == [5000, 5000]
    stored = database.partition(f"order{order['orderid']}").all()
    assert not any(code in str(doc) for doc in stored for code in codes)
    history = shop.get(shop.admin, f"/v1/admin/gift-cards/{card_id(codes[0])}").json()["entries"]
    assert [(entry["reason"], entry["by"]) for entry in history] == [("issued", "shop")]
    spent = shop.placed(customer, {shop.product(price=1000, delivery=0): 1}, gift_cards=[codes[0]])
    assert spent["payment"]["provider"] == "none"
    refused = shop.post(
        customer,
        f"/v1/orders/{order['orderid']}/returns",
        {"items": [{"productid": order["items"][0]["productid"], "quantity": 1}]},
    )
    assert refused.status_code == 422
