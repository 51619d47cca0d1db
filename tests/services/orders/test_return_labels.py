"""Labels for returns, of EasyPost's stand-in: bought once whatever happens, for their customer alone, given back when no parcel comes."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment, return_labels, summaries
from services.orders.actions import sweep as sweeps
from services.orders.dependencies import Dependencies
from services.orders.rules import order_returns, steps
from shared.couch import Database
from shared.errors import Unavailable
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.easypost_standin import EasyPostStandIn, refusal
from tests.services.orders.parcel_labels import label_settings
from tests.services.orders.test_after_sale import delivered
from tests.services.orders.test_returns import asked, parcel, staff
from tests.waiting import Holds

pytestmark = pytest.mark.usefixtures("healed")

Order = dict[str, Any]
OWN = {
    "name": "Ada Lovelace",
    "line1": "1 High Street",
    "city": "Bath",
    "postcode": "BA1 1AA",
    "country": "GB",
}


@pytest.fixture(scope="module")
def orders_settings(easypost: EasyPostStandIn) -> dict[str, str]:
    return label_settings(easypost)


@pytest.fixture
def kettle(shop: Shop) -> str:
    return shop.product(price=1601, delivery=300, weight_grams=700)


@pytest.fixture
def order(shop: Shop, customer: Person, kettle: str) -> Order:
    """Delivered, with an approved return of two kettles."""
    return approved(shop, customer, kettle)


def approved(shop: Shop, customer: Person, kettle: str) -> Order:
    order = delivered(shop, shop.placed(customer, {kettle: 3}, address=OWN))
    assert asked(shop, customer, order, {kettle: 2}).status_code == 201
    assert staff(shop, order, 1, "approval").status_code == 201
    return order


def bought(shop: Shop, order: Order, **body: Any) -> requests.Response:
    return staff(shop, order, 1, "label", body)


def label_of(shop: Shop, person: Person, order: Order) -> Any:
    return shop.get(person, f"/v1/orders/{order['orderid']}").json()["returns"][0]["label"]


def pdf(shop: Shop, person: requests.Session, order: Order) -> requests.Response:
    return shop.get(person, f"/v1/orders/{order['orderid']}/returns/1/label.pdf")


def test_staff_buys_the_label_and_the_customer_prints_it(
    shop: Shop, customer: Person, order: Order, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    answer = bought(shop, order)
    assert answer.status_code == 201, answer.text
    label = answer.json()
    assert (label["carrier"], label["service"]) == ("RoyalMail", "Tracked48"), "the cheapest in pounds"
    assert label["cost"] == {"amount": 250 + 300, "currency": "GBP"}
    shipment = easypost.shipments[easypost.purchases[-1]]
    assert shipment["is_return"]
    assert (shipment["from_address"]["street1"], shipment["to_address"]["street1"]) == (
        "1 High Street",
        "9 Mill Lane",
    )
    assert shipment["to_address"]["name"] == "Lamp & Book"
    assert shipment["parcel"]["weight"] == pytest.approx(49.4)
    seen = label_of(shop, customer, order)
    assert seen == {name: label[name] for name in ("carrier", "service", "tracking_code", "tracking_url")}
    order_text = shop.get(customer, f"/v1/orders/{order['orderid']}").text
    assert '"cost"' not in order_text
    assert '"amount":550,' not in order_text.replace(" ", ""), "what it costs is the shop's affair"
    for person in (customer, shop.admin):
        assert pdf(shop, person, order).content.startswith(b"%PDF")
    for stranger in (requests.Session(), shop.customer()):
        assert pdf(shop, stranger, order).status_code == 404
    fulfilment.advance_order(deps, order["orderid"])
    mails = [mail for mail in read_mail(shop.mail) if order["number"] in mail.subject]
    told = next(mail for mail in mails if mail.subject.startswith("The label for your return 1"))
    assert label["tracking_url"] in told.text


def test_it_is_bought_once_by_whoever_and_however_often(
    shop: Shop, order: Order, easypost: EasyPostStandIn
) -> None:
    before = len(easypost.purchases)
    path = f"/v1/admin/orders/{order['orderid']}/returns/1/label"
    people = [clone(shop.admin) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda person: shop.post(person, path, {}), people))
    assert {each.status_code for each in answers} == {201}, [each.text for each in answers]
    assert len({each.json()["tracking_code"] for each in answers}) == 1
    assert len(easypost.purchases) == before + 1
    assert bought(shop, order).json() == answers[0].json()
    assert len(easypost.purchases) == before + 1


@pytest.mark.parametrize("fault", ["lose", "garbage", "error"])
def test_a_purchase_whose_answer_is_lost_is_found_again(
    shop: Shop, customer: Person, order: Order, easypost: EasyPostStandIn, deps: Dependencies, fault: str
) -> None:
    """The shipment was prepared before; then EasyPost takes the money, and nobody hears of it."""
    before = len(easypost.purchases)
    found = deps.orders.order(order["orderid"])
    found = return_labels._with_shipment(deps, found, found.order_returns[0], None, "test")
    shipment = found.order_returns[0].shipment
    assert shipment is not None
    sold = easypost.answer

    def losing(method: str, path: str, headers: Any, body: bytes) -> Any:
        answer = sold(method, path, headers, body)
        if path.endswith("/buy"):
            easypost.break_(refusal(500, "INTERNAL") if fault == "error" else fault)
        return answer

    easypost.answer = losing  # type: ignore[method-assign]
    try:
        assert bought(shop, order).status_code == 503
    finally:
        easypost.answer = sold  # type: ignore[method-assign]
        easypost.heal()
    assert easypost.purchases[before:] == [shipment["shipment"]]
    assert label_of(shop, customer, order) is None
    fulfilment.advance_order(deps, order["orderid"])
    assert (
        label_of(shop, customer, order)["tracking_code"]
        == easypost.shipments[shipment["shipment"]]["tracking_code"]
    )
    assert bought(shop, order).status_code == 201
    assert easypost.purchases[before:] == [shipment["shipment"]]


def test_no_parcel_comes_and_the_label_is_given_back_once(
    shop: Shop,
    customer: Person,
    order: Order,
    easypost: EasyPostStandIn,
    deps: Dependencies,
    database: Database,
) -> None:
    assert bought(shop, order).status_code == 201
    before = len(easypost.refunds)
    assert staff(shop, order, 1, "refusal", {"reason": "Nothing came."}).status_code == 201
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert easypost.refunds[before:] == [easypost.purchases[-1]]
    kept = [doc for doc in deps.orders.documents_of(order["orderid"]) if doc["type"] == "labelrefund"]
    assert [doc["status"] for doc in kept] == ["submitted"]
    assert pdf(shop, customer, order).status_code == 404
    assert bought(shop, order).json().get("code") != "label_refused"


def test_a_label_that_nobody_knows_of_is_given_back_too(
    shop: Shop, order: Order, easypost: EasyPostStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bought, killed before that was written, and then the return is refused: not while the purchase may still be under way."""
    found = deps.orders.order(order["orderid"])
    found = return_labels._with_shipment(deps, found, found.order_returns[0], None, "test")
    shipment = found.order_returns[0].shipment
    assert shipment is not None
    assert deps.label_provider is not None
    deps.label_provider.buy(shipment["shipment"], "GBP")
    assert staff(shop, order, 1, "refusal", {"reason": "Nothing came."}).status_code == 201
    wait = fulfilment.advance_order(deps, order["orderid"])
    assert wait is not None
    assert 0 < wait <= 60
    assert shipment["shipment"] not in easypost.refunds
    monkeypatch.setattr(order_returns, "IN_FLIGHT", order_returns.IN_FLIGHT * 0)
    fulfilment.advance_order(deps, order["orderid"])
    assert easypost.refunds.count(shipment["shipment"]) == 1


