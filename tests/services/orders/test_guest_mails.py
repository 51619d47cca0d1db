"""Guest checkout sends mail to an address that anybody may type in: so many and no more, and the orders are kept."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from shared.couch import Database
from tests.maildir import read_mail
from tests.services.orders.conftest import Shop, checkout, until
from tests.services.worker.processes import Worker

PER_ADDRESS, PER_NETWORK = 4, 3


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"GUEST_MAILS_PER_HOUR": str(PER_ADDRESS), "GUEST_ORDERS_WITH_MAIL": str(PER_NETWORK)}


@pytest.fixture
def network(environment: dict[str, str]) -> Iterator[requests.Session]:
    """Some browser, as the storefront asks for it."""
    with requests.Session() as session:
        session.headers["X-Client-Address"] = f"10.0.{secrets.randbelow(250)}.{secrets.randbelow(250)}"
        session.headers["X-Service-Secret"] = environment["SERVICE_SECRET"]
        yield session


def place(shop: Shop, browser: requests.Session, email: str, productid: str) -> dict[str, Any]:
    body = checkout({productid: 1}, email=email, name="Gus")
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    answer = browser.post(f"{shop.orders}/v1/orders", json=body, headers=headers, timeout=60)
    assert answer.status_code == 201, answer.text
    return answer.json()


def delivered(shop: Shop, order: dict[str, Any]) -> bool:
    headers = {"X-Order-Token": order["guest_token"]}
    answer = requests.get(f"{shop.orders}/v1/orders/{order['orderid']}", headers=headers, timeout=60)
    return answer.json()["status"] == "delivered"


def notices(database: Database, order: dict[str, Any]) -> int:
    docs = database.partition(f"order{order['orderid']}").all()
    return sum(doc["type"] == "notice" for doc in docs)


def all_told(shop: Shop, database: Database, orders: list[dict[str, Any]]) -> None:
    """Every order is delivered and its three mails are sent or left out."""
    until(lambda: all(delivered(shop, order) for order in orders), 60)
    until(lambda: all(notices(database, order) == 3 for order in orders), 60)


def test_one_address_gets_so_many_mails_and_every_order_is_delivered(
    shop: Shop, worker: Worker, database: Database, environment: dict[str, str]
) -> None:
    email, productid, orders = f"{secrets.token_hex(4)}@example.com", shop.product(), []
    for number in range(3):
        with requests.Session() as browser:
            browser.headers["X-Client-Address"] = f"10.1.{number}.{secrets.randbelow(250)}"
            browser.headers["X-Service-Secret"] = environment["SERVICE_SECRET"]
            orders.append(place(shop, browser, email.upper() if number % 2 else email, productid))
    all_told(shop, database, orders)
    mails = read_mail(shop.mail, email)
    assert len(mails) == PER_ADDRESS
    paid = next(mail.text for mail in mails if "It is paid." in mail.text)
    assert "Includes VAT 20 %" in paid
    assert "It goes to:" in paid


def test_one_network_fills_only_some_mailboxes(
    shop: Shop, worker: Worker, database: Database, network: requests.Session
) -> None:
    emails, productid = (
        [f"{secrets.token_hex(4)}@example.com" for _ in range(PER_NETWORK + 2)],
        shop.product(),
    )
    orders = [place(shop, network, email, productid) for email in emails]
    all_told(shop, database, orders)
    got = [len(read_mail(shop.mail, email)) for email in emails]
    assert got == [3] * PER_NETWORK + [0] * 2


def test_customers_of_their_own_address_get_all(shop: Shop, worker: Worker, database: Database) -> None:
    ann = shop.customer()
    orders = [shop.placed(ann, {shop.product(): 1}) for _ in range(2)]
    until(lambda: all(notices(database, order) == 3 for order in orders), 60)
    subjects = [email.subject for email in read_mail(shop.mail, ann.email)]
    assert sum("order" in subject for subject in subjects) == 6
