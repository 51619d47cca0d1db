"""Labels for parcels that go out, of EasyPost's stand-in: bought once whatever happens, used by one parcel, given back where none leaves."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import requests

from services.orders import tasks
from services.orders.actions import fulfilment, parcel_labels
from services.orders.dependencies import Dependencies
from services.orders.rules import parcel_labels as rules
from services.orders.rules import steps
from services.orders.rules.margin import margin_of
from shared.clock import now
from shared.errors import Unavailable
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.easypost_standin import EasyPostStandIn, refusal
from tests.services.orders.parcel_labels import Order, bought, buy, label_settings, labels_path, read
from tests.services.orders.test_return_labels import OWN, is_swept

pytestmark = pytest.mark.usefixtures("healed")

NEXT_DAY = "labelled-next-day"


@pytest.fixture(scope="module")
def orders_settings(easypost: EasyPostStandIn) -> dict[str, str]:
    return {**label_settings(easypost), "RATE_PROVIDERS": "easypost"}


@pytest.fixture(scope="module", autouse=True)
def methods(shop: Shop) -> None:
    """A fixed price, the first and cheapest, and a carrier's own."""
    saved = shop.admin.put(
        f"{shop.orders}/v1/admin/settings", json={"country": "GB", "postcode": "LS1 4DY"}, timeout=30
    )
    assert saved.status_code == 200, saved.text
    fixed = {"rate": "flat", "prices": {"GBP": 100}, "position": 1}
    carrier = {"rate": "carrier", "provider": "easypost", "service": "RoyalMail/Tracked24", "position": 2}
    for name, content in (("labelled-fixed", fixed), (NEXT_DAY, carrier)):
        answer = shop.post(shop.admin, "/v1/admin/shipping-methods", {"id": name, "name": name, **content})
        assert answer.status_code == 201, answer.text


@pytest.fixture(scope="module")
def kettle(shop: Shop) -> str:
    return shop.product(price=1601, delivery=300, weight_grams=700)


@pytest.fixture
def order(shop: Shop, customer: Person, kettle: str) -> Order:
    return shop.placed(customer, {kettle: 3}, address=OWN)


def statuses(shop: Shop, order: Order) -> list[str]:
    return [label["status"] for label in read(shop, order)["labels"]]


