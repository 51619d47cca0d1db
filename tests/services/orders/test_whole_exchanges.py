"""Random orders of which something is exchanged, over HTTP: after each step the shop has what was paid for the order and for what was sent
for it, less what was paid back of both, to the last minor unit, wherever it went: bank card, gift card or store credit."""

import os
import random
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from shared.couch import Database
from shared.money import money
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import charged_at
from tests.services.orders.test_promotions import code, promotion
from tests.services.orders.test_whole_orders import (
    BY_DIGITS,
    CLASSES,
    CONDITIONS,
    PLACES,
    Buyer,
    Doc,
    check_taxes,
    rated,
)

__all__ = ["rated"]

EXCHANGES: Final = int(os.environ.get("RANDOM_EXCHANGES", "6"))
SEED: Final = int(os.environ.get("RANDOM_SEED", "18"))


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    """Parcels go when the test says so, whatever the jobs do."""
    return {"COURIER": "manual"}


@dataclass
class Books:
    """What a buyer paid for orders, and what of it the shop has: each reckoned from other figures than the other."""

    buyer: Buyer
    ledger: Database
    deps: Dependencies
    orders: list[str] = field(default_factory=list)

    def read(self, orderid: str) -> Doc:
        return self.buyer.shop.get(self.buyer.person, f"/v1/orders/{orderid}").json()

    def check(self) -> None:
        for orderid in self.orders:
            fulfilment.advance_order(self.deps, orderid)
        orders = [self.read(orderid) for orderid in self.orders]
        told = sum(
            order["total"]["amount"] - sum(each["total"]["amount"] for each in order["refunds"])
            for order in orders
        )
        card, credit = self.buyer.balances()
        had = self.buyer.card["value"]["amount"] if self.buyer.card else 0
        charged = sum(charged_at(self.ledger, orderid) for orderid in self.orders)
        assert charged + had - card + self.buyer.credit - credit == told
        assert all(each["settled"] for order in orders for each in order["refunds"])

    def refund_some(self, orderid: str) -> bool:
        """Goods that come back, or an amount; False when there is nothing left."""
        shop, chance, order = self.buyer.shop, self.buyer.chance, self.read(orderid)
        left = order["total"]["amount"] - sum(each["total"]["amount"] for each in order["refunds"])
        if not left:
            return False
        returnable = [
            line
            for line in order["items"]
            if line["quantity"] > line.get("returned", 0) and not line.get("gift_card")
        ]
        if returnable and chance.random() < 0.5:
            line = chance.choice(returnable)
            shop.sent_back(
                self.buyer.person,
                orderid,
                {line.get("sku") or line["productid"]: 1},
                chance.choice(CONDITIONS),
            )
            return True
        amount = chance.choice((left, chance.randint(1, left)))
        to = chance.choice(("original", "original", "store_credit"))
        body = {"amount": amount, "reason": "", "to": to}
        answer = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/refunds", body)
        assert answer.status_code == 201, answer.text
        return True


@pytest.mark.parametrize("number", range(EXCHANGES))
def test_an_order_and_what_was_sent_for_it_add_up_after_every_step(
    rated: Shop,
    deps: Dependencies,
    ledger: Database,
    database: Database,
    number: int,
) -> None:
    shop, chance = rated, random.Random(f"exchange {SEED} {number}")
    buyer = Buyer(shop, shop.customer(), chance, chance.choice(BY_DIGITS[(0, 2, 3)[number % 3]]))
    buyer.endow()
    price, pieces = chance.randint(200, 9_000), chance.randint(2, 5)
    wanted = price if number % 2 else chance.randint(price // 2, price)
    product = sizes(buyer, price, wanted)
    order = shop.placed(
        buyer.person,
        {f"{product}-M": pieces, next(iter(buyer.basket())): 1},
        codes=percent_off(buyer, product),
        address=chance.choice(PLACES),
        store_credit=bool(buyer.credit),
        gift_cards=[buyer.card["code"]] if buyer.card else [],
    )
    books = Books(buyer, ledger, deps, [order["orderid"]])
    books.check()
    delivered(shop, order)
    if chance.random() < 0.5:
        books.refund_some(order["orderid"])
        books.check()
    line = next(each for each in order["items"] if each["productid"] == product)
    sent = chance.randint(1, pieces)
    linked = exchanged(buyer, order, f"{product}-M", f"{product}-L", sent)
    worth = line["payable"]["amount"] * sent // pieces
    assert linked["total"]["amount"] <= worth
    assert (linked["to_pay"]["amount"], linked["total"]["amount"] == worth) == (0, wanted == price)
    books.orders.append(linked["orderid"])
    books.check()
    delivered(shop, linked)
    open_orders = [*books.orders]
    while open_orders:
        orderid = chance.choice(open_orders)
        if books.refund_some(orderid):
            books.check()
        else:
            open_orders.remove(orderid)
    for orderid in books.orders:
        refunds = [doc for doc in database.partition(f"order{orderid}").all() if doc["type"] == "refund"]
        check_taxes(books.read(orderid), refunds)


def sizes(buyer: Buyer, price: int, wanted: int) -> str:
    """A product in two sizes, M and L, at these prices."""
    productid = f"x{secrets.token_hex(5)}"
    body: dict[str, Any] = {
        "productid": productid,
        "taxonomy": ["Whole"],
        "name": productid,
        "price": money(price, buyer.currency),
        "delivery": money(buyer.chance.randint(0, 900), buyer.currency),
        "tax_class": buyer.chance.choice(CLASSES),
        "options": [{"name": "Size", "values": ["M", "L"]}],
        "variants": [
            {"sku": f"{productid}-M", "options": {"Size": "M"}, "stock": 50},
            {
                "sku": f"{productid}-L",
                "options": {"Size": "L"},
                "stock": 50,
                "prices": {buyer.currency: wanted},
            },
        ],
    }
    answer = buyer.shop.admin.post(f"{buyer.shop.products}/v1/products", json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def percent_off(buyer: Buyer, product: str) -> list[str]:
    """A code that leaves something to pay, or none."""
    if buyer.chance.random() < 0.4:
        return []
    ten = code()
    promotion(
        buyer.shop,
        codes=[ten],
        conditions=[{"kind": "products", "products": [product]}],
        actions=[{"kind": "percent", "basis_points": buyer.chance.randint(1, 6_000)}],
    )
    return [ten]


def delivered(shop: Shop, order: Doc) -> None:
    path = f"/v1/admin/orders/{order['orderid']}"
    for step in ("dispatch", "delivery"):
        answer = shop.post(shop.admin, f"{path}/{step}", {"courier": "Post", "courierid": "1"})
        assert answer.ok, answer.text


def exchanged(buyer: Buyer, order: Doc, sku: str, wanted: str, quantity: int) -> Doc:
    """The order that was sent for these goods, once they are here."""
    shop, path = buyer.shop, f"/v1/orders/{order['orderid']}/returns"
    items = [{"sku": sku, "quantity": quantity, "exchange_for": wanted}]
    asked = shop.post(buyer.person, path, {"items": items})
    assert asked.status_code == 201, asked.text
    staff = f"/v1/admin/orders/{order['orderid']}/returns/{asked.json()['number']}"
    assert shop.post(shop.admin, f"{staff}/approval").status_code == 201
    came = {"items": [{"sku": sku, "quantity": quantity, "condition": buyer.chance.choice(CONDITIONS)}]}
    answer = shop.post(shop.admin, f"{staff}/receipt", came)
    assert answer.status_code == 201, answer.text
    return shop.get(buyer.person, f"/v1/orders/{answer.json()['exchange']['orderid']}").json()
