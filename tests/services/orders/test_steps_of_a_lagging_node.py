"""Steps of an order at a node of a cluster whose lists are behind, or which alone took what was written: CouchDB says 202 then. The
stand-in for it does so."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import orjson
import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import order_key
from services.orders.settings import Settings
from services.orders.shop_settings import PROMOTION, setting_id
from shared.jobs import ADVANCE_ORDER
from shared.settings import load
from tests.forwarding import Forward, Response, as_one_of_three, cut_off, forwarding
from tests.maildir import read_mail
from tests.services.orders.conftest import Shop, until
from tests.services.orders.stall import recorded, sale
from tests.services.orders.test_gift_card_products import gift_card_product, recipient
from tests.services.orders.test_invoices import invoice_of
from tests.services.orders.test_promotions import code, promotion, quoted

PART = {"amount": 1000, "reason": "scratched"}
PARCEL = {"courier": "Post", "courierid": "P 1"}


@dataclass
class Node:
    """In front of the database, one of three. Its lists of an order lack what ends with one of `lacks`, and have what is in `as_it_was` as it
    was; writes of a document whose id has `alone` in it are 202, and before that is answered `taken_alone` is called."""

    lacks: tuple[str, ...] = ()
    alone: str = ""
    as_it_was: dict[str, Any] = field(default_factory=dict)
    taken_alone: Callable[[], None] = lambda: None

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        content = as_one_of_three(method, path, content)
        if (
            (self.lacks or self.as_it_was)
            and "/_partition/" in path
            and path.partition("?")[0].endswith("/_all_docs")
        ):
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if not row["id"].endswith(self.lacks)]
            for row in rows:
                row["doc"] = self.as_it_was.get(row["id"], row.get("doc"))
            content = orjson.dumps({**found, "rows": rows})
        if self.alone and path.endswith("/_bulk_docs") and self.alone.encode() in body:
            self.taken_alone()
            return cut_off(method, path, body, lambda: (status, headers, content))
        unsure = self.alone and self.alone in unquote(path) and (method, status) == ("PUT", 201)
        return (202 if unsure else status), headers, content


@pytest.fixture(scope="module")
def node() -> Node:
    return Node()


@pytest.fixture(scope="module")
def behind(couch_url: str, node: Node, shop: Shop, service: Callable[..., str]) -> Iterator[str]:
    with forwarding(couch_url, node.answer) as url:
        yield service("orders", COUCH_URL=url)


@pytest.fixture
def order(shop: Shop) -> dict[str, Any]:
    return shop.placed(shop.customer(), {shop.product(price=1250, delivery=250): 2})


def test_a_refund_that_too_few_nodes_took_is_not_told_as_made_and_is_taken_back(
    shop: Shop, order: dict[str, Any], behind: str, node: Node, deps: Dependencies
) -> None:
    """At another node somebody else may have been told the same: both would be paid, more than the order cost."""
    path = f"{behind}/v1/admin/orders/{order['orderid']}/refunds"
    node.alone = "refund1"
    unsure = shop.admin.post(path, json=PART)
    node.alone = ""
    assert (unsure.status_code, unsure.headers.get("Retry-After")) == (503, "2"), unsure.text
    assert not deps.orders.order(order["orderid"]).refunds
    assert shop.admin.post(path, json=PART).status_code == 201
    refunds = deps.orders.order(order["orderid"]).refunds
    assert [(each["number"], each["total"]["amount"]) for each in refunds] == [(1, 1000)]


def test_a_refund_follows_the_last_number_that_is_there(
    shop: Shop, order: dict[str, Any], deps: Dependencies
) -> None:
    """The first one may have been taken back when the second one was there already."""
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    for _ in range(2):
        assert shop.post(shop.admin, path, PART).status_code == 201
    first = deps.orders.database.get(order_key(order["orderid"], "refund1"))
    deps.orders.database.delete(first["_id"], first["_rev"])
    assert shop.post(shop.admin, path, {**PART, "amount": 500}).status_code == 201
    assert [each["number"] for each in deps.orders.order(order["orderid"]).refunds] == [2, 3]


def test_what_a_node_does_not_list_yet_of_an_order_counts(
    shop: Shop, order: dict[str, Any], behind: str, node: Node
) -> None:
    path = f"{behind}/v1/admin/orders/{order['orderid']}"
    node.lacks = (":payment", ":decision", ":dispatch", ":refund1")
    sent = shop.admin.post(f"{path}/dispatch", json=PARCEL)
    again = shop.admin.post(f"{path}/dispatch", json={**PARCEL, "courierid": "P 2"})
    refunds = [shop.admin.post(f"{path}/refunds", json={"amount": 2000}) for _ in range(2)]
    seen = shop.admin.get(f"{behind}/v1/orders/{order['orderid']}").json()
    node.lacks = ()
    assert sent.status_code == 201, "it was paid"
    assert (again.status_code, again.json()["code"]) == (409, "transition_not_allowed"), again.text
    assert [each.status_code for each in refunds] == [201, 409]
    assert (seen["status"], len(seen["refunds"]), len(seen["parcels"])) == ("dispatched", 1, 1)


def test_what_a_node_does_not_list_in_between_counts(
    shop: Shop, order: dict[str, Any], behind: str, node: Node
) -> None:
    """Of two pieces one was cancelled, then the parcel with the other was decided on: nothing is left to cancel."""
    [line], path = order["items"], f"/v1/orders/{order['orderid']}"
    one = {"reason": "", "items": [{"productid": line["productid"], "quantity": 1}]}
    assert shop.post(shop.admin, f"{path}/cancellation", one).status_code == 201
    sent = shop.post(shop.admin, f"/v1/admin/orders/{order['orderid']}/dispatch", PARCEL)
    assert sent.status_code == 201, sent.text
    node.lacks = (":decision", ":refund1")
    seen = shop.admin.get(f"{behind}{path}").json()
    node.lacks = ()
    assert (seen["items"][0]["cancelled"], seen["items"][0]["dispatched"]) == (1, 1)
    assert len(seen["refunds"]) == len(seen["line_cancellations"]) == 1


def test_a_stall_is_told_what_the_stock_did_not_have(shop: Shop, behind: str, node: Node) -> None:
    product = shop.product(stock=1)
    node.lacks = (":oversold",)
    order = recorded(replace(shop, orders=behind), shop.admin, sale({product: (2, 1250)}))
    node.lacks = ()
    assert [line["quantity"] for line in order["oversold"]["lines"]] == [1]


def test_an_invoice_has_no_number_that_too_few_nodes_took(
    shop: Shop, order: dict[str, Any], behind: str, node: Node
) -> None:
    """At the others the number may be that of another order's invoice."""
    other = shop.placed(shop.customer(), {shop.product(): 1})
    node.alone = "invoicenumbers"
    unsure = shop.admin.get(f"{behind}/v1/orders/{order['orderid']}/invoice", timeout=60)
    node.alone = ""
    assert (unsure.status_code, unsure.headers.get("Retry-After")) == (503, "2"), unsure.text[:200]
    first, second = (invoice_of(shop, shop.admin, each)["number"] for each in (other, order))
    assert int(second.rpartition("-")[2]) == int(first.rpartition("-")[2]) + 1