def pdf(shop: Shop, person: requests.Session, order: Order, number: int = 1) -> requests.Response:
    return shop.get(person, labels_path(order, f"/{number}/label.pdf"))


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute after whatever was decided."""
    monkeypatch.setattr(rules, "IN_FLIGHT", timedelta(0))


def test_the_label_fills_the_dispatch_in(
    shop: Shop, customer: Person, order: Order, kettle: str, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    label = bought(shop, order, {kettle: 2})
    assert (label["carrier"], label["service"], label["status"]) == ("RoyalMail", "Tracked48", "bought")
    assert label["cost"] == {"amount": 250 + 300, "currency": "GBP"}
    assert label["weight_grams"] == 1400
    assert [(line["productid"], line["quantity"]) for line in label["lines"]] == [(kettle, 2)]
    shipment = easypost.shipments[easypost.purchases[-1]]
    assert not shipment["is_return"]
    assert (shipment["from_address"]["street1"], shipment["to_address"]["street1"]) == (
        "9 Mill Lane",
        "1 High Street",
    )
    assert shipment["to_address"]["name"] == "Ada Lovelace"
    assert pdf(shop, shop.admin, order).content.startswith(b"%PDF")
    assert read(shop, order)["status"] == "paid", "nothing has left yet"
    for _ in range(2):
        sent = shop.post(shop.admin, labels_path(order, "/1/dispatch"), {})
        assert sent.status_code == 201, sent.text
    (parcel,) = sent.json()["parcels"]
    assert parcel["courier"] == "RoyalMail"
    assert (parcel["courierid"], parcel["tracking_url"]) == (label["tracking_code"], label["tracking_url"])
    assert [line["quantity"] for line in parcel["lines"]] == [2]
    assert statuses(shop, order) == ["used"]
    fulfilment.advance_order(deps, order["orderid"])
    mails = [mail for mail in read_mail(shop.mail) if order["number"] in mail.subject]
    assert any(label["tracking_url"] in mail.text for mail in mails)
    seen = shop.get(customer, f"/v1/orders/{order['orderid']}")
    assert "labels" not in seen.json()
    assert '"weight_grams"' not in seen.text
    margin = margin_of(deps.orders.order(order["orderid"]))
    assert sum(day.get("labels", 0) for day in margin) == 550
    rest = bought(shop, order)
    assert [line["quantity"] for line in rest["lines"]] == [1], "the last one is left"
    assert shop.post(shop.admin, labels_path(order, "/2/dispatch"), {}).json()["status"] == "dispatched"


def test_the_service_that_the_customer_has_chosen_is_bought(
    shop: Shop, customer: Person, kettle: str, easypost: EasyPostStandIn
) -> None:
    order = shop.placed(customer, {kettle: 2}, address=OWN, shipping=NEXT_DAY)
    assert order["shipping"]["carrier"] == {"name": "RoyalMail", "service": "Tracked24"}
    label = bought(shop, order, {kettle: 1})
    assert label["service"] == "Tracked24"
    assert bought(shop, order, cheapest=True)["service"] == "Tracked48"
    other = shop.placed(customer, {kettle: 1}, address=OWN, shipping=NEXT_DAY)
    before = len(easypost.purchases)
    easypost.closed = {"Tracked24"}
    try:
        refused = buy(shop, other)
    finally:
        easypost.closed = set()
    assert (refused.status_code, refused.json()["code"]) == (409, "label_refused")
    assert "RoyalMail Tracked48" in refused.json()["detail"], "says what there is instead"
    assert easypost.purchases[before:] == []
    assert read(shop, other)["labels"] == [], "nothing is left of it"


def test_a_key_buys_one_label_however_often_and_from_wherever(
    shop: Shop, order: Order, kettle: str, easypost: EasyPostStandIn
) -> None:
    before, key = len(easypost.purchases), secrets.token_hex(8)
    body = {"items": [{"productid": kettle, "quantity": 1}]}
    people = [clone(shop.admin) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        sent = [
            threads.submit(shop.post, person, labels_path(order), body, headers={"Idempotency-Key": key})
            for person in people
        ]
        answers = [each.result() for each in sent]
    assert {each.status_code for each in answers} == {201}, [each.text for each in answers]
    assert {each.json()["tracking_code"] for each in answers} == {answers[0].json()["tracking_code"]}
    assert len(easypost.purchases) == before + 1
    assert buy(shop, order, {**body, "cheapest": True}, key).status_code == 422, "another request"


def test_no_piece_has_two_labels(shop: Shop, order: Order, kettle: str, easypost: EasyPostStandIn) -> None:
    before = len(easypost.purchases)
    body = {"items": [{"productid": kettle, "quantity": 1}]}
    people = [clone(shop.admin) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda person: shop.post(person, labels_path(order), body), people))
    assert sorted(each.status_code for each in answers)[:3] == [201] * 3
    assert {each.status_code for each in answers} <= {201, 409, 422}
    assert len(easypost.purchases) == before + 3
    assert statuses(shop, order) == ["bought"] * 3
    codes = [label["tracking_code"] for label in read(shop, order)["labels"]]
    with ThreadPoolExecutor(6) as threads:
        numbers = [1, 2, 3, 1, 2, 3]
        sent = list(
            threads.map(
                lambda each: shop.post(each[0], labels_path(order, f"/{each[1]}/dispatch"), {}),
                zip(people, numbers, strict=True),
            )
        )
    assert {each.status_code for each in sent} == {201}, [each.text for each in sent]
    assert sorted(each["courierid"] for each in read(shop, order)["parcels"]) == sorted(codes)


@pytest.mark.parametrize("fault", ["lose", "garbage", "error", "late"])
def test_a_purchase_whose_answer_is_lost_is_found_again(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies, fault: str
) -> None:
    before, sold = len(easypost.purchases), easypost.answer
    faults: dict[str, Any] = {
        "error": refusal(500, "INTERNAL"),
        "late": refusal(422, "SHIPMENT.POSTAGE.TIMED_OUT"),
    }

    def losing(method: str, path: str, headers: Any, body: bytes) -> Any:
        answer = sold(method, path, headers, body)
        if path.endswith("/buy"):
            if fault == "late":
                return faults[fault]
            easypost.break_(faults.get(fault, fault))
        return answer

    easypost.answer = losing  # type: ignore[method-assign]
    try:
        assert buy(shop, order).status_code == 503
    finally:
        easypost.answer = sold  # type: ignore[method-assign]
        easypost.heal()
    assert len(easypost.purchases) == before + 1
    assert statuses(shop, order) == ["buying"]
    assert buy(shop, order).status_code == 409, "its goods wait for this one"
    fulfilment.advance_order(deps, order["orderid"])
    (label,) = read(shop, order)["labels"]
    assert label["tracking_code"] == easypost.shipments[easypost.purchases[-1]]["tracking_code"]
    assert len(easypost.purchases) == before + 1


def test_a_cancelled_label_is_given_back_once_and_a_minute_later(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    bought(shop, order)
    shipment, before = easypost.purchases[-1], len(easypost.refunds)
    for _ in range(2):
        cancelled = shop.post(shop.admin, labels_path(order, "/1/cancellation"), {})
        assert (cancelled.status_code, cancelled.json()["status"]) == (201, "cancelled")
    wait = fulfilment.advance_order(deps, order["orderid"])
    assert wait is not None
    assert 0 < wait <= 60
    assert easypost.refunds[before:] == [], "somebody may be handing the parcel over"
    assert pdf(shop, shop.admin, order).status_code == 409
    sent = shop.post(shop.admin, labels_path(order, "/1/dispatch"), {})
    assert (sent.status_code, sent.json()["code"]) == (409, "label_ended")
    second = bought(shop, order)
    assert second["number"] == 2, "its goods can have another"
    later(monkeypatch)
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert easypost.refunds[before:] == [shipment]
    first, _ = read(shop, order)["labels"]
    assert first["refunded"]
    margin = margin_of(deps.orders.order(order["orderid"]))
    assert sum(day.get("labels", 0) for day in margin) == second["cost"]["amount"]


def test_while_a_cancelled_label_waits_one_job_does(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    """However often the sweep asks for the order's job."""
    bought(shop, order)
    assert shop.post(shop.admin, labels_path(order, "/1/cancellation"), {}).status_code == 201
    first, *others = (tasks._advance(deps, order["orderid"]) for _ in range(4))
    assert first is not None
    assert 0 < first <= 61
    assert others == [None, None, None]


