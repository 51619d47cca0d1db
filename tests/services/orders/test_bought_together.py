"""What is bought together, out of paid orders: the real orders and products services, one query each."""

import time

import requests

from tests.services.orders.conftest import Shop, until


def related(shop: Shop, productid: str) -> list[str]:
    answer = requests.get(f"{shop.products}/v1/products/{productid}/related", timeout=30)
    assert answer.status_code == 200, answer.text
    return [each["productid"] for each in answer.json()["items"]]


def test_what_several_paid_for_together_stands_beside_it(shop: Shop) -> None:
    kettle, cup, tea, once, refused = (shop.product() for _ in range(5))
    people = [shop.customer() for _ in range(3)]
    for person in people:
        shop.placed(person, {kettle: 1, cup: 2})
    for person in people[:2]:
        shop.placed(person, {kettle: 1, tea: 1})
        shop.order(person, {kettle: 1, refused: 1}, token="tok_declined")
    shop.placed(people[0], {kettle: 1, once: 1})
    until(lambda: related(shop, kettle) == [cup, tea])
    assert related(shop, cup) == [kettle]
    assert related(shop, once) == []


def test_an_order_of_very_many_products_makes_few_rows(shop: Shop) -> None:
    goods = [shop.product() for _ in range(20)]
    for _ in range(2):
        shop.placed(shop.customer(), dict.fromkeys(goods, 1))
    until(lambda: len(related(shop, goods[0])) == 6)
    time.sleep(1)
    assert related(shop, goods[-1]) == []


def test_only_other_services_may_ask_for_it(shop: Shop) -> None:
    path = f"{shop.orders}/v1/internal/products/p1/bought-together"
    assert requests.get(path, timeout=10).status_code == 401