def test_who_asks_for_the_invoice_while_its_number_is_taken_back_gets_no_number_either(
    shop: Shop, order: dict[str, Any], behind: str, node: Node
) -> None:
    """The number is another order's then."""
    other, path = shop.placed(shop.customer(), {shop.product(): 1}), f"/v1/orders/{order['orderid']}/invoice"
    asked = []

    def ask_beside() -> None:
        node.taken_alone = lambda: None
        asked.append(ask())

    def ask() -> requests.Response:
        return shop.admin.get(f"{behind}{path}", headers={"Accept": "application/json"}, timeout=60)

    node.alone, node.taken_alone = "invoicenumbers", ask_beside
    unsure = ask()
    node.alone = ""
    assert [unsure.status_code, *(each.status_code for each in asked)] == [503, 503]
    numbers = {invoice_of(shop, shop.admin, each)["number"] for each in (other, order)}
    assert len(numbers) == 2


def test_a_corrected_recipient_of_gift_cards_is_answered_and_gets_them(
    shop: Shop, behind: str, node: Node, deps: Dependencies, couch_url: str, environment: dict[str, str]
) -> None:
    """The node lists the customer as they were: the codes went to the old address."""
    wrong, right, again = recipient(), recipient()["email"], recipient()["email"]
    placed = shop.placed(shop.customer(), {gift_card_product(shop): 1}, gift_recipient=wrong)
    customer = deps.orders.database.get(order_key(placed["orderid"], "customer"))
    node.as_it_was = {customer["_id"]: customer}
    path = f"{behind}/v1/admin/orders/{placed['orderid']}/gift-recipient"
    corrected = shop.admin.put(path, json={"email": right}, timeout=30)
    assert corrected.status_code == 200, corrected.text
    assert corrected.json()["gift_card_delivery"] == {"email": right, "sent": None}
    with forwarding(couch_url, node.answer) as url:
        lagging = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        fulfilment.advance_order(lagging, placed["orderid"])
    assert [len(read_mail(shop.mail, each)) for each in (wrong["email"], right)] == [0, 1]
    seen = shop.admin.get(f"{behind}/v1/orders/{placed['orderid']}").json()["gift_card_delivery"]
    assert (seen["email"], bool(seen["sent"])) == (right, True)
    corrected = shop.admin.put(path, json={"email": again}, timeout=30)
    assert corrected.status_code == 200, corrected.text
    assert corrected.json()["gift_card_delivery"]["email"] == again
    assert corrected.json()["gift_card_delivery"]["sent"] > seen["sent"]
    node.as_it_was = {}
    assert [len(read_mail(shop.mail, each)) for each in (wrong["email"], right, again)] == [0, 1, 1]


