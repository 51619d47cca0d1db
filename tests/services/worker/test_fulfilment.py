"""After the sale without people: confirmed, dispatched and delivered once; broken checkouts ended; nothing lost with Redis."""

import secrets
import time
from typing import Any

import pytest
import requests
from redis import Redis

from shared.couch import Database
from shared.jobs import ADVANCE_ORDER, CLOSE_PERIODS, QUEUE, enqueue, open_queue
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, Worker, checkout, until
from tests.services.orders.crashes import STEPS, checkout_that_dies
from tests.services.orders.test_died_checkouts import open_attempts
from tests.services.worker.processes import Worker as Processes

WHOLE = {
    "customer",
    "decision",
    "delivery",
    "dispatch",
    "item1",
    "notice-delivery",
    "notice-dispatch",
    "notice-payment",
    "order",
    "payment",
    "summary",
}


def keys(database: Database, orderid: str) -> set[str]:
    return {doc["_id"].partition(":")[2] for doc in database.partition(f"order{orderid}").all()}


def finished(
    shop: Shop, person: requests.Session, orderid: str, status: str = "delivered", seconds: float = 60
) -> dict[str, Any]:
    """The order as soon as it has this status; a failure says what is there instead."""
    path = f"/v1/orders/{orderid}"

    def reached() -> dict[str, Any] | None:
        found = shop.get(person, path).json()
        return found if found["status"] == status else None

    try:
        return until(reached, seconds)
    except AssertionError as error:
        failed = shop.get(shop.admin, "/v1/admin/dead-letters").json()
        raise AssertionError(f"{error}: {shop.get(shop.admin, path).json()}, dead letters {failed}") from None


def test_a_paid_order_is_confirmed_dispatched_and_delivered_with_a_mail_each(
    shop: Shop, worker: Worker, customer: Person, database: Database
) -> None:
    product = shop.product()
    customer.put(
        f"{shop.users}/v1/users/me/basket/{product}", json={"quantity": 2}, timeout=30
    ).raise_for_status()
    order = shop.placed(customer, {product: 2})
    found = finished(shop, customer, order["orderid"])
    assert [step["status"] for step in found["timeline"]] == ["placed", "paid", "dispatched", "delivered"]
    assert found["dispatch"]["courier"] == "sandbox"
    until(lambda: keys(database, order["orderid"]) == WHOLE)
    emails = [email for email in read_mail(shop.mail, customer.email) if order["number"] in email.subject]
    assert [email.subject.split(order["number"])[1] for email in emails[::-1]] == [
        "",
        " is on its way",
        " has arrived",
    ]
    assert emails[-1].text.count("Kettle") == 1
    basket = customer.get(f"{shop.users}/v1/users/me/basket", timeout=30).json()
    assert product not in str(basket)


def test_checkouts_that_died_are_ended_by_the_worker(
    shop: Shop, worker: Worker, database: Database, ledger: Database, environment: dict[str, str]
) -> None:
    person, stock = shop.customer(), {step: shop.product(stock=3) for step in STEPS}
    died = {
        step: checkout_that_dies(
            environment, person.userid, secrets.token_hex(8), checkout({stock[step]: 1}), step
        )
        for step in STEPS
    }
    for step in ("charge", "payment"):
        finished(shop, person, died[step])
        until(lambda step=step: keys(database, died[step]) == WHOLE)
        assert charges(ledger, died[step]) == ["paid"]
        assert shop.stock(stock[step]) == 2
    for step in ("intent", "reservation"):
        found = finished(shop, shop.admin, died[step], "cancelled")
        assert found["cancellation"]["reason"] == "abandoned"
        assert charges(ledger, died[step]) == ["void"]
        assert shop.stock(stock[step]) == 3
    assert not open_attempts(shop) & set(died.values())


def charges(ledger: Database, orderid: str) -> list[str]:
    return [doc["status"] for doc in ledger.partition(f"order{orderid}").all() if doc["type"] == "charge"]


def test_an_attempt_that_was_closed_cannot_be_paid_any_more(
    shop: Shop, worker: Worker, environment: dict[str, str]
) -> None:
    person, product, key = shop.customer(), shop.product(stock=3), secrets.token_hex(8)
    orderid = checkout_that_dies(environment, person.userid, key, checkout({product: 1}), "reservation")
    finished(shop, person, orderid, "cancelled")
    answer = shop.order(person, {product: 1}, key)
    assert (answer.status_code, answer.json()["code"]) == (409, "attempt_closed")
    assert shop.order(person, {product: 1}).status_code == 201