def test_a_parcel_that_left_meanwhile_keeps_its_label(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Handed over by one who had read the order just before another cancelled the label."""
    bought(shop, order)
    before, found = len(easypost.refunds), deps.orders.order(order["orderid"])
    assert shop.post(shop.admin, labels_path(order, "/1/cancellation"), {}).status_code == 201
    parcel_labels.dispatch_label(deps, found, "1", "test")
    later(monkeypatch)
    fulfilment.advance_order(deps, order["orderid"])
    assert easypost.refunds[before:] == []
    assert statuses(shop, order) == ["used"]


def test_label_work_whose_job_was_lost_is_found_by_the_sweep(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    fulfilment.advance_order(deps, order["orderid"])
    assert not is_swept(deps, order), "it waits for staff"
    with monkeypatch.context() as killed:
        killed.setattr(parcel_labels, "_bought", lambda deps, found, label: (found, label))
        parcel_labels.buy_parcel_label(deps, deps.orders.order(order["orderid"]), {}, None, "test")
    assert is_swept(deps, order), "its shipment is written, and it is not bought"
    easypost.break_(refusal(500, "INTERNAL"))
    with pytest.raises(Unavailable):
        fulfilment.advance_order(deps, order["orderid"])
    easypost.heal()
    assert is_swept(deps, order), "nor after a try that failed"
    fulfilment.advance_order(deps, order["orderid"])
    assert statuses(shop, order) == ["bought"]
    assert not is_swept(deps, order), "it waits for staff again"
    assert shop.post(shop.admin, labels_path(order, "/1/cancellation"), {}).status_code == 201
    for _ in range(2):
        assert is_swept(deps, order), "its money is to be asked back in a minute"
        fulfilment.advance_order(deps, order["orderid"])
    later(monkeypatch)
    fulfilment.advance_order(deps, order["orderid"])
    assert read(shop, order)["labels"][0]["refunded"]
    assert not is_swept(deps, order)


@pytest.mark.parametrize("way", ["order", "line", "other parcel"])
def test_a_label_whose_goods_do_not_go_out_with_it_is_given_back(
    shop: Shop,
    order: Order,
    kettle: str,
    easypost: EasyPostStandIn,
    deps: Dependencies,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    bought(shop, order, {kettle: 2})
    shipment, before = easypost.purchases[-1], len(easypost.refunds)
    two = [{"productid": kettle, "quantity": 2}]
    if way == "other parcel":
        body = {"courier": "Van", "courierid": secrets.token_hex(4), "items": two}
        done = shop.post(shop.admin, f"/v1/admin/orders/{order['orderid']}/dispatch", body)
    else:
        body = {"items": two} if way == "line" else {}
        done = shop.post(shop.admin, f"/v1/orders/{order['orderid']}/cancellation", body)
    assert done.status_code == 201, done.text
    assert statuses(shop, order) == ["unused"]
    assert shop.post(shop.admin, labels_path(order, "/1/dispatch"), {}).status_code == 409
    later(monkeypatch)
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert easypost.refunds[before:] == [shipment]


def test_a_purchase_that_nobody_wrote_down_is_given_back_too(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bought, killed before that was written, and then the order is cancelled."""
    with monkeypatch.context() as patched:
        patched.setattr(parcel_labels, "_bought", lambda deps, found, label: (found, label))
        found = deps.orders.order(order["orderid"])
        _, label = parcel_labels.buy_parcel_label(deps, found, {}, None, "test")
    assert deps.label_provider is not None
    shipment = label.shipment["shipment"]
    deps.label_provider.buy(shipment, "GBP")
    assert shop.post(shop.admin, f"/v1/orders/{order['orderid']}/cancellation", {}).status_code == 201
    fulfilment.advance_order(deps, order["orderid"])
    assert shipment not in easypost.refunds
    later(monkeypatch)
    fulfilment.advance_order(deps, order["orderid"])
    assert easypost.refunds.count(shipment) == 1


def test_what_cannot_be_bought_says_why(
    shop: Shop, customer: Person, kettle: str, order: Order, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    before = len(easypost.purchases)
    more = buy(shop, order, {"items": [{"productid": kettle, "quantity": 4}]})
    assert (more.status_code, list(more.json()["errors"])) == (422, ["items.0.quantity"])
    light = shop.product(price=999, delivery=300)
    unweighed = shop.placed(customer, {light: 1}, address=OWN)
    unknown = buy(shop, unweighed)
    assert (unknown.status_code, list(unknown.json()["errors"])) == (422, ["weight_grams"])
    sold = easypost.answer

    def refusing(method: str, path: str, headers: Any, body: bytes) -> Any:
        if path.endswith("/buy"):
            return refusal(402, "BILLING.INSUFFICIENT_FUNDS", "Insufficient funds.")
        return sold(method, path, headers, body)

    easypost.answer = refusing  # type: ignore[method-assign]
    key = secrets.token_hex(8)
    try:
        refused = buy(shop, order, key=key)
    finally:
        easypost.answer = sold  # type: ignore[method-assign]
    assert (refused.status_code, refused.json()["code"]) == (409, "label_refused")
    again = buy(shop, order, key=key)
    assert (again.status_code, again.json()["code"]) == (409, "label_refused"), "the same was asked again"
    (label,) = read(shop, order)["labels"]
    assert (label["status"], label["cost"]) == ("refused", None)
    assert "Insufficient funds." in label["problem"]
    assert easypost.purchases[before:] == []
    assert buy(shop, order).status_code == 201, "another try is another label"
    used_up = buy(shop, order)
    assert (used_up.status_code, used_up.json()["code"]) == (409, "nothing_to_label")
    assert pdf(shop, shop.admin, order, 7).status_code == 404
    for person in (customer, requests.Session()):
        assert shop.post(person, labels_path(order), {}).status_code in (401, 403)
        assert pdf(shop, person, order, 2).status_code in (401, 403)


def test_goods_that_wait_get_no_label_before_they_are_here(
    shop: Shop, customer: Person, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    lamp = shop.product(price=500, delivery=100, stock=1, weight_grams=300, backorder=True)
    order = shop.placed(customer, {lamp: 3}, address=OWN)
    label = bought(shop, order)
    assert [line["quantity"] for line in label["lines"]] == [1]
    assert buy(shop, order).status_code == 409
    plan = steps.plan(deps.orders.order(order["orderid"]), now(), deps.policy)
    assert steps.BUY_PARCEL_LABELS not in plan.due
