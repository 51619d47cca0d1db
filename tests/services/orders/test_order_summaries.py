"""`order{id}:summary`: what the worker makes of an order's documents, from every side that they may change."""

import os
import subprocess
import sys
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from services.orders.actions import fulfilment, summaries, sweep
from services.orders.dependencies import Dependencies
from shared.clock import iso, now, timestamp
from shared.couch import Database
from tests.people import Person
from tests.processes import ROOT
from tests.services.orders.conftest import Shop
from tests.services.orders.test_desk_orders import line, orderids, send
from tests.services.worker.processes import Worker
from tests.waiting import eventually


def test_older_orders_are_summarised_in_the_background_and_lists_say_so(
    shop: Shop, deps: Dependencies, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade: a job that is killed goes on where it was, and what it has made is what a rebuild makes."""
    send(shop, [line(f"upgrade{n}", f"2016-01-01T00:00:0{n}Z") for n in range(5)])
    store = deps.summaries
    assert summaries.rebuild(store, lambda _: None) >= 0
    made = database.get_many([f"order{'upgrade'}{n}:summary" for n in range(5)])
    for doc in made.values():
        database.delete(doc["_id"], doc["_rev"])
    monkeypatch.setattr(summaries, "BATCH", 7)
    store.set_state(schema=0)
    ask = partial(shop.get, shop.admin, "/v1/admin/orders", params={"status": "paid", "to": "2016-02-01"})
    summaries.complete(store, seconds=0.001)
    answer = ask().json()
    assert (answer["complete"], len(answer["items"]) < 5) == (False, True)
    assert answer["unlisted"] > 0
    before = store.state()["orders"]
    assert before > 0
    while not summaries.are_complete(store.state()):
        summaries.complete(store, seconds=1)
    assert store.state()["orders"] == store.number_of_orders()
    eventually(lambda: len(ask().json()["items"]) == 5)
    assert (ask().json()["complete"], ask().json()["unlisted"]) == (True, 0)
    again = database.get_many(list(made))
    assert [without_revision(doc) for doc in again.values()] == [
        without_revision(doc) for doc in made.values()
    ]
    assert summaries.rebuild(store, lambda _: None) == 0


def without_revision(doc: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in doc.items() if name != "_rev"}


def test_a_summary_that_was_lost_with_the_queue_is_found_by_the_sweep(
    shop: Shop, database: Database, deps: Dependencies
) -> None:
    """Of an order on which nothing else is left to do."""
    day = {"date": timestamp(), "courier": "post", "courierid": "1"}
    send(shop, [line("behind", iso(now() - timedelta(hours=1)), dispatch=day, delivery=day)])
    summaries.rebuild(deps.summaries, lambda _: None)
    stored = database.get("orderbehind:summary")
    assert "behind" not in sweep.deep_sweep(deps, frozenset())
    database.put({**stored, "events": 1, "status": "placed"})
    assert "behind" in sweep.deep_sweep(deps, frozenset())
    fulfilment.advance_order(deps, "behind")
    assert without_revision(database.get(stored["_id"])) == without_revision(stored)
    assert "behind" not in sweep.deep_sweep(deps, frozenset())


def test_prepare_rebuilds_what_was_changed_behind_the_shops_back(
    shop: Shop, environment: dict[str, str], database: Database
) -> None:
    lines = [line(f"rebuilt{n}", f"2014-01-01T00:00:0{n}Z", email=f"r{n}@example.com") for n in range(3)]
    send(shop, lines)
    prepare(environment)
    stored = database.get("orderrebuilt1:summary")
    database.put({**stored, "status": "cancelled"})
    database.delete("orderrebuilt2:summary", database.get("orderrebuilt2:summary")["_rev"])
    assert "2 summaries were not what" in prepare(environment)
    assert without_revision(database.get(stored["_id"])) == without_revision(stored)
    assert database.get("orderrebuilt2:summary")["email"] == "r2@example.com"
    assert "0 summaries were not what" in prepare(environment)


def prepare(environment: dict[str, str]) -> str:
    """What `services.prepare --rebuild` says."""
    command = [sys.executable, "-m", "services.prepare", "--rebuild"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "orders summarised" in done.stdout
    return done.stdout


def test_the_worker_writes_a_summary_once_for_each_change(
    shop: Shop, worker: Worker, customer: Person, database: Database
) -> None:
    lamp = shop.product()
    order = shop.placed(customer, {lamp: 2})
    orderid = order["orderid"]
    eventually(lambda: orderids(shop, product=lamp, status="delivered") == [orderid])
    [row] = shop.get(shop.admin, "/v1/admin/orders", params={"product": lamp}).json()["items"]
    assert (row["number"], row["email"], row["units"]) == (order["number"], customer.email, 2)
    summary = database.get(f"order{orderid}:summary")
    assert {"placed", "paid", "dispatched", "delivered"} == summary["dates"].keys()
    assert int(summary["_rev"].split("-")[0]) <= 3
    asked = shop.post(
        customer, f"/v1/orders/{orderid}/returns", {"items": [{"productid": lamp, "quantity": 1}]}
    )
    assert asked.status_code == 201, asked.text
    eventually(lambda: orderids(shop, product=lamp, open_returns="true") == [orderid])


def test_erasure_empties_the_summary(shop: Shop, worker: Worker, database: Database) -> None:
    person, lamp = shop.customer(), shop.product()
    orderid = shop.placed(person, {lamp: 1})["orderid"]
    eventually(lambda: orderids(shop, q=person.email) == [orderid])
    answer = person.delete(f"{shop.users}/v1/users/me", timeout=60)
    assert answer.ok, answer.text
    eventually(lambda: orderids(shop, q=person.email) == [])
    stored = database.get(f"order{orderid}:summary")
    assert (stored["name"], stored["email"], stored["words"]) == ("", "", [])
    assert person.email not in str(database.partition(f"order{orderid}").all())
