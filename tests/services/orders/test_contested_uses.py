"""A node of a cluster keeps what the others refused, and the refused writer dies before it takes its revision back: nobody loses a use
or a code that they were told they have, and no limit is passed."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest

from services.orders.actions.code_uses import give_back, settle
from services.orders.actions.conflicts import settle_conflicts
from services.orders.actions.fulfilment import advance_order
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import PROMOTION_USE, code_key, customer_use_key, use_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.order_errors import OrderBehind
from services.orders.settings import Settings
from shared.couch import Database
from shared.settings import load
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.lagging import listing_none_of
from tests.services.orders.test_code_uses import used
from tests.services.orders.test_promotions import code, promotion
from tests.waiting import settles

EARLIER = "2020-01-01T00:00:00.000Z"


class Race:
    """Two orders that chose the only slot of a code: the first is paid unless it is left `open_`, of the second a refused claim is left
    which the database shows, written a moment earlier."""

    def __init__(
        self, shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, *, open_: bool
    ) -> None:
        self.code, self.product = code(), shop.product(stock=9)
        self.made = promotion(shop, codes=[self.code], limit=1)
        body, key = checkout({self.product: 1}, codes=[self.code]), secrets.token_hex(8)
        step = "charge" if open_ else "intent"
        self.second = self._died(customer, environment, deps, body, secrets.token_hex(8), "intent")
        self.first = self._died(customer, environment, deps, body, key, step)
        if not open_:
            assert shop.order(customer, {self.product: 1}, key, codes=[self.code]).status_code == 201
        self.slot = use_key(self.made["id"], 1)

    def _died(
        self,
        customer: Person,
        environment: dict[str, str],
        deps: Dependencies,
        body: dict[str, Any],
        key: str,
        step: str,
    ) -> OrderDocuments:
        orderid = checkout_that_dies(environment, customer.userid, key, body, step)
        settles(lambda: deps.orders.order(orderid).exists)
        return deps.orders.order(orderid)

    def keep_refused_claim(self, database: Database) -> None:
        planned = self.second.order["uses"][0]["slot"]["rev"].partition("-")[2]
        kept = database.get(self.slot) | {"orderid": self.second.order["orderid"], "date": EARLIER}
        del kept["_rev"]
        left_beside(database, kept, {"start": 2, "ids": ["f" * 32, planned]})
        assert database.get(self.slot)["orderid"] == self.second.order["orderid"]


def left_beside(database: Database, doc: dict[str, Any], history: dict[str, Any]) -> None:
    docs = {"docs": [doc | {"_revisions": history}], "new_edits": False}
    database._client.call("post_bulk_docs", db=database.name, bulk_docs=docs)


def holder(database: Database, docid: str) -> tuple[str, bool]:
    stored = database.get(docid, conflicts=True)
    return stored["orderid"], "_conflicts" in stored


def once_settled(deps: Dependencies, look: Callable[[], bool]) -> None:
    """Checks `look` after conflicts were settled: at once, or on a cluster, whose index may not name one yet, when they were settled again."""

    def settled() -> bool:
        settle_conflicts(deps)
        return look()

    settles(settled)


def test_the_order_that_paid_keeps_its_use(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> None:
    race = Race(shop, customer, environment, deps, open_=False)
    race.keep_refused_claim(database)
    once_settled(deps, lambda: holder(database, race.slot) == (race.first.order["orderid"], False))
    give_back(deps, race.second)
    assert used(shop, race.made) == 1


def test_a_refused_claim_that_is_given_back_frees_nothing(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> None:
    race = Race(shop, customer, environment, deps, open_=False)
    race.keep_refused_claim(database)
    give_back(deps, race.second)
    assert holder(database, race.slot) == (race.first.order["orderid"], False)
    again = shop.order(customer, {race.product: 1}, codes=[race.code])
    assert (again.status_code, again.json()["code"]) == (409, "code_used_up")


def test_while_two_orders_are_open_nothing_is_decided(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> None:
    race = Race(shop, customer, environment, deps, open_=True)
    race.keep_refused_claim(database)
    settle_conflicts(deps)
    assert len(deps.orders.leaves(race.slot)) == 2
    give_back(deps, race.second)
    settles(lambda: holder(database, race.slot) == (race.first.order["orderid"], False))
    give_back(deps, race.first)
    assert used(shop, race.made) == 0


def shown_beside(database: Database, docid: str, orderid: str) -> None:
    """The claim of another order, written earlier, which the database shows."""
    present = database.get(docid)
    kept = {**present, "orderid": orderid, "free": False, "date": EARLIER}
    del kept["_rev"]
    left_beside(database, kept, {"start": int(present["_rev"].partition("-")[0]), "ids": ["f" * 32]})
    assert database.get(docid)["orderid"] == orderid


def uses_of(deps: Dependencies, ids: list[str]) -> dict[str, str]:
    """Which order has which use."""
    return {docid: use["orderid"] for docid, use in deps.promotions.read(ids).items() if not use["free"]}


def bought(shop: Shop, customer: Person, ten: str, number: int) -> list[str]:
    """Orders that were paid with the code."""
    product = shop.product(stock=9)
    orders = [shop.placed(customer, {product: 1}, codes=[ten]) for _ in range(number)]
    return [order["orderid"] for order in orders]


@pytest.mark.parametrize("has_another", [True, False])
def test_of_a_customers_uses_each_paid_order_has_one(
    shop: Shop, customer: Person, deps: Dependencies, database: Database, has_another: bool
) -> None:
    """Also the later one of two that wrote the same one: it has another, or takes one that is left."""
    ten = code()
    promotion(shop, codes=[ten], per_customer=2)
    first, second = bought(shop, customer, ten, 2)
    (planned,) = deps.orders.order(first).order["uses"]
    ids = [customer_use_key(planned["promotion"], planned["customer"], number) for number in (1, 2)]
    assert uses_of(deps, ids) == {ids[0]: first, ids[1]: second}
    shown_beside(database, ids[0], second)
    if not has_another:
        database.delete(ids[1], database.get(ids[1])["_rev"])
    once_settled(deps, lambda: not any(holder(database, docid)[1] for docid in ids))
    assert sorted(uses_of(deps, ids).values()) == sorted([first, second])
    if has_another:
        assert uses_of(deps, ids) == {ids[0]: first, ids[1]: second}


@pytest.mark.parametrize("at_once", [False, True])
def test_two_workers_that_settle_two_slots_leave_every_paid_order_one(
    shop: Shop,
    customer: Person,
    deps: Dependencies,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    at_once: bool,
) -> None:
    ten = code()
    made = promotion(shop, codes=[ten], limit=3)
    orders = bought(shop, customer, ten, 3)
    ids = [use_key(made["id"], number) for number in (1, 2, 3)]
    slots = {orderid: docid for docid, orderid in uses_of(deps, ids).items()}
    contested = orders[2]
    database.put({**database.get(slots[contested]), "orderid": "", "free": True})
    for orderid in orders[:2]:
        shown_beside(database, slots[orderid], contested)
    if at_once:
        before = deps.promotions.uses(made["id"])
        monkeypatch.setattr(type(deps.promotions), "uses", lambda *_: before)
    for orderid in orders[:2]:
        assert settle(deps, PROMOTION_USE.among(deps.orders.leaves(slots[orderid]))) == 1
    assert sorted(uses_of(deps, ids).values()) == sorted(orders)
    assert used(shop, made) == 3


def test_a_code_stays_with_the_promotion_that_has_it(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    ten = code()
    made = promotion(shop, codes=[ten])
    refused = database.get(code_key(ten)) | {"promotion": "never-written", "date": EARLIER}
    del refused["_rev"]
    left_beside(database, refused, {"start": 1, "ids": ["f" * 32]})
    assert database.get(code_key(ten))["promotion"] == "never-written"

    def stored() -> tuple[str, bool]:
        found = database.get(code_key(ten), conflicts=True)
        return found["promotion"], "_conflicts" in found

    once_settled(deps, lambda: stored() == (made["id"], False))


def test_no_node_that_does_not_list_a_paid_order_yet_takes_its_use_away(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    database: Database,
    couch_url: str,
) -> None:
    """That there is no such order was believed of one node's list: another order had the use then, and the code was used too often."""
    race = Race(shop, customer, environment, deps, open_=False)
    race.keep_refused_claim(database)
    with listing_none_of(
        race.first.order["orderid"], race.second.order["orderid"], couch_url=couch_url
    ) as url:
        behind = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        assert settle_conflicts(behind) == 0
    assert len(deps.orders.leaves(race.slot)) == 2
    once_settled(deps, lambda: holder(database, race.slot) == (race.first.order["orderid"], False))


def test_a_job_that_asks_a_node_which_does_not_list_its_order_comes_again(
    shop: Shop, customer: Person, environment: dict[str, str], couch_url: str
) -> None:
    """It ended there, and the order waited for the sweep."""
    order = shop.placed(customer, {shop.product(): 1})
    with listing_none_of(order["orderid"], couch_url=couch_url) as url:
        behind = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        with pytest.raises(OrderBehind):
            advance_order(behind, order["orderid"])
        assert advance_order(behind, "nobody") is None
