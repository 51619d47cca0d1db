"""Gift cards and store credit over HTTP: issued, spent beside a card and alone, given back, refunded, never overdrawn."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import requests

from services.orders.actions.checkout import place_order
from services.orders.actions.emails import compose
from services.orders.actions.intents import Buyer
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import CREDIT_ENTRY
from services.orders.rules.gift_cards import card_id
from services.orders.settings import Settings
from shared.clock import now
from shared.couch import Database
from shared.money import money
from shared.settings import load
from tests.people import Person
from tests.services.orders.conftest import Shop, calls, checkout, clone, insisting
from tests.services.orders.gift_cards import card_of, charged_at, granted, issued, left_on, store_credit_of
from tests.waiting import Holds


def test_a_code_is_shown_once_and_only_its_hash_is_stored(
    shop: Shop, database: Database, holds: Holds
) -> None:
    card = issued(shop, 5000, note="won at the summer fair")
    code = card["code"]
    assert card["id"] == card_id(code)
    assert card["name"] == f"Gift card ending {code[-4:]}"
    holds(lambda: database.partition(f"giftcard{card['id']}").all())
    (entry,) = CREDIT_ENTRY.among(database.partition(f"giftcard{card['id']}").all())
    assert not any(code in str(value) or code.replace("-", "") in str(value) for value in entry.values())
    assert (entry["by"], entry["note"]) == (f"user {shop.admin.userid}", "won at the summer fair")
    assert "code" not in card_of(shop, card)
    listed = shop.get(shop.admin, "/v1/admin/gift-cards").json()["items"][0]
    assert (listed["id"], listed["balance"]) == (card["id"], money(5000, "GBP"))
    for spelled in (code.lower(), code.replace("-", " "), f" {code} "):
        told = requests.post(f"{shop.orders}/v1/gift-cards/balance", json={"code": spelled}, timeout=30)
        assert told.json()["balance"] == money(5000, "GBP")
    assert calls(told) == {"partition": 1, "global": 0, "read": 0, "write": 0}


def test_a_key_issues_one_card(shop: Shop) -> None:
    body, key = {"value": money(2500, "GBP")}, {"Idempotency-Key": secrets.token_hex(8)}
    first, again = (shop.post(shop.admin, "/v1/admin/gift-cards", body, headers=key) for _ in range(2))
    assert first.json() == again.json()
    other = shop.post(shop.admin, "/v1/admin/gift-cards", {"value": money(9, "GBP")}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_customers_may_neither_issue_nor_grant(shop: Shop, customer: Person) -> None:
    assert shop.post(customer, "/v1/admin/gift-cards", {"value": money(1, "GBP")}).status_code == 403
    assert shop.get(customer, "/v1/admin/gift-cards").status_code == 403
    body = {"amount": money(1, "GBP"), "reason": "me"}
    assert shop.post(customer, f"/v1/admin/store-credit/{customer.userid}", body).status_code == 403


def test_staff_sets_a_balance_and_the_history_says_who_and_why(shop: Shop) -> None:
    card, path = issued(shop, 3000), "/v1/admin/gift-cards"
    body = {"balance": 0, "note": "The card was stolen."}
    answer = shop.admin.put(f"{shop.orders}{path}/{card['id']}", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    assert answer.json()["balance"] == money(0, "GBP")
    last = card_of(shop, card)["entries"][-1]
    assert (last["reason"], last["note"]) == ("adjusted", "The card was stolen.")
    assert last["by"] == f"user {shop.admin.userid}"
    refused = shop.order(
        requests.Session(), {shop.product(): 1}, email="a@example.com", gift_cards=[card["code"]]
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "gift_card_not_valid")


def test_a_gift_card_pays_a_part_and_the_card_the_rest(
    shop: Shop, customer: Person, ledger: Database, deps: Dependencies
) -> None:
    card, product = issued(shop, 1000), shop.product(price=1250, delivery=250)
    items = [{"productid": product, "quantity": 1}]
    answer = shop.post(customer, "/v1/orders/quote", {"items": items, "gift_cards": [card["code"]]})
    quote = answer.json()
    assert calls(answer)["partition"] == 1
    assert quote["total"] == money(1500, "GBP")
    assert quote["to_pay"] == money(500, "GBP")
    assert [(each["kind"], each["amount"]) for each in quote["credits"]] == [
        ("gift_card", money(1000, "GBP"))
    ]
    order = shop.placed(customer, {product: 1}, gift_cards=[card["code"]], expected_to_pay=quote["to_pay"])
    assert order["status"] == "paid"
    assert order["credits"] == quote["credits"] == order["payment"]["credits"]
    assert order["payment"]["total"] == money(1500, "GBP")
    assert charged_at(ledger, order["orderid"]) == 500
    assert left_on(shop, card) == 0
    text = compose(deps, deps.orders.order(order["orderid"]), "payment").plain
    assert f"{card['name']}  −£10.00\nCharged  £5.00" in text
    spent = card_of(shop, card)["entries"][-1]
    assert (spent["reason"], spent["orderid"], spent["by"]) == (
        "spent",
        order["orderid"],
        f"user {customer.userid}",
    )


def test_gift_cards_pay_all_and_no_provider_is_asked(shop: Shop, customer: Person, ledger: Database) -> None:
    small, large = issued(shop, 400), issued(shop, 5000)
    product = shop.product(price=1250, delivery=250)
    order = shop.placed(customer, {product: 1}, gift_cards=[small["code"], large["code"]])
    assert order["payment"]["provider"] == "none"
    assert order["to_pay"] == money(0, "GBP")
    assert ledger.partition(f"order{order['orderid']}").all() == []
    assert (left_on(shop, small), left_on(shop, large)) == (0, 3900)
    again = shop.placed(customer, {product: 1}, gift_cards=[large["code"].lower(), large["code"]])
    assert [each["amount"]["amount"] for each in again["credits"]] == [1500]
    assert left_on(shop, large) == 2400


def test_a_repeated_request_spends_once(shop: Shop, customer: Person, ledger: Database) -> None:
    card, product, key = issued(shop, 1000), shop.product(), secrets.token_hex(8)
    answers = [shop.order(customer, {product: 1}, key, gift_cards=[card["code"]]) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["orderid"] for answer in answers}) == 1
    assert left_on(shop, card) == 0
    assert charged_at(ledger, answers[0].json()["orderid"]) == 500


def test_what_cannot_be_used_is_refused_with_a_reason(shop: Shop, customer: Person) -> None:
    euros, empty = issued(shop, 1000, "EUR"), issued(shop, 100)
    product = shop.product(stock=9)
    shop.placed(customer, {product: 1}, gift_cards=[empty["code"]])
    for code, reason in (
        ("0000-0000-0000-0000", "no gift card with this code"),
        ("what is this", "no gift card with this code"),
        (euros["code"], "is in EUR"),
        (empty["code"], "Nothing is left"),
    ):
        answer = shop.order(customer, {product: 1}, gift_cards=[code])
        assert (answer.status_code, answer.json()["code"]) == (422, "gift_card_not_valid")
        assert reason in answer.json()["errors"]["gift_cards"][0]
        body = {"items": [{"productid": product, "quantity": 1}], "gift_cards": [code]}
        assert shop.post(customer, "/v1/orders/quote", body).json()["code"] == "gift_card_not_valid"
    assert shop.stock(product) == 8


def test_a_balance_that_has_changed_since_the_quote_charges_nobody(
    shop: Shop, customer: Person, ledger: Database
) -> None:
    card, product = issued(shop, 1000), shop.product()
    shop.placed(customer, {product: 1}, gift_cards=[card["code"]])
    card = issued(shop, 1500)
    shop.placed(
        shop.customer(),
        {product: 1},
        gift_cards=[card["code"]],
        payment={"provider": "sandbox", "token": "tok_ok"},
    )
    card = issued(shop, 800)
    answer = shop.order(customer, {product: 1}, gift_cards=[card["code"]], expected_to_pay=money(500, "GBP"))
    assert (answer.status_code, answer.json()["code"]) == (409, "price_changed")
    assert answer.json()["to_pay"] == money(700, "GBP")
    assert left_on(shop, card) == 800


def test_twenty_who_spend_one_card_at_once_never_overdraw_it(
    shop: Shop, ledger: Database, database: Database, stock_comes_to: Callable[[str, int], None]
) -> None:
    """50.00 on the card, 15.00 for each order: three are paid by it alone, one gets the last 5.00 at most."""
    card, product = issued(shop, 5000), shop.product(price=1250, delivery=250, stock=100)
    people = [shop.customer() for _ in range(4)]
    buyers = [clone(people[number % 4]) for number in range(20)]

    def buy(session: requests.Session) -> requests.Response:
        return insisting(shop, session, {product: 1}, gift_cards=[card["code"]])

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(buy, buyers))
    placed = [answer.json() for answer in answers if answer.status_code == 201]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert {(answer.status_code, answer.json()["code"]) for answer in refused} <= {
        (409, "balance_spent"),
        (422, "gift_card_not_valid"),
    }
    spent = 0
    for order in placed:
        by_card = sum(credit["amount"]["amount"] for credit in order["credits"])
        assert order["payment"]["total"]["amount"] == 1500 == by_card + charged_at(ledger, order["orderid"])
        spent += by_card
    assert left_on(shop, card) == 5000 - spent
    assert len(placed) in (3, 4)
    stock_comes_to(product, 100 - len(placed))
    entries = CREDIT_ENTRY.among(database.partition(f"giftcard{card['id']}").all())
    assert all(entry["_rev"].startswith("1-") for entry in entries)


def test_a_cancelled_order_gives_the_card_its_share_back(
    shop: Shop, customer: Person, ledger: Database
) -> None:
    card, product = issued(shop, 1000), shop.product(price=1250, delivery=250)
    order = shop.placed(customer, {product: 1}, gift_cards=[card["code"]])
    for _ in range(2):
        answer = shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {})
        assert answer.status_code == 201, answer.text
    (refund,) = answer.json()["refunds"]
    assert (refund["total"]["amount"], refund["settled"]) == (1500, True)
    assert [each["amount"]["amount"] for each in refund["credits"]] == [1000]
    assert left_on(shop, card) == 1000
    assert charged_at(ledger, order["orderid"]) == 0


def test_refunds_go_to_the_gift_card_first_and_then_to_the_card(
    shop: Shop, customer: Person, ledger: Database
) -> None:
    card, product = issued(shop, 1000), shop.product(price=2250, delivery=250)
    order = shop.placed(customer, {product: 1}, gift_cards=[card["code"]])
    expected = [(600, 600, 1500), (700, 1000, 1200), (1200, 1000, 0)]
    for amount, on_card, at_provider in expected:
        path = f"/v1/admin/orders/{order['orderid']}/refunds"
        answer = shop.post(shop.admin, path, {"amount": amount})
        assert answer.status_code == 201, answer.text
        assert left_on(shop, card) == on_card
        assert charged_at(ledger, order["orderid"]) == at_provider
    assert answer.json()["refunded"] == "whole"


def test_store_credit_is_granted_spent_by_its_owner_and_refunded_to(
    shop: Shop, ledger: Database, database: Database
) -> None:
    person, product = shop.customer(), shop.product(price=1250, delivery=250)
    granted(shop, person, 700)
    assert store_credit_of(shop, person) == 700
    order = shop.placed(person, {product: 1}, store_credit=True)
    assert [(each["kind"], each["amount"]["amount"]) for each in order["credits"]] == [("store_credit", 700)]
    assert charged_at(ledger, order["orderid"]) == 800
    assert store_credit_of(shop, person) == 0
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    answer = shop.post(shop.admin, path, {"amount": 1200, "to": "store_credit"})
    assert answer.status_code == 201, answer.text
    assert store_credit_of(shop, person) == 1200
    assert charged_at(ledger, order["orderid"]) == 800
    assert shop.post(shop.admin, path, {"amount": 300}).status_code == 201
    assert charged_at(ledger, order["orderid"]) == 500
    history = shop.get(shop.admin, f"/v1/admin/store-credit/{person.userid}").json()["items"][0]["entries"]
    assert [entry["reason"] for entry in history] == ["granted", "spent", "refunded"]
    assert history[0]["note"] == "Sorry for the dented kettle."
    others = shop.customer()
    assert store_credit_of(shop, others) == 0
    assert shop.placed(others, {product: 1}, store_credit=True)["credits"] == []


def test_guests_have_no_store_credit(shop: Shop) -> None:
    guest, product = requests.Session(), shop.product()
    refused = shop.order(guest, {product: 1}, email="guest@example.com", store_credit=True)
    assert refused.status_code == 422
    assert "Log in" in refused.json()["errors"]["store_credit"][0]
    order = shop.placed(guest, {product: 1}, email="guest@example.com")
    answer = shop.post(
        shop.admin, f"/v1/admin/orders/{order['orderid']}/refunds", {"amount": 100, "to": "store_credit"}
    )
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["to"])


def test_sales_count_what_a_gift_card_pays_as_revenue_once(
    shop: Shop, customer: Person, deps: Dependencies
) -> None:
    """A card that staff issued is nothing that was sold; what is bought with it is."""

    def gross() -> int:
        groups = shop.get(shop.admin, "/v1/admin/reports/sales").json()["groups"]
        return sum(group["total"]["gross"]["amount"] for group in groups if group["currency"] == "GBP")

    deps.reports.catch_up()
    before = gross()
    card = issued(shop, 5000)
    shop.placed(customer, {shop.product(price=1250, delivery=250): 1}, gift_cards=[card["code"]])
    deps.reports.catch_up()
    assert gross() == before + 1500


def test_entries_that_replicas_wrote_apart_are_both_kept(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    """Two replicas that met again: the number of one goes on at the end of the chain, once."""
    from services.orders.actions import credits
    from services.orders.declarations.credits import GIFT_CARD
    from services.orders.rules.credits import Change, CreditKey

    card = issued(shop, 1000)
    key = CreditKey(GIFT_CARD, card["id"], "GBP")
    chain = deps.credits.chain(key)
    one, other = (
        chain.following(Change(-300, "spent", each, "guest", orderid=each)) for each in ("one", "two")
    )
    assert deps.credits.write(one)
    conflict = {**other, "_rev": f"1-{secrets.token_hex(16)}"}
    database._client.call(
        "post_bulk_docs", db=database.name, bulk_docs={"docs": [conflict], "new_edits": False}
    )
    for _ in range(2):
        credits.give_back(
            deps, {"kind": GIFT_CARD, "id": card["id"], "name": "", "amount": money(1, "GBP")}, "none"
        )
    assert left_on(shop, card) == 400
    assert not deps.credits.chain(key).conflicts
    reasons = [entry["reason"] for entry in card_of(shop, card)["entries"]]
    assert reasons == ["issued", "spent", "spent", "closed"]


def test_who_places_an_order_at_the_wrong_network_is_limited(shop: Shop, environment: dict[str, str]) -> None:
    """Guesses are counted by network; after so many no code is looked up, not even a right one."""
    from dataclasses import replace

    from services.orders.actions.gift_cards import GiftCardNotValid, balance_of_code
    from shared.errors import TooManyRequests

    settings = load(Settings, environment)
    deps = open_dependencies(replace(settings, gift_card_tries=3))
    code, network = issued(shop, 1000)["code"], f"10.{secrets.randbelow(250)}.{secrets.randbelow(250)}.7"
    for _ in range(3):
        assert balance_of_code(deps, code, network).amount == 1000
        with pytest.raises(GiftCardNotValid):
            balance_of_code(deps, "0000-0000-0000-0000", network)
    with pytest.raises(TooManyRequests):
        balance_of_code(deps, code, network)
    assert balance_of_code(deps, code, "10.251.1.7").amount == 1000


def test_a_card_ends_when_the_shop_says_so(
    shop: Shop, customer: Person, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from services.orders.actions import gift_cards

    deps = open_dependencies(replace(load(Settings, environment), gift_card_days=30))
    code = "AAAA-BBBB-" + secrets.token_hex(4).upper()
    gift_cards.issue(deps, code, money(1000, "GBP"), "user admin", "", "test")
    told = requests.post(f"{shop.orders}/v1/gift-cards/balance", json={"code": code}, timeout=30).json()
    assert told["expires"] == (now() + timedelta(days=30)).date().isoformat()
    body = checkout({shop.product(): 1}, gift_cards=[code])
    monkeypatch.setattr(gift_cards, "timestamp", lambda: "2999-01-01T00:00:00.000Z")
    with pytest.raises(gift_cards.GiftCardNotValid, match="could be used until"):
        place_order(deps, Buyer(customer.userid, network="10.9.9.9"), secrets.token_hex(8), body)