def test_an_emptied_redis_loses_nothing(
    shop: Shop, worker: Processes, customer: Person, database: Database, environment: dict[str, str]
) -> None:
    """The guard is the sweep: without it what was in the queue is never done, for the feed is past it."""
    redis, product = Redis.from_url(environment["REDIS_URL"]), shop.product()
    placed = []
    for _ in range(12):
        placed.append(shop.placed(customer, {product: 1})["orderid"])
        redis.flushall()
    for orderid in placed:
        finished(shop, customer, orderid)
        until(lambda orderid=orderid: keys(database, orderid) == WHOLE)


@pytest.mark.faults
def test_a_killed_worker_and_follower_go_on_where_they_were(
    shop: Shop, worker: Processes, customer: Person, database: Database
) -> None:
    """The guards are the place kept in the database and the sweep: either is enough for this."""
    product = shop.product()
    worker.kill("follower")
    first = shop.placed(customer, {product: 1})["orderid"]
    worker.kill("worker")
    second = shop.placed(customer, {product: 1})["orderid"]
    worker.restart("follower")
    worker.restart("worker")
    for orderid in (first, second):
        finished(shop, customer, orderid)
        until(lambda orderid=orderid: keys(database, orderid) == WHOLE)


def test_a_report_is_computed_by_the_worker_and_kept(shop: Shop, worker: Worker, customer: Person) -> None:
    shop.placed(customer, {shop.product(): 1})
    year = time.gmtime().tm_year
    wanted = {"kind": "sales", "from": f"{year}-01", "to": f"{year + 1}-01", "by": "day"}
    key = {"Idempotency-Key": secrets.token_hex(8)}
    made, again = (shop.post(shop.admin, "/v1/admin/reports", wanted, headers=key) for _ in range(2))
    assert made.status_code == 202, made.text
    assert again.json() == made.json()
    path = f"/v1/admin/reports/{made.json()['id']}"
    report = until(lambda: (found := shop.get(shop.admin, path).json())["status"] == "done" and found)
    assert report["progress"] == 1.0
    live = shop.get(
        shop.admin,
        "/v1/admin/reports/sales",
        params={"by": "day", "from": wanted["from"], "to": wanted["to"]},
    ).json()
    assert report["result"] == live
    assert live["rows"][-1]["orders"] >= 1
    other = shop.post(shop.admin, "/v1/admin/reports", {**wanted, "by": "hour"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    reports = "/v1/admin/reports"
    until(lambda: made.json()["id"] in {each["id"] for each in shop.get(shop.admin, reports).json()["items"]})


def test_the_worker_closes_the_last_days_and_month_once(
    shop: Shop, worker: Worker, environment: dict[str, str]
) -> None:
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 7 * 86_400))
    queue = open_queue(environment["REDIS_URL"])

    def closings() -> dict[str, str]:
        listed = shop.get(shop.admin, "/v1/admin/reports", params={"limit": 100}).json()["items"]
        return {each["id"]: each["date"] for each in listed if each["kind"].startswith("closing-")}

    enqueue(queue, CLOSE_PERIODS)
    first = until(lambda: len(found := closings()) >= 8 and found)
    assert f"day-{day}" in first
    assert [name for name in first if name.startswith("month-")]
    closed = shop.get(shop.admin, f"/v1/admin/reports/day-{day}").json()["result"]
    assert (closed["closings"], closed["equals_live"]) == (1, True)
    redis = Redis.from_url(environment["REDIS_URL"])
    enqueue(queue, CLOSE_PERIODS)
    until(lambda: not redis.llen(QUEUE))
    shop.placed(shop.customer(), {shop.product(): 1})
    assert closings() == first


def test_goods_that_come_back_are_in_stock_again_once(
    shop: Shop, worker: Worker, customer: Person, database: Database, environment: dict[str, str]
) -> None:
    """The guard is the return's reference in the stock's ledger: without it the job done again adds the units again."""
    product = shop.product(stock=10)
    order = shop.placed(customer, {product: 4})
    orderid = order["orderid"]
    finished(shop, customer, orderid)
    for quantity, stock in ((1, 7), (2, 9)):
        shop.sent_back(customer, orderid, {product: quantity})
        until(lambda stock=stock: shop.stock(product) == stock)
    returns = [doc for doc in database.partition(f"order{orderid}").all() if doc["type"] == "return"]
    marks = [f"order{orderid}:{back['reference']}restocked" for back in returns]
    until(lambda: len(database.get_many(marks)) == 2)
    for mark in marks:  # as after a crash between putting back and writing it down
        database.delete(mark, database.get(mark)["_rev"])
    enqueue(open_queue(environment["REDIS_URL"]), ADVANCE_ORDER, orderid)
    until(lambda: len(database.get_many(marks)) == 2)
    assert shop.stock(product) == 9


