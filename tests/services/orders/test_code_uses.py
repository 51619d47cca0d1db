"""A code with a limit is used as often as that, and not once more: however many come at once, to whichever replica, whatever dies."""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import requests

from services.orders.actions import promotions as desk
from services.orders.actions.checkout import reconcile
from services.orders.actions.code_uses import give_back, take
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import use_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.pricing import CodeUsedUp
from services.orders.settings import Settings
from services.orders.store.settings import MAX_AGE_SECONDS
from shared.couch import Database
from shared.errors import Unavailable
from shared.settings import load
from tests.forwarding import cut_off, forwarding
from tests.patience import patient
from tests.people import ADDRESS, Person
from tests.services.orders.conftest import Shop, calls, checkout, clone, insisting
from tests.services.orders.crashes import STEPS, checkout_that_dies
from tests.services.orders.test_promotions import code, promotion, quoted
from tests.waiting import Holds, eventually

CHECKOUTS, USES, CLIENTS = 300, 100, 16


def used(shop: Shop, made: dict[str, Any]) -> int:
    return shop.get(shop.admin, f"/v1/admin/promotions/{made['id']}/uses").json()["used"]


def discounted(database: Database, ten: str) -> list[str]:
    """Ids of the orders of this code that are paid and not cancelled."""
    found = Counter[str]()
    for doc in (change.doc or {} for change in database.changes(limit=100_000).rows):
        if doc.get("type") == "order" and any(use["code"] == ten for use in doc.get("uses", [])):
            found[doc["orderid"]] += 1
        elif doc.get("type") in ("orderpayment", "cancellation"):
            found[doc["orderid"]] += 10 if doc["type"] == "orderpayment" else 100
    return [orderid for orderid, sum in found.items() if sum == 11]


def test_three_hundred_at_once_use_a_code_of_a_hundred_a_hundred_times(
    shop: Shop,
    replica: str,
    database: Database,
    holds: Holds,
    stock_comes_to: Callable[[str, int], None],
) -> None:
    ten, product = code(), shop.product(price=1000, stock=2 * CHECKOUTS)
    made = promotion(shop, codes=[ten], limit=USES)
    people = [shop.customer() for _ in range(4)]
    eventually(lambda: quoted(replica, {product: 1}, ten).status_code == 200)

    def buy(number: int) -> str:
        person, at = (
            clone(people[number % len(people)]),
            replace(shop, orders=(shop.orders, replica)[number % 2]),
        )
        answer = insisting(at, person, {product: 1}, codes=[ten])
        return "sold" if answer.status_code == 201 else str(answer.json()["code"])

    with ThreadPoolExecutor(CLIENTS) as pool:
        outcomes = Counter(pool.map(buy, range(CHECKOUTS)))
    assert outcomes == {"sold": USES, "code_used_up": CHECKOUTS - USES}
    holds(lambda: len(discounted(database, ten)) == USES == used(shop, made))
    stock_comes_to(product, 2 * CHECKOUTS - USES)
    assert quoted(shop.orders, {product: 1}, ten).json()["code"] == "code_used_up"


def test_a_code_with_a_limit_costs_one_query_and_one_write_more(
    shop: Shop, customer: Person, database: Database, holds: Holds
) -> None:
    """And a read of the slot before it is claimed, where several nodes have it."""
    limited, unlimited, product = code(), code(), shop.product(price=1000)
    promotion(shop, codes=[limited], limit=10, per_customer=5)
    promotion(shop, codes=[unlimited])
    holds(lambda: calls(quoted(shop.orders, {product: 1}, limited, unlimited))["read"] == 0)
    shop.placed(customer, {product: 1})
    plain = calls(shop.order(customer, {product: 1}))
    assert calls(shop.order(customer, {product: 1}, codes=[unlimited])) == plain
    counted = calls(shop.order(customer, {product: 1}, codes=[limited]))
    more = {"partition": 1, "write": 1, "read": 0 if database.has_one_copy else 1}
    assert counted == plain | {kind: plain[kind] + count for kind, count in more.items()}


