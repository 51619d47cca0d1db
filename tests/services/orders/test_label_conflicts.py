"""Two replicas that bought a label apart for the same goods: one stays, the other is given back, whichever leaves with the parcel."""

from datetime import timedelta
from typing import Any

import pytest

from services.orders.actions import fulfilment, label_conflicts
from services.orders.actions.conflicts import settle_conflicts
from services.orders.dependencies import Dependencies
from services.orders.rules.labels import IN_FLIGHT, LabelParcel, Place
from shared.clock import iso, parse
from shared.couch import Database, Doc, Server
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.easypost_standin import EasyPostStandIn
from tests.services.orders.parcel_labels import bought, label_settings, labels_path, read
from tests.services.orders.test_conflicts import diverge, only
from tests.services.orders.test_return_labels import OWN, approved, is_swept, label_of
from tests.services.orders.test_return_labels import bought as bought_for_return

pytestmark = pytest.mark.usefixtures("healed")
Order = dict[str, Any]


@pytest.fixture(scope="module")
def orders_settings(easypost: EasyPostStandIn) -> dict[str, str]:
    return label_settings(easypost)


@pytest.fixture(scope="module")
def kettle(shop: Shop) -> str:
    return shop.product(price=1601, delivery=300, weight_grams=700)


@pytest.fixture(autouse=True)
def a_minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_conflicts, "IN_FLIGHT", timedelta(0))


def another_replica(
    server: Server, database: Database, deps: Dependencies, shipment: Doc, label: Doc | None
) -> str:
    """What it wrote a second before for the same goods: a shipment of its own, bought if there is a `label`. The shipment's id."""
    assert deps.label_provider is not None
    place = Place("Somebody", {"line1": "1 High Street", "city": "Bath", "country": "GB"})
    other, docs = deps.label_provider.prepare(LabelParcel(place, place, 850, "apart", "GBP")), [shipment]
    if label:
        sold = deps.label_provider.buy(other, "GBP")
        docs.append({**label, "tracking_code": sold.tracking_code, "url": sold.url})
    for doc in docs:
        date = iso(parse(doc["date"]) - timedelta(seconds=1))
        theirs = {name: value for name, value in doc.items() if name != "_rev"}
        diverge(server, database, {**theirs, "shipment": other, "date": date})
    return other


def settle(deps: Dependencies, order: Order) -> None:
    """Twice, as every replica does; then the worker."""
    for _ in range(3):
        settle_conflicts(deps)
    assert settle_conflicts(deps) == 0
    assert is_swept(deps, order), "though the job is lost"
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert not is_swept(deps, order)


@pytest.mark.parametrize("left", ["no parcel", "ours", "theirs"])
def test_the_label_that_left_stays_and_the_other_is_given_back(
    shop: Shop,
    customer: Person,
    kettle: str,
    deps: Dependencies,
    server: Server,
    database: Database,
    easypost: EasyPostStandIn,
    left: str,
) -> None:
    order, before = shop.placed(customer, {kettle: 2}, address=OWN), len(easypost.refunds)
    bought(shop, order)
    key = f"order{order['orderid']}:label1"
    label, shipment = database.get(key), database.get(f"{key}shipment")
    ours = shipment["shipment"]
    if left == "ours":
        assert shop.post(shop.admin, labels_path(order, "/1/dispatch"), {}).status_code == 201
    theirs = another_replica(server, database, deps, shipment, label)
    if left == "theirs":
        code = easypost.shipments[theirs]["tracking_code"]
        parcel = {"courier": label["carrier"], "courierid": code}
        sent = shop.post(shop.admin, f"/v1/admin/orders/{order['orderid']}/dispatch", parcel)
        assert sent.status_code == 201, sent.text
    settle(deps, order)
    stays, goes = (ours, theirs) if left == "ours" else (theirs, ours)
    assert only(database, key)["shipment"] == only(database, f"{key}shipment")["shipment"] == stays
    assert easypost.refunds[before:] == [goes]
    (shown,) = read(shop, order)["labels"]
    assert shown["status"] == ("bought" if left == "no parcel" else "used")
    assert shown["tracking_code"] == easypost.shipments[stays]["tracking_code"]


def test_the_label_that_is_bought_stays_where_the_other_is_not(
    shop: Shop,
    customer: Person,
    kettle: str,
    deps: Dependencies,
    server: Server,
    database: Database,
    easypost: EasyPostStandIn,
) -> None:
    order, before = shop.placed(customer, {kettle: 2}, address=OWN), len(easypost.refunds)
    bought(shop, order)
    shipment = database.get(f"order{order['orderid']}:label1shipment")
    another_replica(server, database, deps, shipment, None)
    settle(deps, order)
    assert only(database, shipment["_id"])["shipment"] == shipment["shipment"]
    assert easypost.refunds[before:] == []
    assert [label["status"] for label in read(shop, order)["labels"]] == ["bought"]


def test_the_label_of_a_return_too(
    shop: Shop,
    customer: Person,
    kettle: str,
    deps: Dependencies,
    server: Server,
    database: Database,
    easypost: EasyPostStandIn,
) -> None:
    order, before = approved(shop, customer, kettle), len(easypost.refunds)
    assert bought_for_return(shop, order).status_code == 201
    label, shipment = (
        next(doc for doc in deps.orders.documents_of(order["orderid"]) if doc["type"] == kind)
        for kind in ("returnlabel", "returnshipment")
    )
    theirs = another_replica(server, database, deps, shipment, label)
    settle(deps, order)
    assert easypost.refunds[before:] == [shipment["shipment"]]
    shown = label_of(shop, customer, order)
    assert shown["tracking_code"] == easypost.shipments[theirs]["tracking_code"]


def test_while_one_may_just_be_bought_nothing_is_settled(
    shop: Shop,
    customer: Person,
    kettle: str,
    deps: Dependencies,
    server: Server,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = shop.placed(customer, {kettle: 2}, address=OWN)
    bought(shop, order)
    key = f"order{order['orderid']}:label1"
    another_replica(server, database, deps, database.get(f"{key}shipment"), database.get(key))
    with monkeypatch.context() as at_once:
        at_once.setattr(label_conflicts, "IN_FLIGHT", IN_FLIGHT)
        assert settle_conflicts(deps) == 0
    settle(deps, order)
