"""The names of the seed's document types: both are read and counted once, a database of 0.1.0 is migrated while people buy.

0.1.0 wrote `item`, `payment`, `dispatch` and `delivery`, and reads nothing else; so this version writes them too until
`services.prepare --migrate` says that no process of 0.1.0 is left.
"""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from services.orders.documents import DESIGN, REFUND, order_key
from services.orders.rules.importing import documents_of
from services.orders.rules.writing import event_fields
from services.orders.store import OrderStore
from shared.couch import Database, Server
from shared.money import money
from tests.people import Person
from tests.processes import ROOT
from tests.services.orders.conftest import Shop
from tests.services.orders.test_history import history_line
from tests.waiting import holding

FORMER = {
    "orderlineitem": "item",
    "orderpayment": "payment",
    "orderdispatch": "dispatch",
    "orderdelivery": "delivery",
}
NAMED_LIKE_TYPES = ("item", "payment", "orderpayment", "dispatch.delivery", "orderlineitem1", "order")
ORDERS = 400
REPORTS = ("sales?by=month", "best-sellers", "fulfilment")


def old_documents() -> Iterator[dict[str, Any]]:
    """What 0.1.0 stored of an order history; every fifth order has a refund too."""
    for number in range(ORDERS):
        orderid = NAMED_LIKE_TYPES[number] if number < len(NAMED_LIKE_TYPES) else f"old{number:04}"
        day = f"2019-{number % 12 + 1:02}-{number % 28 + 1:02}"
        parcel = {"date": f"{day}T18:00:00Z", "courier": "post", "courierid": f"p{number}"}
        line = history_line(
            orderid,
            userid=f"user-{number % 7}",
            date=f"{day}T10:00:00Z",
            dispatch=parcel,
            payment={"provider": "till", "provider_ref": "t", "date": f"{day}T11:00:00Z"},
            delivery={"date": f"{day}T20:00:00Z"},
        )
        docs: list[Any] = documents_of(line)
        if number % 5 == 0:
            docs.append(
                REFUND.new(
                    order_key(orderid, "refund1"),
                    **event_fields(docs[0], f"{day}T21:00:00.000Z"),
                    number=1,
                    reference="refund1",
                    total=money(100, "JPY"),
                    reason="",
                    cause="admin",
                    request=None,
                )
            )
        yield from ({**doc, "type": FORMER.get(doc["type"], doc["type"])} for doc in docs)


@pytest.fixture(scope="module")
def prepared(server: Server, couch_url: str) -> Callable[..., None]:
    """The orders database is one that 0.1.0 made and filled; then this version prepares it, as in an upgrade."""

    def prepare(*designs: Any) -> None:
        url = f"{couch_url}/{server.name_of(DESIGN)}"
        assert requests.put(f"{url}?partitioned=true", timeout=30).status_code == 201
        answer = requests.post(f"{url}/_bulk_docs", json={"docs": list(old_documents())}, timeout=60)
        assert all("error" not in row for row in answer.json())
        server.prepare(designs, progress=lambda line: None)

    return prepare


def stored_types(database: Database) -> Counter[str]:
    """How many documents carry each name, as they are stored."""
    client, name = database._client, database.name
    rows = client.call("post_all_docs", db=name, include_docs=True)["rows"]
    return Counter(row["doc"]["type"] for row in rows if not row["id"].startswith("_"))


def stored(database: Database) -> dict[str, dict[str, Any]]:
    rows = database._client.call("post_all_docs", db=database.name, include_docs=True)["rows"]
    return {row["id"]: row["doc"] for row in rows if not row["id"].startswith("_")}


def figures(shop: Shop) -> list[Any]:
    """What the reports, two orders and a customer's list say of the year of the old orders, from indexes that are up to date."""
    shop.get(shop.admin, "/v1/admin/orders")
    span = {"from": "2019-01-01", "to": "2020-01-01"}
    return [
        *(shop.get(shop.admin, f"/v1/admin/reports/{name}", params=span).json() for name in REPORTS),
        *(shop.get(shop.admin, f"/v1/orders/{orderid}").json() for orderid in NAMED_LIKE_TYPES),
        *(shop.get(shop.admin, f"/v1/orders/{orderid}/items").json() for orderid in NAMED_LIKE_TYPES),
        shop.get(shop.admin, "/v1/admin/orders", params={**span, "limit": 50}).json()["items"],
    ]