def test_a_declined_payment_gives_the_use_back(shop: Shop, customer: Person, holds: Holds) -> None:
    ten, product = code(), shop.product(price=1000)
    made = promotion(shop, codes=[ten], limit=1, per_customer=1)
    for _ in range(2):
        declined = shop.order(customer, {product: 1}, token="tok_declined", codes=[ten])
        assert declined.status_code == 402 or declined.json()["code"] == "payment_declined", declined.text
        holds(lambda: used(shop, made) == 0)
    shop.placed(customer, {product: 1}, codes=[ten])
    holds(lambda: used(shop, made) == 1)
    assert shop.order(customer, {product: 1}, codes=[ten]).json()["code"] == "code_used_up"


def test_a_cancelled_order_gives_the_use_back(shop: Shop, customer: Person, holds: Holds) -> None:
    ten, product = code(), shop.product(price=1000)
    made = promotion(shop, codes=[ten], limit=1, per_customer=1)
    order = shop.placed(customer, {product: 1}, codes=[ten])
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {"reason": ""}).ok
    holds(lambda: used(shop, made) == 0)
    shop.placed(customer, {product: 1}, codes=[ten])


def test_what_a_customer_gave_back_is_no_use_for_others(
    shop: Shop, customer: Person, deps: Dependencies, holds: Holds
) -> None:
    """A use that is free again for one customer is none of the promotion's slots, and hides none."""
    ten, product, other = code(), shop.product(price=1000), shop.customer()
    made = promotion(shop, codes=[ten], limit=1, per_customer=3)
    order = shop.placed(other, {product: 1}, codes=[ten])
    assert shop.post(other, f"/v1/orders/{order['orderid']}/cancellation", {"reason": ""}).ok
    holds(lambda: [slot["number"] for slot in deps.promotions.free_uses(made["id"], count=9)] == [1])
    shop.placed(customer, {product: 1}, codes=[ten])
    holds(lambda: deps.promotions.free_uses(made["id"], count=9) == [])
    assert quoted(shop.orders, {product: 1}, ten).json()["code"] == "code_used_up"
    assert shop.order(other, {product: 1}, codes=[ten]).json()["code"] == "code_used_up"


def test_each_customer_has_their_own_uses_and_guests_are_told_apart_by_e_mail(
    shop: Shop, customer: Person
) -> None:
    twice, product, other = code(), shop.product(price=1000), shop.customer()
    promotion(shop, codes=[twice], per_customer=2)
    for person in (customer, customer, other):
        shop.placed(person, {product: 1}, codes=[twice])
    refused = shop.order(customer, {product: 1}, key="third", codes=[twice])
    assert (refused.status_code, refused.json()["code"]) == (422, "code_not_valid")
    assert refused.json()["reason"] == "per_customer"
    again = shop.order(customer, {product: 1}, key="third", codes=[twice])
    assert (again.status_code, again.json()["code"]) == (422, "code_not_valid"), (
        "the same key, the same answer"
    )
    assert quoted(shop.orders, {product: 1}, twice, by=customer).json()["reason"] == "per_customer"
    assert quoted(shop.orders, {product: 1}, twice, by=other).status_code == 200
    guests = [
        shop.order(requests.Session(), {product: 1}, codes=[twice], email=email, address=ADDRESS).status_code
        for email in ("eve@example.com", "EVE@example.com", "eve@example.com", "eva@example.com")
    ]
    assert guests == [201, 201, 422, 201]


def test_one_customer_who_comes_ten_times_at_once_is_served_once(shop: Shop, replica: str) -> None:
    once, product, person = code(), shop.product(price=1000), shop.customer()
    promotion(shop, codes=[once], per_customer=1)
    eventually(lambda: quoted(replica, {product: 1}, once).status_code == 200)

    def buy(number: int) -> int:
        at = replace(shop, orders=(shop.orders, replica)[number % 2])
        return insisting(at, clone(person), {product: 1}, codes=[once]).status_code

    with ThreadPoolExecutor(10) as pool:
        assert Counter(pool.map(buy, range(10))) == {201: 1, 422: 9}


@pytest.mark.parametrize("step", STEPS)
def test_a_checkout_that_died_is_carried_on_with_the_use_it_has(
    shop: Shop, customer: Person, environment: dict[str, str], holds: Holds, step: str
) -> None:
    ten, product, key = code(), shop.product(stock=3), secrets.token_hex(8)
    made = promotion(shop, codes=[ten], limit=1, per_customer=1)
    body = checkout({product: 1}, codes=[ten])
    orderid = checkout_that_dies(environment, customer.userid, key, body, step)
    answer = insisting(shop, customer, {product: 1}, key=key, codes=[ten])
    assert (answer.status_code, answer.json().get("orderid")) == (201, orderid), answer.text
    holds(lambda: used(shop, made) == 1)


