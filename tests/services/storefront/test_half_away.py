"""One service away: its pages say so, the others stay open."""

from collections.abc import Callable, Iterator

import pytest

from tests.bench.running import Shop
from tests.processes import free_port
from tests.services.storefront.conftest import second_storefront
from tests.services.storefront.visitor import Visitor


@pytest.fixture(scope="module")
def half(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A second storefront of the same shop that cannot reach orders."""
    with second_storefront(
        shop, tmp_path_factory.mktemp("half"), ORDERS_URL=f"http://127.0.0.1:{free_port()}"
    ) as url:
        yield url


def test_without_orders_the_shop_sells_on_and_says_what_it_cannot(
    half: str, join: Callable[..., Visitor]
) -> None:
    known = join("Half Way")
    visitor = Visitor(half)
    for cookie in known.jar:
        visitor.jar.set_cookie(cookie)
    for path in ("/", "/category/Home", "/product/mug-red", "/basket", "/account"):
        assert visitor.get(path).status == 200, path
    page = visitor.get("/orders")
    assert (page.status, "unavailable at the moment" in page.text) == (503, True)
    visitor.get("/product/cup-16")
    assert visitor.submit("/basket").path == "/basket"
    assert visitor.get("/checkout").status == 503
    assert visitor.get("/basket").form("/basket/cup-16").values["quantity"] == "1", (
        "nothing is lost meanwhile"
    )
