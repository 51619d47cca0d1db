"""A node that was cut off from the others answers lists of a partition from its own copy, which is behind for seconds once it is back,
and documents as a quorum has them. The stand-in for such a node does so."""

from collections.abc import Iterator

import pytest

from tests.forwarding import Forward, Response, forwarding
from tests.services.orders.conftest import Shop, insisting
from tests.services.orders.test_gift_cards import issued, left_on


@pytest.fixture(scope="module")
def behind(shop: Shop, couch_url: str, service) -> Iterator[str]:
    """An orders service whose node has no copy of any partition's list yet."""

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        if "/_partition/giftcard" in path and path.partition("?")[0].endswith("/_all_docs"):
            return 200, {"Content-Type": "application/json"}, b'{"total_rows":0,"offset":null,"rows":[]}'
        return forward()

    with forwarding(couch_url, answer) as url:
        yield service("orders", COUCH_URL=url)


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