@pytest.mark.parametrize("step", STEPS[:-2])
def test_what_died_and_nobody_repeats_gives_its_use_back(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    holds: Holds,
    step: str,
) -> None:
    """As the sweep does within a minute; a request that was only slow finds its attempt ended, and takes nothing."""
    ten, product = code(), shop.product(stock=3)
    made = promotion(shop, codes=[ten], limit=1, per_customer=1)
    body = checkout({product: 1}, codes=[ten])
    orderid = checkout_that_dies(environment, customer.userid, secrets.token_hex(8), body, step)
    found = left_behind(deps, orderid)
    assert reconcile(deps, found).cancellation is not None
    holds(lambda: used(shop, made) == 0)
    assert not take(deps, found)
    give_back(deps, found)
    holds(lambda: used(shop, made) == 0)
    shop.placed(customer, {product: 1}, codes=[ten])


def left_behind(deps: Dependencies, orderid: str) -> OrderDocuments:
    """What a checkout that died has written: of a cluster's nodes the one that is asked may have it a little later."""
    found = deps.orders.order(orderid)
    if deps.orders.database.has_one_copy:
        return found
    return eventually(lambda: found if (found := deps.orders.order(orderid)).exists else None)


def two_with_one_slot(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, ten: str
) -> list[OrderDocuments]:
    body = checkout({shop.product(stock=9): 1}, codes=[ten])
    return [
        left_behind(
            deps, checkout_that_dies(environment, customer.userid, secrets.token_hex(8), body, "intent")
        )
        for _ in range(2)
    ]


def test_who_loses_a_slot_takes_another_and_gives_that_back(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, holds: Holds
) -> None:
    """Two orders that chose the same slot when they were priced."""
    ten = code()
    made = promotion(shop, codes=[ten], limit=1)
    first, second = two_with_one_slot(shop, customer, environment, deps, ten)
    path = f"{shop.orders}/v1/admin/promotions/{made['id']}"
    content = {name: made[name] for name in ("name", "codes", "actions")}
    assert shop.admin.put(path, json=content | {"limit": 2}, timeout=30).ok
    desk.add_slots(deps, made["id"], 2)
    for found in (first, second, second):
        assert take(deps, found)
    holds(lambda: used(shop, made) == 2)
    give_back(deps, second)
    holds(lambda: used(shop, made) == 1)
    assert not take(deps, second), "its attempt has ended"
    assert take(deps, first)
    give_back(deps, first)
    holds(lambda: used(shop, made) == 0)


def test_what_one_node_of_a_cluster_kept_of_a_refused_claim_is_no_claim(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    database: Database,
    holds: Holds,
) -> None:
    """It may even be what the database shows: a node stores what the majority refuses, and of two revisions the higher wins."""
    ten = code()
    made = promotion(shop, codes=[ten], limit=1)
    first, second = two_with_one_slot(shop, customer, environment, deps, ten)
    assert take(deps, first)
    slot = second.order["uses"][0]["slot"]
    docid = use_key(made["id"], slot["number"])
    kept = database.get(docid) | {"orderid": second.order["orderid"]}
    history = {"start": 2, "ids": ["f" * 32, slot["rev"].partition("-")[2]]}
    del kept["_rev"]
    database._client.call(
        "post_bulk_docs",
        db=database.name,
        bulk_docs={"docs": [{**kept, "_revisions": history}], "new_edits": False},
    )
    assert database.get(docid)["orderid"] == second.order["orderid"]
    with pytest.raises(CodeUsedUp):
        take(deps, second)

    def stored() -> tuple[str, bool]:
        """A node that has not got the end of the refused claim yet shows it for a moment."""
        found = database.get(docid, conflicts=True)
        return found["orderid"], "_conflicts" in found

    holds(lambda: stored() == (first.order["orderid"], False))
    give_back(deps, second)
    holds(lambda: used(shop, made) == 1)


