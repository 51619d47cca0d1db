"""Random orders in any currency from quote to the last refund, over HTTP: every sum is reckoned again from what customers see.

Codes and offers, several classes and countries, tax included and added, gift cards bought and spent, store credit, refunds and returns
in any order: what was paid of each is what is paid back of it, to the last minor unit.
"""

import os
import random
import secrets
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import pytest

from shared.couch import Database
from shared.money import CURRENCIES, MINOR_UNITS, money
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import charged_at
from tests.services.orders.test_promotions import code, promotion
from tests.services.orders.test_shop_settings import CALIFORNIA, GERMANY, UK

ORDERS: Final = int(os.environ.get("RANDOM_ORDERS", "15"))
SEED: Final = int(os.environ.get("RANDOM_SEED", "18"))
NEW_YORK: Final = CALIFORNIA | {"region": "NY", "city": "Albany", "postcode": "12207"}
QUEBEC: Final = CALIFORNIA | {"country": "CA", "region": "QC", "city": "Montréal", "postcode": "H2X 1Y4"}
PLACES: Final = (UK, GERMANY, CALIFORNIA, NEW_YORK, QUEBEC)
CLASSES: Final = ("standard", "reduced", "books")
CONDITIONS: Final = ("resaleable", "damaged")
RATES: Final[tuple[dict[str, Any], ...]] = (
    {"country": "GB", "name": "VAT", "rate": 20},
    {"country": "GB", "name": "Reduced VAT", "rate": 5, "tax_class": "reduced"},
    {"country": "GB", "name": "Zero", "rate": 0, "tax_class": "books"},
    {"country": "DE", "name": "MwSt.", "rate": 19},
    {"country": "DE", "name": "MwSt. 7", "rate": 7, "tax_class": "books"},
    {"country": "US", "region": "CA", "name": "Sales tax", "rate": 7.75, "included": False},
    {
        "country": "US",
        "region": "CA",
        "name": "Food",
        "rate": 1.25,
        "included": False,
        "tax_class": "reduced",
    },
    {"country": "US", "region": "NY", "name": "NY tax", "rate": 8.875, "included": False},
    {"country": "CA", "name": "GST", "rate": 5, "included": False},
    {"country": "CA", "region": "QC", "name": "GST and QST", "rate": 14.975, "included": False},
    {"country": "CA", "name": "GST on books", "rate": 2.5, "included": False, "tax_class": "books"},
)
DUE: Final = {
    ("GB", ""): ("VAT", "Reduced VAT", "Zero"),
    ("DE", ""): ("MwSt.", "MwSt.", "MwSt. 7"),
    ("US", "CA"): ("Sales tax", "Food", "Sales tax"),
    ("US", "NY"): ("NY tax", "NY tax", "NY tax"),
    ("CA", "QC"): ("GST and QST", "GST and QST", "GST on books"),
}
"""The rate of each of CLASSES at each place."""
BY_DIGITS: Final = {
    digits: sorted(each for each in CURRENCIES if MINOR_UNITS.get(each, 2) == digits) for digits in (0, 2, 3)
}

Doc = dict[str, Any]