def test_a_correction_that_too_few_nodes_took_is_not_told_as_made(
    shop: Shop, behind: str, node: Node
) -> None:
    placed = shop.placed(shop.customer(), {gift_card_product(shop): 1}, gift_recipient=recipient())
    path = f"{behind}/v1/admin/orders/{placed['orderid']}/gift-recipient"
    node.alone = f"order{placed['orderid']}:customer"
    unsure = shop.admin.put(path, json={"email": "right@example.com"}, timeout=30)
    node.alone = ""
    assert (unsure.status_code, unsure.headers.get("Retry-After")) == (503, "2"), unsure.text
    assert shop.admin.put(path, json={"email": "right@example.com"}, timeout=30).status_code == 200


def test_a_job_that_was_sent_again_is_no_failure_any_more_at_a_node_that_does_not_list_that(
    shop: Shop, behind: str, node: Node, deps: Dependencies
) -> None:
    """Who had pressed the button saw the job once more."""
    subject, path = shop.product(), "/v1/admin/dead-letters"
    deps.dead_letters.add(
        ADVANCE_ORDER, subject, 1, error="Unavailable", detail="The courier is away.", transient=False
    )

    def failures() -> list[str]:
        found = shop.admin.get(f"{behind}{path}", params={"limit": 100}).json()["items"]
        return [each["id"] for each in found if subject in each["id"]]

    (failure,) = failures()
    node.lacks = (".retried",)
    answers = [shop.admin.post(f"{behind}{path}/{failure}/retry").status_code for _ in range(2)]
    left = failures()
    node.lacks = ()
    assert (answers, left) == ([202, 404], [])


def test_settings_that_were_just_saved_hold_at_a_node_that_lists_them_as_they_were(
    shop: Shop, behind: str, node: Node, deps: Dependencies
) -> None:
    """For seconds customers got the price that staff had changed."""
    kettle, offer = shop.product(price=1000), code()
    made = promotion(shop, codes=[offer])

    def discount() -> int:
        found = quoted(behind, {kettle: 1}, offer).json().get("discounts", ())
        return sum(each["amount"]["amount"] for each in found)

    until(lambda: discount() == 100)
    stored = deps.orders.database.get(setting_id(PROMOTION, made["id"]))
    node.as_it_was = {stored["_id"]: stored}
    path = f"{behind}/v1/admin/promotions/{made['id']}"
    content = {name: made[name] for name in ("name", "codes")} | {
        "actions": [{"kind": "percent", "basis_points": 2000}]
    }
    saved = shop.admin.put(path, json=content, timeout=30)
    found = discount()
    node.as_it_was = {}
    assert saved.status_code == 200, saved.text
    assert found == 200


def test_a_report_that_was_just_asked_for_or_closed_is_there_at_a_node_that_does_not_list_it(
    shop: Shop, behind: str, node: Node
) -> None:
    path = f"{behind}/v1/admin/reports"
    wanted = {"kind": "sales", "by": "day", "from": "2011-01-01", "to": "2011-02-01"}
    node.lacks = (":request", ":closing1")
    asked = shop.admin.post(path, json=wanted, timeout=30)
    read = shop.admin.get(f"{path}/{asked.json()['id']}", timeout=30)
    closed = shop.admin.post(f"{path}/closings", json={"kind": "month", "period": "2011-01"}, timeout=30)
    again = shop.admin.get(f"{path}/month-2011-01", timeout=30)
    node.lacks = ()
    assert [each.status_code for each in (asked, read, closed, again)] == [202, 200, 201, 200], closed.text
    assert closed.json() == again.json()