@pytest.mark.parametrize("limits", [{"limit": 1}, {"per_customer": 1}], ids=["limit", "per customer"])
def test_what_too_few_nodes_of_a_cluster_took_is_no_claim(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    couch_url: str,
    holds: Holds,
    limits: dict[str, int],
) -> None:
    """CouchDB says 202 and `accepted`: another order may be told the same."""
    ten = code()
    made = promotion(shop, codes=[ten], **limits)
    first, second = two_with_one_slot(shop, customer, environment, deps, ten)
    with forwarding(couch_url, cut_off) as url:
        lonely = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        with pytest.raises(Unavailable):
            take(lonely, first)
        with pytest.raises(Unavailable):
            give_back(lonely, first)
    if "limit" in limits:
        slots = deps.promotions.read([use_key(made["id"], 1)]).values()
        assert [(use["free"], use["orderid"]) for use in slots] == [(False, first.order["orderid"])]
    give_back(deps, first)
    holds(lambda: used(shop, made) == 0)
    assert take(deps, second)


def test_a_limit_is_raised_lowered_and_of_a_large_one_slots_follow(
    shop: Shop, customer: Person, deps: Dependencies, database: Database, holds: Holds
) -> None:
    ten, product = code(), shop.product(stock=99)
    made = promotion(shop, codes=[ten], limit=250)

    def slots() -> int:
        return len(deps.promotions.uses(made["id"]))

    holds(lambda: slots() == 100)
    for expected in (200, 250, 250):
        desk.add_slots(deps, made["id"], 250)
        holds(lambda expected=expected: slots() == expected)
    for _ in range(3):
        shop.placed(customer, {product: 1}, codes=[ten])
    path = f"{shop.orders}/v1/admin/promotions/{made['id']}"
    content = {name: made[name] for name in ("name", "codes", "actions")}

    def limit(number: int) -> None:
        holds(lambda: used(shop, made) == number - 1)
        changed = content | {"limit": number}
        assert patient(lambda: shop.admin.put(path, json=changed, timeout=30)).ok
        if not database.has_one_copy:
            time.sleep(
                MAX_AGE_SECONDS + 1
            )  # until then the terms may be what a node that was behind had listed
            holds(lambda: slots() == number)

    limit(4)
    assert used(shop, made) == 3
    shop.placed(customer, {product: 1}, codes=[ten])
    assert shop.order(customer, {product: 1}, codes=[ten]).json()["code"] == "code_used_up"
    limit(5)
    shop.placed(customer, {product: 1}, codes=[ten])
    holds(lambda: used(shop, made) == 5)


def test_a_limit_that_was_lowered_holds_for_an_order_that_was_priced_before(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, holds: Holds
) -> None:
    """Its slot has gone: it had more made, up to the limit that it knew. So did whoever had the promotion as it was."""
    ten = code()
    made = promotion(shop, codes=[ten], limit=250)
    first, second = two_with_one_slot(shop, customer, environment, deps, ten)
    assert take(deps, first)
    holds(lambda: used(shop, made) == 1)
    content = {name: made[name] for name in ("name", "codes", "actions")} | {"limit": 1}
    path = f"{shop.orders}/v1/admin/promotions/{made['id']}"
    assert shop.admin.put(path, json=content, timeout=30).ok
    holds(lambda: len(deps.promotions.uses(made["id"])) == 1)
    with pytest.raises(CodeUsedUp):
        take(deps, second)
    holds(lambda: used(shop, made) == len(deps.promotions.uses(made["id"])) == 1)


@pytest.mark.parametrize("limits", [{"limit": 1}, {"per_customer": 1}], ids=["limit", "per customer"])
def test_a_claim_that_one_node_alone_may_have_is_confirmed_by_most_before_it_counts(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    couch_url: str,
    holds: Holds,
    limits: dict[str, int],
) -> None:
    """The node is cut off and the answer to the first claim was lost: asked again it shows the claim, and refuses it as one that is there."""
    ten = code()
    made = promotion(shop, codes=[ten], **limits)
    [first, _] = two_with_one_slot(shop, customer, environment, deps, ten)
    assert take(deps, first)
    with forwarding(couch_url, cut_off) as url:
        alone = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        with pytest.raises(Unavailable):
            take(alone, first)
    assert take(deps, first), "joined again, most nodes have it"
    if "limit" in limits:
        holds(lambda: used(shop, made) == 1)
