"""A node that was cut off from the others answers lists of a partition from its own copy, which is behind for seconds once it is back,
and documents as a quorum has them. The stand-in for such a node does so."""

import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
import requests

from services.orders.actions import privacy
from services.orders.dependencies import open_dependencies
from services.orders.settings import Settings
from shared.settings import load
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.services.orders.conftest import Shop, insisting
from tests.services.orders.test_gift_cards import issued, left_on

JSON = {"Content-Type": "application/json"}
MORE_THAN_A_READER_WAITS = 2.0


@pytest.fixture(scope="module")
def behind(shop: Shop, couch_url: str, service) -> Iterator[str]:
    """An orders service whose node has no copy of any gift card's list yet, lacks of each order's the order itself and its
    customer, and is long in bringing the list of a customer's orders up to date."""

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        place = path.partition("?")[0]
        if "/_partition/giftcard" in place and place.endswith("/_all_docs"):
            return 200, JSON, b'{"total_rows":0,"offset":null,"rows":[]}'
        if "/_partition/order" in place and place.endswith("/_all_docs"):
            return _changed(forward(), lambda found: found | {"rows": _without_orders(found.get("rows", []))})
        if "/_view/orders_of_a_customer" in place:
            if b'"lazy"' in body:
                return _changed(forward(), lambda found: found | {"rows": []})
            time.sleep(MORE_THAN_A_READER_WAITS)
        if method == "GET" and place.count("/") == 1 and place.endswith("orders"):
            return _changed(forward(), lambda found: found | {"cluster": {"n": 3, "q": 2, "w": 2, "r": 2}})
        return forward()

    with forwarding(couch_url, answer) as url:
        yield service("orders", COUCH_URL=url)


def _changed(response: Response, change: Any) -> Response:
    status, headers, content = response
    return status, headers, orjson.dumps(change(orjson.loads(content)))


def _without_orders(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if not re.fullmatch(r"order[^:]*:(order|customer)", row["id"])]


def test_an_order_that_its_node_has_not_got_yet_is_behind_and_not_gone(shop: Shop, behind: str) -> None:
    customer, product = shop.customer(), shop.product(price=1250, delivery=250)
    orderid = shop.placed(customer, {product: 1})["orderid"]
    assert shop.get(customer, f"/v1/orders/{orderid}").status_code == 200
    parcel = {"courier": "Post", "courierid": "P 1"}
    for lagging in (
        customer.get(f"{behind}/v1/orders/{orderid}"),
        shop.admin.get(f"{behind}/v1/orders/{orderid}"),
        shop.admin.post(f"{behind}/v1/admin/orders/{orderid}/dispatch", json=parcel),
    ):
        assert (lagging.status_code, lagging.json()["code"]) == (503, "unavailable"), lagging.url
        assert lagging.headers["Retry-After"] == "1"
    stranger = shop.customer().get(f"{behind}/v1/orders/{orderid}")
    assert (stranger.status_code, stranger.json()["code"]) == (404, "no_such_order")
    nobodys = customer.get(f"{behind}/v1/orders/{'0' * 26}")
    assert (nobodys.status_code, nobodys.json()["code"]) == (404, "no_such_order")


def test_the_orders_of_a_customer_are_shown_without_one_that_is_behind(shop: Shop, behind: str) -> None:
    customer, product = shop.customer(), shop.product(price=1250, delivery=250)
    shop.placed(customer, {product: 1})
    lagging = customer.get(f"{behind}/v1/orders")
    assert (lagging.status_code, lagging.json()["items"]) == (200, [])


def test_a_checkout_that_is_sent_again_to_a_node_that_is_behind_waits_for_it(shop: Shop, behind: str) -> None:
    customer, product, key = shop.customer(), shop.product(price=1250, delivery=250), secrets.token_hex(8)
    placed = insisting(shop, customer, {product: 1}, key=key)
    assert placed.status_code == 201, placed.text
    lagging = replace(shop, orders=behind).order(customer, {product: 1}, key)
    assert (lagging.status_code, lagging.json()["code"]) == (503, "unavailable")
    assert lagging.headers["Retry-After"] == "1"
    again = insisting(shop, customer, {product: 1}, key=key)
    assert again.json()["orderid"] == placed.json()["orderid"]
    assert shop.stock(product) == 99


