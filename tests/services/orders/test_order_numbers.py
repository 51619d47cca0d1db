"""Numbers that people call orders by: on every answer, in e-mails, found at the desk, and never the same one twice."""

import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from services.orders.actions.emails import compose
from services.orders.dependencies import Dependencies
from services.orders.documents import NUMBER_BLOCK, NUMBER_PARTITION
from services.orders.store.numbers import BLOCK_SIZE, FIRST_NUMBER, OrderNumbers
from shared.couch import Database, Written
from tests.people import Person
from tests.services.orders.conftest import Shop, calls, clone, until

NUMBER = re.compile(r"A-1\d{5}")


def listed(shop: Shop, **query: str) -> list[dict[str, Any]]:
    answer = shop.get(shop.admin, "/v1/admin/orders", params=query)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def _numbers_listed(shop: Shop, person: Person, path: str, orderid: str) -> list[str]:
    """The numbers under which a list has the order; none while its index is behind."""
    return [each["number"] for each in shop.get(person, path).json()["items"] if each["orderid"] == orderid]


def test_orders_of_several_processes_have_numbers_of_their_own(
    shop: Shop, customer: Person, replica: str, database: Database
) -> None:
    kettle = shop.product(stock=1000)
    shops = [shop, replace(shop, orders=replica)]
    people = [clone(customer) for _ in range(8)]

    def buy(number: int) -> str:
        return str(shops[number % 2].placed(people[number % 8], {kettle: 1})["number"])

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(buy, range(2 * BLOCK_SIZE + 10)))
    assert all(NUMBER.fullmatch(number) for number in numbers), numbers
    assert len(set(numbers)) == len(numbers)


def test_numbers_that_are_taken_at_once_are_all_different(database: Database) -> None:
    several = [OrderNumbers(database) for _ in range(4)]
    with ThreadPoolExecutor(12) as pool:
        numbers = list(pool.map(lambda each: several[each % 4].take(), range(12 * BLOCK_SIZE)))
    assert len(set(numbers)) == len(numbers)
    blocks = NUMBER_BLOCK.among(database.partition(NUMBER_PARTITION).all("block"))
    assert [block["first"] for block in blocks] == [
        FIRST_NUMBER + BLOCK_SIZE * place for place in range(len(blocks))
    ]


class Unsure:
    """A database that has only accepted the first write (202): another node may have taken another one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.docs: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def put_many(self, docs: list[Any]) -> list[Written]:
        rows = self._database.put_many(docs)
        taken = [replace(row, accepted=not self.docs) if row.error is None else row for row in rows]
        self.docs += [doc for doc, row in zip(docs, rows, strict=True) if row.error is None]
        return taken


def test_a_block_that_was_only_accepted_is_not_used(database: Database) -> None:
    unsure = Unsure(database)
    number = OrderNumbers(unsure).take()  # type: ignore[arg-type]  # stands in for a cluster's answer
    accepted, written = unsure.docs
    assert number == f"A-{written['first']}"
    assert written["first"] > accepted["last"]


def test_the_number_stays_and_is_shown_and_found(shop: Shop, customer: Person, deps: Dependencies) -> None:
    kettle, key = shop.product(), secrets.token_hex(8)
    order, again = (shop.order(customer, {kettle: 1}, key=key).json() for _ in range(2))
    orderid, number = order["orderid"], order["number"]
    assert again["number"] == number
    assert shop.get(customer, f"/v1/orders/{orderid}").json()["number"] == number
    for path, person in (("/v1/orders", customer), ("/v1/admin/orders?limit=100", shop.admin)):
        found = until(partial(_numbers_listed, shop, person, path, orderid))
        assert found == [number]
    until(lambda: listed(shop, q=number))
    for q in (number, number.lower(), number.removeprefix("A-"), f" {number} ", orderid):
        assert [(each["orderid"], each["number"]) for each in listed(shop, q=q)] == [(orderid, number)]
    assert listed(shop, q=number, status="cancelled") == []
    assert listed(shop, q=number, to="2020-01-01") == []
    assert [each["orderid"] for each in listed(shop, q=number, status="paid", **{"from": "2020"})] == [
        orderid
    ]
    for q in ("A-999999", "999999", "no such order", "order", "A-"):
        assert listed(shop, q=q) == []
    answer = shop.get(shop.admin, "/v1/admin/orders", params={"q": number})
    assert calls(answer)["global"] == 1
    assert compose(deps, deps.orders.order(orderid), "payment").subject == f"Your order {number}"


def test_an_order_without_a_number_is_called_by_its_id(shop: Shop, deps: Dependencies) -> None:
    """As those of older versions and imported ones."""
    orderid = f"old-{secrets.token_hex(4)}"
    line = (
        f'{{"orderid":"{orderid}","userid":"u","date":"2019-01-01","currency":"GBP","items":[{{"productid":"p","name":"P",'
        '"quantity":1,"unitPrice":{"amount":5,"currency":"GBP"}}],"payment":{"provider":"till","provider_ref":"1","date":"2019-01-01"}}'
    )
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"{shop.orders}/v1/admin/orders/import"
    assert shop.admin.post(path, data=line, headers=headers, timeout=60).json()["created"] == 1
    assert shop.get(shop.admin, f"/v1/orders/{orderid}").json()["number"] is None
    assert [each["number"] for each in listed(shop, q=orderid)] == [None]
    assert compose(deps, deps.orders.order(orderid), "payment").subject == f"Your order {orderid}"