@dataclass
class Buyer:
    """A customer with a gift card and store credit in the currency of one order."""

    shop: Shop
    person: Person
    chance: random.Random
    currency: str
    card: Doc = field(default_factory=dict)
    credit: int = 0
    classes: dict[str, str] = field(default_factory=dict)

    def endow(self) -> None:
        if self.chance.random() < 0.6:
            value = money(self.chance.randint(1, 60_000), self.currency)
            self.card = self.shop.post(self.shop.admin, "/v1/admin/gift-cards", {"value": value}).json()
        if self.chance.random() < 0.6:
            self.credit = self.chance.randint(1, 20_000)
            body = {"amount": money(self.credit, self.currency), "reason": "A present."}
            path = f"/v1/admin/store-credit/{self.person.userid}"
            assert self.shop.post(self.shop.admin, path, body).status_code == 201

    def basket(self) -> dict[str, int]:
        goods = {
            self._product(
                self.chance.randint(0, 40_000), tax_class=self.chance.choice(CLASSES)
            ): self.chance.randint(1, 7)
            for _ in range(self.chance.randint(1, 4))
        }
        if self.chance.random() < 0.3:
            goods[self._product(self.chance.randint(1, 5_000), kind="gift_card")] = self.chance.randint(1, 2)
        return goods

    def codes(self, items: dict[str, int]) -> list[str]:
        """Of promotions that act on some of these goods alone."""
        some = [
            {
                "kind": "products",
                "products": self.chance.sample(sorted(items), self.chance.randint(1, len(items))),
            }
        ]
        if self.chance.random() < 0.5:
            promotion(self.shop, conditions=some, actions=[_action(self.chance, self.currency)], limit=9)
        if self.chance.random() < 0.4:
            return []
        ten = code()
        every = [{"kind": "products", "products": sorted(items)}]
        promotion(
            self.shop,
            codes=[ten],
            conditions=every,
            actions=[_action(self.chance, self.currency)],
            per_customer=2,
        )
        return [ten]

    def balances(self) -> tuple[int, int]:
        """Of the gift card and of the store credit now."""
        card = self.card and self.shop.get(self.shop.admin, f"/v1/admin/gift-cards/{self.card['id']}").json()
        items = self.shop.get(self.person, "/v1/store-credit").json()["items"]
        own = [each["balance"]["amount"] for each in items if each["balance"]["currency"] == self.currency]
        return (card["balance"]["amount"] if card else 0), sum(own)

    def _product(self, price: int, **more: Any) -> str:
        productid = f"w{secrets.token_hex(5)}"
        body = {
            "productid": productid,
            "taxonomy": ["Whole"],
            "name": productid,
            "price": money(price, self.currency),
            "delivery": money(self.chance.randint(0, 900), self.currency),
            "stock": 50,
            **more,
        }
        answer = self.shop.admin.post(f"{self.shop.products}/v1/products", json=body, timeout=30)
        assert answer.status_code == 201, answer.text
        self.classes[productid] = more.get("tax_class", "standard")
        return productid


def _action(chance: random.Random, currency: str) -> Doc:
    return chance.choice(
        [
            {"kind": "percent", "basis_points": chance.randint(1, 10_000)},
            {"kind": "amount", "amount": money(chance.randint(1, 30_000), currency)},
            {
                "kind": "buy_x_get_y",
                "buy": chance.randint(1, 2),
                "get": 1,
                "basis_points": chance.choice((10_000, 3_333)),
            },
            {"kind": "free_delivery"},
        ]
    )


@pytest.fixture(scope="module")
def rated(shop: Shop) -> Shop:
    for content in RATES:
        assert shop.post(shop.admin, "/v1/admin/tax-rates", content).status_code == 201
    return shop


@pytest.mark.parametrize("number", range(ORDERS))
def test_every_sum_of_a_random_order_adds_up_to_its_end(
    rated: Shop, ledger: Database, database: Database, number: int
) -> None:
    shop, chance = rated, random.Random(f"{SEED} {number}")
    buyer = Buyer(shop, shop.customer(), chance, chance.choice(BY_DIGITS[(0, 2, 3)[number % 3]]))
    buyer.endow()
    items = buyer.basket()
    lines = [{"productid": productid, "quantity": quantity} for productid, quantity in items.items()]
    asked = {
        "codes": buyer.codes(items),
        "address": chance.choice(PLACES),
        "store_credit": bool(buyer.credit),
        "gift_cards": [buyer.card["code"]] if buyer.card else [],
    }
    quote = shop.post(buyer.person, "/v1/orders/quote", asked | {"items": lines})
    if quote.status_code == 422:
        assert quote.json()["reason"] in ("not_these_products", "not_combinable"), quote.text
        asked["codes"] = []
        quote = shop.post(buyer.person, "/v1/orders/quote", asked | {"items": lines})
    assert quote.status_code == 200, quote.text
    shown = quote.json()
    order = shop.placed(
        buyer.person,
        items,
        **asked,
        expected_total=shown["total"],
        expected_to_pay=shown["to_pay"],
    )
    assert all(
        order[name] == shown[name] for name in ("items", "discounts", "total", "credits", "to_pay", "goods")
    )
    check_rates(order, buyer, asked["address"])
    check_prices(order)
    check_payment(order, buyer, charged_at(ledger, order["orderid"]))
    order = sent_back(buyer, order)
    refunds = [doc for doc in database.partition(f"order{order['orderid']}").all() if doc["type"] == "refund"]
    check_taxes(order, refunds)
    check_all_paid_back(order, buyer, charged_at(ledger, order["orderid"]))


