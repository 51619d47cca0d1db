"""To whom the gift cards of an order go: told to the buyer and to staff, corrected by staff, forgotten with the buyer, in no list."""

import secrets
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment, privacy
from services.orders.dependencies import Dependencies
from services.orders.rules.erasure import recipient_key
from shared.couch import Database
from tests.maildir import read_mail
from tests.patience import patient
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.test_gift_card_products import CODE, gift_card_product, recipient
from tests.waiting import Holds


def correct(shop: Shop, order: dict[str, Any], email: str, key: str = "", **more: Any) -> requests.Response:
    return shop.admin.put(
        f"{shop.orders}/v1/admin/orders/{order['orderid']}/gift-recipient",
        json={"email": email, **more},
        headers={"Idempotency-Key": key or secrets.token_hex(8)},
        timeout=30,
    )


def told(shop: Shop, who: Person, order: dict[str, Any]) -> Any:
    return shop.get(who, f"/v1/orders/{order['orderid']}").json().get("gift_card_delivery")


def is_free_of(deps: Dependencies, order: dict[str, Any], *traces: str) -> bool:
    left = str(deps.orders.documents_of(order["orderid"]))
    return all(trace not in left for trace in traces)


def sent(shop: Shop, deps: Dependencies, customer: Person, to: dict[str, str]) -> dict[str, Any]:
    """An order whose two gift cards went out."""
    order = shop.placed(customer, {gift_card_product(shop, 3000): 2}, gift_recipient=to)
    fulfilment.advance_order(deps, order["orderid"])
    return order


def test_the_buyer_and_staff_read_to_whom_and_when_and_no_list_does(
    shop: Shop, customer: Person, deps: Dependencies, holds: Holds
) -> None:
    to = recipient()
    order = shop.placed(customer, {gift_card_product(shop): 1}, gift_recipient=to)
    named = {"email": to["email"], "name": to["name"]}
    assert order["gift_card_delivery"] == {**named, "sent": None}
    fulfilment.advance_order(deps, order["orderid"])
    for who in (customer, shop.admin):
        holds(lambda who=who: told(shop, who, order)["sent"])
        delivery = told(shop, who, order)
        assert {name: delivery[name] for name in named} == named
        assert delivery["sent"] >= order["date"]
    assert to["message"] not in str(shop.get(customer, f"/v1/orders/{order['orderid']}").json())
    assert to["email"] not in shop.get(customer, "/v1/orders").text
    assert to["email"] not in shop.get(shop.admin, "/v1/admin/orders").text
    assert shop.get(shop.customer(), f"/v1/orders/{order['orderid']}").status_code == 404


def test_without_a_recipient_they_go_to_the_buyer_and_an_order_of_goods_says_nothing(
    shop: Shop, customer: Person
) -> None:
    order = shop.placed(customer, {gift_card_product(shop): 1})
    assert order["gift_card_delivery"] == {"email": customer.email, "sent": None}
    assert "gift_card_delivery" not in shop.placed(customer, {shop.product(): 1})


def test_a_corrected_address_gets_the_same_codes_once(
    shop: Shop, customer: Person, deps: Dependencies, holds: Holds
) -> None:
    to, right, key = recipient(), recipient()["email"], secrets.token_hex(8)
    order = sent(shop, deps, customer, to)
    holds(lambda: told(shop, customer, order)["sent"])
    first = told(shop, customer, order)
    for _ in range(2):
        answer = correct(shop, order, right, key, name="Grace Hopper")
        assert answer.status_code == 200, answer.text
        delivery = told(shop, customer, order)
        assert (delivery["email"], delivery["name"]) == (right, "Grace Hopper")
        holds(lambda: (told(shop, customer, order)["sent"] or "") > first["sent"])
    (before,), (mail,) = read_mail(shop.mail, to["email"]), read_mail(shop.mail, right)
    assert set(CODE.findall(mail.text)) == set(CODE.findall(before.text))
    assert to["message"] in mail.text
    assert "Grace Hopper" in mail.text
    assert correct(shop, order, right, name="Grace Hopper").status_code == 200
    assert len(read_mail(shop.mail, right)) == 2, "the same address again: sent again"