def test_what_cannot_be_bought_says_why(
    shop: Shop, customer: Person, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    before = len(easypost.purchases)
    light = shop.product(price=999, delivery=300)
    order = delivered(shop, shop.placed(customer, {light: 1}, address=OWN))
    assert asked(shop, customer, order, {light: 1}).status_code == 201
    early = bought(shop, order, weight_grams=100)
    assert (early.status_code, early.json()["code"]) == (409, "return_not_approved")
    assert staff(shop, order, 1, "approval").status_code == 201
    unknown = bought(shop, order)
    assert (unknown.status_code, list(unknown.json()["errors"])) == (422, ["weight_grams"])
    easypost.break_(refusal(422, "ADDRESS.VERIFY.FAILURE", "Unable to verify address."))
    refused = bought(shop, order, weight_grams=100)
    assert (refused.status_code, refused.json()["code"]) == (409, "label_refused")
    assert "Unable to verify address." in refused.json()["detail"]
    easypost.heal()
    assert easypost.purchases[before:] == []
    assert bought(shop, order, weight_grams=100).status_code == 201
    wanted = parcel((light, 1, "resaleable"))
    assert staff(shop, order, 1, "receipt", wanted).status_code == 201
    assert pdf(shop, customer, order).status_code == 404
    for person in (customer, requests.Session()):
        path = f"/v1/admin/orders/{order['orderid']}/returns/1/label"
        assert shop.post(person, path, {}).status_code in (401, 403)


@contextmanager
def buys_at_approval(shop: Shop) -> Iterator[None]:
    """Puts the setting back."""
    _set_buying(shop, True)
    try:
        yield
    finally:
        _set_buying(shop, False)


def _set_buying(shop: Shop, buys: bool) -> None:
    path = f"{shop.orders}/v1/admin/settings"
    etag = shop.admin.get(path, timeout=30).headers.get("ETag")
    body = {"country": "GB", "buy_return_labels": buys}
    saved = shop.admin.put(path, json=body, headers={"If-Match": etag} if etag else {}, timeout=30)
    assert saved.status_code == 200, saved.text


def is_swept(deps: Dependencies, order: Order) -> bool:
    """Whether the sweep asks for the order's job, whatever became of those that were in the queue."""
    deps.orders.set_sweep_checkpoint(sweeps.SWEEP, placed=order["date"], oldest=None, after=None)
    summaries.complete(deps.stores.bulk_summaries)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(steps, "FEED_GRACE", timedelta(0))
        return order["orderid"] in sweeps.sweep(deps, frozenset())


def test_the_shop_may_buy_at_each_approval(
    shop: Shop, customer: Person, kettle: str, easypost: EasyPostStandIn, deps: Dependencies, holds: Holds
) -> None:
    with buys_at_approval(shop):
        order = approved(shop, customer, kettle)
        before = len(easypost.purchases)

        def has_label() -> bool:
            """On a cluster the job's node may know the settings, or the approval, a little later; then the next job buys."""
            fulfilment.advance_order(deps, order["orderid"])
            return label_of(shop, customer, order) is not None

        holds(has_label)
        fulfilment.advance_order(deps, order["orderid"])
        assert label_of(shop, customer, order)["carrier"] == "RoyalMail"
        assert len(easypost.purchases) == before + 1


def test_a_label_of_an_approval_whose_job_was_lost_is_found_by_the_sweep(
    shop: Shop, customer: Person, kettle: str, easypost: EasyPostStandIn, deps: Dependencies
) -> None:
    """The customer has been told of the approval, and the provider was away: of the label only its order's summary knows."""
    with buys_at_approval(shop):
        order = approved(shop, customer, kettle)
        easypost.break_(refusal(500, "INTERNAL"))
        with pytest.raises(Unavailable):
            fulfilment.advance_order(deps, order["orderid"])
        easypost.heal()
        assert is_swept(deps, order)
        fulfilment.advance_order(deps, order["orderid"])
        assert label_of(shop, customer, order)["carrier"] == "RoyalMail"
        assert not is_swept(deps, order)
    other = approved(shop, customer, kettle)
    fulfilment.advance_order(deps, other["orderid"])
    found = deps.orders.order(other["orderid"])
    return_labels._with_shipment(deps, found, found.order_returns[0], None, "test")
    assert is_swept(deps, other), "begun by staff, and not bought"
    fulfilment.advance_order(deps, other["orderid"])
    assert label_of(shop, customer, other)
    assert not is_swept(deps, other)


def test_a_key_that_is_none(shop: Shop) -> None:
    missing = {"orderid": secrets.token_hex(4)}
    assert bought(shop, missing).status_code == 404