def check_rates(order: Doc, buyer: Buyer, place: Doc) -> None:
    """Which rate each line has, by the table above."""
    due = dict(zip(CLASSES, DUE[place["country"], place.get("region", "")], strict=True))
    for line in order["items"]:
        name = "Gift card" if line.get("gift_card") else due[buyer.classes[line["productid"]]]
        assert line["tax"]["name"] == name


def check_prices(order: Doc) -> None:
    """Lines, discounts, shipping and taxes against fractions."""
    parts = [(_net(line), line["tax"], line["payable"]["amount"]) for line in order["items"]]
    shipping = order["shipping"]["tax"]
    parts.append(
        (
            order["deliveryCharge"]["amount"],
            shipping,
            shipping["base"]["amount"] + shipping["amount"]["amount"],
        )
    )
    exact, rounded = defaultdict[tuple, Fraction](Fraction), Counter[tuple]()
    for price, tax, payable in parts:
        rate = Fraction(str(tax["rate"])) / 100
        key = (tax["country"], tax["region"], tax["name"], tax["rate"], tax["included"])
        exact[key] += price * rate / (1 + rate) if tax["included"] else price * rate
        rounded[key] += tax["amount"]["amount"]
        assert payable == tax["base"]["amount"] + tax["amount"]["amount"]
        assert payable == price + (0 if tax["included"] else tax["amount"]["amount"])
    assert all(abs(rounded[key] - exact[key]) <= Fraction(1, 2) for key in exact)
    rows = {
        (tax["country"], tax["region"], tax["name"], tax["rate"], tax["included"]): tax["amount"]["amount"]
        for tax in order["taxes"]
    }
    assert rows == rounded
    assert order["total"]["amount"] == sum(payable for _, _, payable in parts)
    goods = sum(line["unitPrice"]["amount"] * line["quantity"] for line in order["items"])
    assert order["goods"]["amount"] == goods
    off = sum(discount["amount"]["amount"] for discount in order["discounts"])
    assert sum(price for price, _, _ in parts[:-1]) == goods - off
    assert all(price >= 0 for price, _, _ in parts)
    assert {value["currency"] for value in (order["total"], order["goods"], order["to_pay"])} == {
        order["total"]["currency"]
    }


def check_payment(order: Doc, buyer: Buyer, charged: int) -> None:
    """Gift card first, then store credit, as much as they have; a card bought is not paid with one."""
    cards_bought = sum(line["total"]["amount"] for line in order["items"] if line.get("gift_card"))
    payable = order["total"]["amount"] - cards_bought
    by_card = min(buyer.card["value"]["amount"] if buyer.card else 0, payable)
    by_credit = min(buyer.credit, payable - by_card)
    paid = {each["kind"]: each["amount"]["amount"] for each in order["credits"]}
    assert paid == {
        kind: amount for kind, amount in (("gift_card", by_card), ("store_credit", by_credit)) if amount
    }
    assert charged == order["to_pay"]["amount"] == order["total"]["amount"] - by_card - by_credit
    had = (buyer.card["value"]["amount"] if buyer.card else 0), buyer.credit
    assert buyer.balances() == (had[0] - by_card, had[1] - by_credit)


