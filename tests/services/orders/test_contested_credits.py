"""A node of a cluster keeps what the others refused, and the refused writer dies before it takes its entry back: no card pays two orders."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
import pytest

from services.orders.actions import credits, fulfilment
from services.orders.actions.conflicts import settle_conflicts
from services.orders.declarations.credits import GIFT_CARD, REFUNDED, SPENT, CreditEntry, CreditPayment
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.rules.credits import BalanceSpent, Change, CreditKey, credits_of, key_of
from services.orders.settings import Settings
from shared.couch import Database
from shared.errors import Unavailable
from shared.money import money
from shared.settings import load
from tests.forwarding import Forward, Response, as_one_of_three, cut_off, forwarding
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.gift_cards import card_of, issued, left_on
from tests.services.orders.lagging import listing_none_of
from tests.services.orders.test_contested_uses import EARLIER, left_beside
from tests.waiting import settles


@dataclass
class Emptied:
    """A card that paid an order whole, and the refused entry of another one, which died, beside that order's, as the one that is shown."""

    card: dict[str, Any]
    product: str
    paid: str
    died: str
    key: str
    """Under which the one that died is sent again."""


@pytest.fixture
def emptied(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> Emptied:
    card, product = issued(shop, 1500), shop.product(price=1250, delivery=250, stock=9)
    key, body = secrets.token_hex(8), checkout({product: 1}, gift_cards=[card["code"]])
    died = checkout_that_dies(environment, customer.userid, key, body, "intent")
    paid = shop.placed(customer, {product: 1}, gift_cards=[card["code"]])["orderid"]
    assert left_on(shop, card) == 0
    beside(database, spent_by(database, deps, died), died, EARLIER)
    return Emptied(card, product, paid, died, key)


def test_a_card_that_a_paid_order_emptied_pays_no_order_that_died_beside_it(
    shop: Shop, customer: Person, deps: Dependencies, emptied: Emptied
) -> None:
    settles(lambda: settle_conflicts(deps) > 0)
    assert left_on(shop, emptied.card) == 0
    again = shop.order(customer, {emptied.product: 1}, emptied.key, gift_cards=[emptied.card["code"]])
    assert (again.status_code, again.json()["code"]) == (409, "balance_spent"), again.text
    assert left_on(shop, emptied.card) == 0


def test_no_node_that_does_not_list_a_paid_order_yet_gives_its_money_back_to_the_card(
    shop: Shop, environment: dict[str, str], deps: Dependencies, couch_url: str, emptied: Emptied
) -> None:
    """That there is no such order was believed of one node's list: the card had the money again, and the buyer the goods."""
    with listing_none_of(emptied.paid, emptied.died, couch_url=couch_url) as url:
        behind = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        assert settle_conflicts(behind) == 0
    settles(lambda: settle_conflicts(deps) > 0)
    assert left_on(shop, emptied.card) == 0


def spent_by(database: Database, deps: Dependencies, orderid: str) -> dict[str, Any]:
    (credit,) = credits_of(deps.orders.order(orderid).order)
    return database.get(key_of(credit).entry_id(2))


def beside(database: Database, spent: dict[str, Any], orderid: str, date: str) -> None:
    """The entry of another order under the same number, which the database shows."""
    other = {**spent, "orderid": orderid, "reference": orderid, "mark": "0", "date": date}
    del other["_rev"]
    left_beside(database, other, {"start": 1, "ids": ["f" * 32]})


@pytest.mark.parametrize("date", [EARLIER, "2100-01-01T00:00:00.000Z"])
def test_of_two_open_orders_that_empty_a_card_one_has_it_and_the_other_is_told(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    database: Database,
    date: str,
) -> None:
    card, product = issued(shop, 1500), shop.product(price=1250, delivery=250, stock=9)
    keys, body = [secrets.token_hex(8) for _ in range(2)], checkout({product: 1}, gift_cards=[card["code"]])
    other = checkout_that_dies(environment, customer.userid, keys[1], body, "intent")
    first = checkout_that_dies(environment, customer.userid, keys[0], body, "claim")
    beside(database, spent_by(database, deps, first), other, date)
    settles(lambda: settle_conflicts(deps) > 0)
    assert left_on(shop, card) == 0
    won, lost = (keys[1], keys[0]) if date == EARLIER else (keys[0], keys[1])
    told = shop.order(customer, {product: 1}, lost, gift_cards=[card["code"]])
    assert (told.status_code, told.json()["code"]) == (409, "balance_spent"), told.text
    paid = shop.order(customer, {product: 1}, won, gift_cards=[card["code"]])
    assert (paid.status_code, paid.json()["payment"]["total"]["amount"]) == (201, 1500), paid.text
    assert left_on(shop, card) == 0


def test_an_order_that_was_told_it_has_the_card_stands_in_its_chain_whatever_was_decided(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> None:
    """Its entry gave way while it was being charged: the card owes what it paid twice, and no money is lost from the books."""
    card, product = issued(shop, 1500), shop.product(price=1250, delivery=250, stock=9)
    body = checkout({product: 1}, gift_cards=[card["code"]])
    other = checkout_that_dies(environment, customer.userid, secrets.token_hex(8), body, "intent")
    order = shop.placed(customer, {product: 1}, gift_cards=[card["code"]])
    spent = spent_by(database, deps, order["orderid"])
    database.put({**spent, "orderid": other, "reference": other, "mark": "0"})
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    found = card_of(shop, card)
    assert found["balance"]["amount"] == -1500
    assert [entry.get("orderid") for entry in found["entries"][1:]] == [other, order["orderid"]]


@dataclass
class Node:
    """In front of the database, a node of a cluster: while it `lags` its next list of a card is an earlier one, and while it `lacks` them it has
    no revision beside the one that is shown."""

    lags: bool = False
    lacks: bool = False
    listed: list[Response] = field(default_factory=list)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        if self.lacks and "rev=" in path:
            return 404, {"Content-Type": "application/json"}, b'{"error":"not_found","reason":"missing"}'
        if "/_partition/giftcard" not in path or "/_all_docs" not in path:
            return forward()
        if self.lags:
            self.lags = False
            return self.listed[-1]
        self.listed.append(forward())
        return self.listed[-1]


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def behind(shop: Shop, couch_url: str, environment: dict[str, str], node: Node) -> Iterator[Dependencies]:
    with forwarding(couch_url, node.answer) as url:
        yield open_dependencies(load(Settings, {**environment, "COUCH_URL": url}))


def contested(shop: Shop, database: Database) -> CreditKey:
    card = issued(shop, 1000)
    key = CreditKey(GIFT_CARD, card["id"], "GBP")
    other = {**database.get(key.entry_id(1)), "mark": "0"}
    del other["_rev"]
    left_beside(database, other, {"start": 1, "ids": ["f" * 32]})
    return key


def test_a_conflict_that_another_worker_has_settled_holds_nobody_up(
    shop: Shop, deps: Dependencies, database: Database, behind: Dependencies, node: Node
) -> None:
    if not database.has_one_copy:
        pytest.skip("of lists, which a cluster is not asked for")
    key = contested(shop, database)
    assert behind.credits.chain(key).conflicts
    settles(lambda: settle_conflicts(deps) > 0)
    node.lags = True
    assert credits.add(behind, key, Change(100, REFUNDED, "one", "shop")).balance == 1100
    assert not node.lags
    assert deps.credits.chain(key).balance == 1100


def test_an_entry_that_one_node_alone_has_kept_is_none(
    shop: Shop, database: Database, behind: Dependencies, node: Node
) -> None:
    if not database.has_one_copy:
        pytest.skip("of lists, which a cluster is not asked for")
    key = contested(shop, database)
    node.lacks = True
    assert credits.add(behind, key, Change(100, REFUNDED, "one", "shop")).balance == 1100


def test_an_entry_that_one_node_alone_may_have_is_confirmed_by_most_before_it_counts(
    shop: Shop, database: Database, deps: Dependencies, environment: dict[str, str], couch_url: str
) -> None:
    """The node is cut off and the answer to the first write was lost: sent again it is refused as one that is there."""
    key = CreditKey(GIFT_CARD, issued(shop, 1000)["id"], "GBP")
    entry = database.get(key.entry_id(1))
    del entry["_rev"]
    with forwarding(couch_url, cut_off) as url:
        alone = open_dependencies(load(Settings, {**environment, "COUCH_URL": url}))
        with pytest.raises(Unavailable):
            alone.credits.write(entry)
    assert deps.credits.write(entry), "joined again, most nodes have it"
    assert deps.credits.chain(key).balance == 1000


@pytest.fixture
def one_of_three(
    shop: Shop, couch_url: str, environment: dict[str, str], shown: dict[str, Any]
) -> Iterator[Dependencies]:
    """Where a card's list shows what is in `shown` in place of what the other nodes have, and lacks what is None there."""

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if "/_partition/giftcard" in path and "/_all_docs" in path:
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if shown.get(row["id"], row) is not None]
            rows = [row | {"doc": shown.get(row["id"], row.get("doc"))} for row in rows]
            return status, headers, orjson.dumps(found | {"rows": rows})
        return status, headers, as_one_of_three(method, path, content)

    with forwarding(couch_url, answer) as url:
        yield open_dependencies(load(Settings, {**environment, "COUCH_URL": url}))


@pytest.fixture
def shown() -> dict[str, Any]:
    return {}


def card_with(shop: Shop, balance: int) -> tuple[CreditKey, CreditPayment]:
    card = issued(shop, balance)
    paid: CreditPayment = {
        "kind": GIFT_CARD,
        "id": card["id"],
        "name": card["name"],
        "amount": money(balance - 100, "GBP"),
    }
    return key_of(paid), paid


def spent(deps: Dependencies, key: CreditKey, amount: int, orderid: str) -> CreditEntry:
    change = Change(-amount, SPENT, orderid, "guest", orderid=orderid)
    chain = credits.append(deps, key, lambda chain: change)
    return next(entry for entry in chain.entries if entry["reference"] == orderid)


def test_what_a_node_alone_kept_of_a_card_is_not_what_is_left_of_it(
    shop: Shop, deps: Dependencies, one_of_three: Dependencies, shown: dict[str, Any]
) -> None:
    """Who took 900 was quicker than who took 100; the node still shows the 100."""
    key, paid = card_with(shop, 1000)
    entry = spent(deps, key, 900, "quicker")
    shown[entry["_id"]] = {**entry, "delta": -100, "balance": 900, "mark": "0", "_rev": f"1-{'f' * 32}"}
    assert one_of_three.credits.chain(key).balance == 100
    with pytest.raises(BalanceSpent):
        credits.spend(one_of_three, paid, "slower", "guest")


def test_what_a_node_lacks_of_a_card_is_spent_all_the_same(
    shop: Shop, deps: Dependencies, one_of_three: Dependencies, shown: dict[str, Any]
) -> None:
    key, paid = card_with(shop, 1000)
    for number in range(1, 12):
        shown[spent(deps, key, 50, f"order{number}")["_id"]] = None
    with pytest.raises(BalanceSpent):
        credits.spend(one_of_three, paid, "late", "guest")
    assert spent(one_of_three, key, 50, "fits")["number"] == 13
    assert deps.credits.chain(key).balance == 400


def test_a_number_that_was_taken_back_hides_nothing_behind_it(
    shop: Shop, deps: Dependencies, one_of_three: Dependencies, database: Database
) -> None:
    key, paid = card_with(shop, 1000)
    entries = [spent(deps, key, 300, f"order{number}") for number in range(1, 4)]
    for entry in entries[:2]:
        deps.credits.remove(cast(CreditEntry, database.get(entry["_id"])))
    assert one_of_three.credits.chain(key).balance == 700
    with pytest.raises(BalanceSpent):
        credits.spend(one_of_three, paid, "late", "guest")
    assert spent(one_of_three, key, 50, "fits")["number"] == 2


def test_what_an_order_has_spent_at_one_node_alone_is_confirmed_before_it_counts(
    shop: Shop, deps: Dependencies, environment: dict[str, str], couch_url: str, one_of_three: Dependencies
) -> None:
    """The request is sent again, and the node that answers is the only one that has what the first one wrote."""
    key, paid = card_with(shop, 1000)
    credits.spend(deps, paid, "sent again", "guest")

    def alone_of_three(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = cut_off(method, path, body, forward)
        return status, headers, as_one_of_three(method, path, content)

    with forwarding(couch_url, alone_of_three) as url:
        alone = open_dependencies(load(Settings, {**environment, "COUCH_URL": url}))
        with pytest.raises(Unavailable):
            credits.spend(alone, paid, "sent again", "guest")
    credits.spend(one_of_three, paid, "sent again", "guest")
    assert deps.credits.chain(key).balance == 100