def test_before_they_went_out_only_the_new_address_gets_them(
    shop: Shop, customer: Person, deps: Dependencies
) -> None:
    to, right = recipient(), recipient()["email"]
    order = shop.placed(customer, {gift_card_product(shop): 1}, gift_recipient=to)
    assert correct(shop, order, right).json()["gift_card_delivery"] == {"email": right, "sent": None}
    fulfilment.advance_order(deps, order["orderid"])
    assert (len(read_mail(shop.mail, to["email"])), len(read_mail(shop.mail, right))) == (0, 1)


def test_what_cannot_be_sent_is_refused(shop: Shop, customer: Person, deps: Dependencies) -> None:
    goods = shop.placed(customer, {shop.product(): 1})
    right = recipient()["email"]
    assert correct(shop, goods, right).json()["code"] == "no_gift_cards"
    order = shop.placed(customer, {gift_card_product(shop): 1})
    path = f"{shop.orders}/v1/admin/orders/{order['orderid']}/gift-recipient"
    assert customer.put(path, json={"email": right}, timeout=30).status_code == 403
    assert correct(shop, order, "no address").status_code == 422
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {}).status_code == 201
    assert correct(shop, order, right).json()["code"] == "transition_not_allowed"
    assert read_mail(shop.mail, right) == []


def erased(shop: Shop, email: str) -> int:
    """Asks as often as the answer says, on a cluster whose index is behind; of how many orders it was taken out, in one answer or several."""
    answer = patient(lambda: shop.post(shop.admin, "/v1/admin/guests/erasure", {"email": email}))
    assert answer.status_code == 200, answer.text
    return int(answer.json()["orders"])


def test_who_got_them_is_erased_by_their_own_e_mail(
    shop: Shop, customer: Person, deps: Dependencies, database: Database, holds: Holds
) -> None:
    to = recipient()
    order = sent(shop, deps, customer, to)
    waiting = shop.placed(customer, {gift_card_product(shop): 1}, gift_recipient=to)
    if database.has_one_copy:
        assert erased(shop, to["email"].upper()) == 2
    else:
        holds(lambda: len(deps.orders.personal_documents(recipient_key(to["email"]), limit=9)) == 2)
        erased(shop, to["email"].upper())
    for each in (order, waiting):
        holds(lambda each=each: is_free_of(deps, each, to["email"], to["message"]))
    assert told(shop, customer, order) is None
    assert told(shop, customer, waiting) == {"email": customer.email, "sent": None}, "the buyer gets them"
    export = {each["orderid"]: each for each in privacy.export_orders(deps, customer.userid)["items"]}
    assert not any("gift_recipient" in export[each["orderid"]] for each in (order, waiting))
    holds(lambda: erased(shop, to["email"].upper()) == 0)


@pytest.mark.parametrize("corrected", [False, True])
def test_the_export_hands_it_out_and_an_erasure_leaves_nothing_of_it(
    shop: Shop, deps: Dependencies, database: Database, holds: Holds, corrected: bool
) -> None:
    to, right = recipient(), recipient()["email"]
    guest = {"email": f"giver{secrets.token_hex(4)}@example.com", "name": "Gus"}
    order = shop.placed(requests.Session(), {gift_card_product(shop): 1}, gift_recipient=to, **guest)
    fulfilment.advance_order(deps, order["orderid"])
    if corrected:
        assert correct(shop, order, right, name="Grace").status_code == 200
    expected = {**to, "email": right} if corrected else to

    def exported() -> list[Any]:
        answer = patient(lambda: shop.post(shop.admin, "/v1/admin/guests/export", {"email": guest["email"]}))
        return [each["gift_recipient"] for each in answer.json()["items"]]

    holds(lambda: exported() == [expected])
    if database.has_one_copy:
        assert erased(shop, guest["email"]) == 1
    else:
        erased(shop, guest["email"])
    holds(lambda: is_free_of(deps, order, to["email"], right, to["message"]))
    assert told(shop, shop.admin, order) is None
    assert correct(shop, order, right).json()["code"] == "no_recipient"