def test_a_guest_of_whom_the_node_has_only_a_part_is_handed_out_and_erased_later(
    shop: Shop, behind: str
) -> None:
    guest = {"email": f"guest{secrets.token_hex(5)}@example.com"}
    orderid = shop.placed(requests.Session(), {shop.product(): 1}, **guest)["orderid"]
    for action in ("export", "erasure"):
        lagging = shop.admin.post(f"{behind}/v1/admin/guests/{action}", json=guest, timeout=20)
        assert (lagging.status_code, lagging.json()["code"]) == (503, "unavailable"), action
    (found,) = shop.post(shop.admin, "/v1/admin/guests/export", guest).json()["items"]
    assert (found["orderid"], found["email"]) == (orderid, guest["email"])
    assert shop.post(shop.admin, "/v1/admin/guests/erasure", guest).json() == {"orders": 1}
    assert shop.post(shop.admin, "/v1/admin/guests/export", guest).json()["items"] == []


def test_an_order_that_an_index_lists_after_its_erasure_is_counted_once(
    shop: Shop, couch_url: str, environment: dict[str, str]
) -> None:
    """It was told as two, and the desk said so."""
    email, listed = f"guest{secrets.token_hex(5)}@example.com", list[Response]()
    shop.placed(requests.Session(), {shop.product(): 1}, email=email)

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        if "/_view/personal" not in path:
            return forward()
        listed.append(listed[0] if len(listed) == 1 else forward())
        return listed[-1]

    with forwarding(couch_url, answer) as url:
        deps = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        assert privacy.anonymise_guest(deps, email) == 1
    assert len(listed) > 2


def test_the_desk_reads_a_card_that_its_node_has_not_got_yet(shop: Shop, behind: str) -> None:
    card, product = issued(shop, 4000), shop.product(price=1250, delivery=250)
    assert insisting(shop, shop.customer(), {product: 1}, gift_cards=[card["code"]]).status_code == 201
    path = f"/v1/admin/gift-cards/{card['id']}"
    whole = shop.get(shop.admin, path).json()
    assert whole["balance"]["amount"] == left_on(shop, card) == 2500
    assert len(whole["entries"]) == 2
    lagging = shop.admin.get(behind + path)
    assert (lagging.status_code, lagging.json()) == (200, whole)


def test_a_card_that_nobody_issued_is_none(shop: Shop, behind: str) -> None:
    refused = shop.admin.get(f"{behind}/v1/admin/gift-cards/{'0' * 32}")
    assert (refused.status_code, refused.json()["code"]) == (404, "no_such_gift_card")


def test_an_order_that_was_just_placed_is_in_the_history_where_the_index_lacks_it(
    shop: Shop, couch_url: str, service: Callable[..., str]
) -> None:
    """The node's index is up to date with the node, which has not got the order yet."""
    customer, product = shop.customer(), shop.product()
    placed = [shop.placed(customer, {product: 1})["orderid"] for _ in range(3)]

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if "/_view/orders_of_a_customer" in path:
            found = orjson.loads(content)
            content = orjson.dumps(
                found | {"rows": [row for row in found["rows"] if placed[-1] not in str(row)]}
            )
        return status, headers, as_one_of_three(method, path, content)

    with forwarding(couch_url, answer) as url:
        lagging = replace(shop, orders=service("orders", COUCH_URL=url))
        first = lagging.get(customer, "/v1/orders", params={"limit": 2}).json()
        rest = lagging.get(customer, "/v1/orders", params={"limit": 2, "cursor": first["next"]}).json()
    seen = [item["orderid"] for page in (first, rest) for item in page["items"]]
    assert seen == placed[::-1]