def sent_back(buyer: Buyer, order: Doc) -> Doc:
    """Cancelled, or delivered and then refunded and returned in any order until nothing is left."""
    shop, chance, path = buyer.shop, buyer.chance, f"/v1/orders/{order['orderid']}"
    if chance.random() < 0.25:
        assert shop.post(buyer.person, f"{path}/cancellation", {"reason": ""}).status_code == 201
        return shop.get(buyer.person, path).json()
    for step in ("dispatch", "delivery"):
        assert shop.post(shop.admin, f"/v1/admin{path[3:]}/{step}", {"courier": "Post", "courierid": "1"}).ok
    back = Counter[str]()
    while left := order["total"]["amount"] - sum(each["total"]["amount"] for each in order["refunds"]):
        returnable = [
            line
            for line in order["items"]
            if line["quantity"] > back[line["productid"]] and not line.get("gift_card")
        ]
        if returnable and chance.random() < 0.6:
            line = chance.choice(returnable)
            quantity = chance.randint(1, line["quantity"] - back[line["productid"]])
            back[line["productid"]] += quantity
            shop.sent_back(
                buyer.person, order["orderid"], {line["productid"]: quantity}, chance.choice(CONDITIONS)
            )
        else:
            amount = chance.choice((left, chance.randint(1, left), chance.randint(1, max(1, left // 3))))
            body = {
                "amount": amount,
                "reason": "",
                "to": chance.choice(("original", "original", "store_credit")),
            }
            answer = shop.post(shop.admin, f"/v1/admin{path[3:]}/refunds", body)
            assert answer.status_code == 201, answer.text
        order = shop.get(buyer.person, path).json()
        check_returns(order, back)
    return order


def check_returns(order: Doc, back: Counter[str]) -> None:
    """What came back of a line is worth its part of what was paid for it, unless more had been refunded before."""
    worth = sum(
        line["payable"]["amount"] * back[line["productid"]] // line["quantity"] for line in order["items"]
    )
    for_returns = sum(
        each["total"]["amount"] for each in order["refunds"] if each["reason"].startswith("Return")
    )
    others = sum(each["total"]["amount"] for each in order["refunds"]) - for_returns
    assert for_returns == worth or for_returns < worth and others + for_returns == order["total"]["amount"]


def check_taxes(order: Doc, refunds: list[Doc]) -> None:
    """Each refund adds up to its taxes, and all of them to each tax as it was paid."""
    back: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
    for refund in refunds:
        parts = [(tax["base"]["amount"], tax["amount"]["amount"]) for tax in refund["taxes"]]
        assert refund["total"]["amount"] == sum(map(sum, parts))
        for tax, (base, amount) in zip(refund["taxes"], parts, strict=True):
            sums = back[tax["country"], tax["region"], tax["name"], tax["rate"]]
            sums[:] = sums[0] + base, sums[1] + amount
    for tax in order["taxes"] if refunds else ():
        paid = [tax["base"]["amount"], tax["amount"]["amount"]]
        assert back[tax["country"], tax["region"], tax["name"], tax["rate"]] == paid


def check_all_paid_back(order: Doc, buyer: Buyer, kept: int) -> None:
    """To the gift card what it paid; what the bank card is not paid back is store credit."""
    assert sum(each["total"]["amount"] for each in order["refunds"]) == order["total"]["amount"]
    assert all(each["settled"] for each in order["refunds"])
    card, credit = buyer.balances()
    assert card == (buyer.card["value"]["amount"] if buyer.card else 0)
    assert credit == buyer.credit + kept


def test_reports_of_all_these_orders_come_to_nothing(rated: Shop) -> None:
    """Everything was paid back: no currency has sales left, and no country tax."""
    taxes = rated.get(rated.admin, "/v1/admin/reports/tax").json()["rows"]
    assert all((row["base"]["amount"], row["amount"]["amount"]) == (0, 0) for row in taxes), taxes


def _net(line: Doc) -> int:
    return int(line["total"]["amount"] - line.get("discount", {"amount": 0})["amount"])