def caught_up(server: Server, shop: Shop) -> list[Any]:
    server.wait_for_indexes(DESIGN)
    return figures(shop)


def prepare_process(environment: dict[str, str], *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "services.prepare", *options]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_new_database_has_todays_names_from_the_start(server: Server, couch_url: str) -> None:
    fresh = Server(couch_url, prefix=f"{server.prefix}new-", timeout=60)
    fresh.prepare([DESIGN], progress=lambda line: None)
    database = fresh.open(DESIGN)
    OrderStore(database).add_all(documents_of(history_line("one")))
    expected = {"order": 1, "orderlineitem": 1, "orderpayment": 1}
    holding(at_once=database.has_one_copy)(lambda: stored_types(database) == expected)


def test_what_0_1_0_wrote_is_read_and_counted(server: Server, shop: Shop, database: Database) -> None:
    sales, sellers, fulfilment, first, *_ = caught_up(server, shop)
    assert set(FORMER.values()) < set(stored_types(database)), "as 0.1.0 stored them"
    assert sales["total"]["orders"] == ORDERS
    assert sales["total"]["gross"]["amount"] == ORDERS * 1500
    assert sales["total"]["refunds"]["amount"] == ORDERS // 5 * 100
    assert [(row["productid"], row["units"]) for row in sellers["rows"]] == [("tea", ORDERS * 3)]
    assert [row["count"] for row in fulfilment["rows"]] == [ORDERS, ORDERS]
    assert (first["status"], len(first["items"]), first["dispatch"]["courier"]) == ("delivered", 1, "post")


def test_until_the_migration_an_order_is_written_so_that_0_1_0_reads_it(
    shop: Shop, customer: Person, database: Database
) -> None:
    orderid = shop.placed(customer, {shop.product(): 1})["orderid"]
    types = {doc["type"] for doc in stored(database).values() if doc.get("orderid") == orderid}
    assert types == {"order", "customer", "item", "payment"}
    assert shop.get(customer, f"/v1/orders/{orderid}").json()["status"] == "paid"


@pytest.mark.faults
def test_a_migration_that_is_killed_and_repeated_while_people_buy_changes_no_figure(
    server: Server, shop: Shop, customer: Person, database: Database, environment: dict[str, str]
) -> None:
    before, documents = caught_up(server, shop), stored(database)
    product, placed, stop = shop.product(stock=1_000_000), [], threading.Event()

    def buy() -> None:
        while not stop.is_set():
            placed.append(shop.placed(customer, {product: 1})["orderid"])

    buyer = threading.Thread(target=buy)
    buyer.start()
    try:
        killed = prepare_process(environment, "--migrate")
        assert killed.stdout is not None
        next(line for line in killed.stdout if "documents migrated" in line)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        mixed = stored_types(database)
        assert {"payment", "orderpayment"} <= set(mixed)
        assert caught_up(server, shop) == before, f"with {mixed}"
        again = prepare_process(environment, "--migrate")
        assert again.wait(240) == 0, again.stdout and again.stdout.read()
    finally:
        stop.set()
        buyer.join()
    assert not set(FORMER.values()) & set(stored_types(database)), "all are migrated"
    assert caught_up(server, shop) == before
    after = stored(database)
    for docid, doc in documents.items():
        named = {
            **doc,
            "type": {former: name for name, former in FORMER.items()}.get(doc["type"], doc["type"]),
        }
        assert without_revision(after[docid]) == without_revision(named), "nothing but the name changed"
    assert len(placed) == len(set(placed)) > 0
    for orderid in placed:
        assert after[f"order{orderid}:payment"]["type"] == "orderpayment"
    revisions = {docid: doc["_rev"] for docid, doc in after.items()}
    assert prepare_process(environment, "--migrate").wait(240) == 0
    assert {docid: doc["_rev"] for docid, doc in stored(database).items()} == revisions, (
        "the third run changes nothing"
    )


def without_revision(doc: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in doc.items() if name != "_rev"}
