"""Money that staff pay back: an e-mail tells the customer, once, whatever dies on the way, unless staff say no."""

import email
import secrets
from dataclasses import replace
from email.message import EmailMessage
from email.policy import default as POLICY
from typing import Any

import pytest

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.test_return_labels import is_swept

Order = dict[str, Any]


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual", "LANGUAGES": "en,de"}


@pytest.fixture(scope="module")
def vase(shop: Shop) -> str:
    return shop.product(price=2000, delivery=0)


def ordered(shop: Shop, deps: Dependencies, who: Person, vase: str, **more: Any) -> Order:
    """Paid, and confirmed by e-mail."""
    order = shop.placed(who, {vase: 2}, **more)
    fulfilment.advance_order(deps, order["orderid"])
    return order


def refunded(shop: Shop, order: Order, amount: int = 0, **more: Any) -> Order:
    body = {"reason": "A crack in the glaze", **more}
    if amount:
        body["amount"] = {"amount": amount, "currency": "GBP"}
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    key = {"Idempotency-Key": secrets.token_hex(8)}
    answers = [shop.post(shop.admin, path, body, headers=key) for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 201], answers[0].text
    return dict(answers[1].json())


def letters(shop: Shop, order: Order) -> list[EmailMessage]:
    """About refunds of an order, each Message-ID once: it is what mail programs show once."""
    found = {}
    for path in (shop.mail / "new").iterdir():
        message = email.message_from_bytes(path.read_bytes(), policy=POLICY)
        if order["number"] in str(message["Subject"]) and ".refund-" in str(message["Message-ID"]):
            found[message["Message-ID"]] = message
    return list(found.values())


def text_of(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert body is not None
    return str(body.get_content()).replace("\xa0", " ")


def sent(shop: Shop, order: Order) -> list[Order]:
    listed = shop.get(shop.admin, f"/v1/admin/orders/{order['orderid']}/emails").json()["items"]
    return [each for each in listed if each["kind"].startswith("refund-")]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["we are paying back £5.00 of your order.", "The reason: A crack in the glaze", "The way you paid  £5.00"]),
        ("de", ["wir zahlen Ihnen von Ihrer Bestellung 5,00 £ zurück.", "Der Grund: A crack in the glaze"]),
    ],
)  # fmt: skip
def test_a_refund_is_written_about_in_the_language_of_the_order(
    shop: Shop, deps: Dependencies, customer: Person, vase: str, language: str, words: list[str]
) -> None:
    order = ordered(shop, deps, customer, vase, language=language)
    refunded(shop, order, 500)
    fulfilment.advance_order(deps, order["orderid"])
    [letter] = letters(shop, order)
    assert customer.email in letter["To"]
    assert [each for each in words if each not in text_of(letter)] == []


def test_goods_and_each_way_the_money_goes_are_named(
    shop: Shop, deps: Dependencies, customer: Person, vase: str
) -> None:
    order = ordered(shop, deps, customer, vase)
    refunded(shop, order, items=[{"productid": vase, "quantity": 1}], to="store_credit")
    fulfilment.advance_order(deps, order["orderid"])
    text = text_of(*letters(shop, order))
    assert f"1 x Kettle {vase}" in text
    assert "To your store credit  £20.00" in text
    assert "The way you paid" not in text


def test_staff_may_pay_back_without_an_e_mail(
    shop: Shop, deps: Dependencies, customer: Person, vase: str
) -> None:
    order = ordered(shop, deps, customer, vase)
    answer = refunded(shop, order, 500, notify=False)
    assert [each.get("notify", False) for each in answer["refunds"]] == [False]
    fulfilment.advance_order(deps, order["orderid"])
    assert (letters(shop, order), sent(shop, order)) == ([], [])
    assert not is_swept(deps, order)


def test_the_desk_previews_it_and_sends_it_again(
    shop: Shop, deps: Dependencies, customer: Person, vase: str
) -> None:
    order = ordered(shop, deps, customer, vase)
    refunded(shop, order, 500)
    fulfilment.advance_order(deps, order["orderid"])
    [first] = sent(shop, order)
    path = f"/v1/admin/orders/{order['orderid']}/emails"
    seen = shop.get(shop.admin, f"{path}/{first['kind']}", params={"language": "de"}).json()
    assert "wir zahlen Ihnen" in seen["text"]
    again = shop.post(
        shop.admin, path, {"kind": first["kind"]}, headers={"Idempotency-Key": secrets.token_hex(8)}
    )
    assert again.status_code == 201, again.text
    assert len(letters(shop, order)) == 2


def test_a_refund_whose_job_was_lost_is_found_by_the_sweep_and_told_once(
    shop: Shop, deps: Dependencies, customer: Person, vase: str
) -> None:
    """The worker dies before the e-mail, then between it and what it writes down about it."""
    order = ordered(shop, deps, customer, vase)
    refunded(shop, order, 500)
    for before in (True, False):
        assert is_swept(deps, order)
        dying = replace(deps, mailer=Dying(deps.mailer, "send", before=before))
        with pytest.raises(Killed):
            fulfilment.advance_order(dying, order["orderid"])
        assert sent(shop, order) == []
    assert is_swept(deps, order)
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert len(letters(shop, order)) == 1
    assert [each["result"] for each in sent(shop, order)] == ["sent"]
    assert not is_swept(deps, order)