def test_a_refund_on_an_imported_order_without_its_provider_is_refused(shop: Shop, worker: Worker) -> None:
    line = (
        b'{"orderid":"imported-1","userid":"u","date":"2019-01-01","currency":"GBP","items":[{"productid":"p","name":"P",'
        b'"quantity":1,"unitPrice":{"amount":5,"currency":"GBP"}}],"payment":{"provider":"till","provider_ref":"1","date":"2019-01-01"}}'
    )
    headers = {"Content-Type": "application/x-ndjson"}
    answer = shop.admin.post(f"{shop.orders}/v1/admin/orders/import", data=line, headers=headers, timeout=60)
    assert answer.json()["created"] == 1
    refused = shop.post(shop.admin, "/v1/admin/orders/imported-1/refunds", {"amount": 5})
    assert (refused.status_code, refused.json()["code"]) == (409, "provider_not_connected")
    assert shop.get(shop.admin, "/v1/orders/imported-1").json()["status"] == "paid"


def order_without_its_provider(
    shop: Shop, customer: Person, database: Database, environment: dict[str, str]
) -> str:
    """An order whose money was begun to be taken by a provider that is connected no longer: nobody can say whether it is paid."""
    product, key = shop.product(), secrets.token_hex(8)
    orderid = checkout_that_dies(environment, customer.userid, key, checkout({product: 1}), "intent")
    order = database.get(f"order{orderid}:order")
    database.delete(order["_id"], order["_rev"])
    lost = f"lost{secrets.token_hex(4)}"
    for doc in database.partition(f"order{orderid}").all() + [order]:
        moved = {name: value for name, value in doc.items() if name != "_rev"} | {
            "orderid": lost,
            "provider": "disconnected",
        }
        database.put(moved | {"_id": doc["_id"].replace(orderid, lost)})
    return lost


def test_a_job_that_cannot_be_done_is_a_dead_letter_that_admins_send_again(
    shop: Shop, worker: Processes, customer: Person, database: Database, environment: dict[str, str]
) -> None:
    lost = order_without_its_provider(shop, customer, database, environment)

    def dead_letter() -> dict[str, Any] | None:
        found = shop.get(shop.admin, "/v1/admin/dead-letters").json()["items"]
        return next((each for each in found if each["orderid"] == lost), None)

    first = until(dead_letter)
    assert (first["job"], first["error"], first["attempts"]) == (
        "orders.advance",
        "provider_not_connected",
        1,
    )
    time.sleep(5)
    assert dead_letter() == first, "the sweep leaves it alone"
    answer = shop.post(shop.admin, f"/v1/admin/dead-letters/{first['id']}/retry")
    assert answer.status_code == 202, answer.text
    until(lambda: (again := dead_letter()) is not None and again["attempts"] == 2)
    assert shop.post(shop.admin, f"/v1/admin/dead-letters/{first['id']}/retry").status_code == 404


@pytest.mark.faults
def test_two_followers_share_the_changes_and_one_takes_over_from_the_other(
    shop: Shop, worker: Processes, customer: Person, database: Database, environment: dict[str, str]
) -> None:
    """The guard is that leases run out: without it the shards of the killed follower stay its own."""
    redis, product = Redis.from_url(environment["REDIS_URL"]), shop.product()
    worker.restart("second follower")

    def holders() -> set[bytes | None]:
        return {redis.get(f"follower:{shard}") for shard in range(2)}

    until(lambda: len(holders() - {None}) == 2, 40)
    shared = [shop.placed(customer, {product: 1})["orderid"] for _ in range(4)]
    for orderid in shared:
        finished(shop, customer, orderid)
        until(lambda orderid=orderid: keys(database, orderid) == WHOLE)
    worker.kill("second follower")
    left = [shop.placed(customer, {product: 1})["orderid"] for _ in range(4)]
    for orderid in left:
        finished(shop, customer, orderid)
        until(lambda orderid=orderid: keys(database, orderid) == WHOLE)
    until(lambda: len(holders() - {None}) == 1, 40)
