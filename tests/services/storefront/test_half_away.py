"""One service away: its pages say so, the others stay open."""

import os
from collections.abc import Callable, Iterator

import pytest

from tests.bench.running import Shop
from tests.processes import free_port, start_service
from tests.services.storefront.visitor import Visitor


@pytest.fixture(scope="module")
def half(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A second storefront of the same shop that cannot reach orders."""
    secrets = {
        name: next(shop.state.rglob(name)).read_text().strip()
        for name in ("secret-key", "service-secret", "redis-password")
    }
    redis = next(shop.state.rglob("redis.conf")).read_text()
    redis_port = next(line.split()[1] for line in redis.splitlines() if line.startswith("port "))
    env = {
        "AISLE_ENV": "local", "SECRET_KEY": secrets["secret-key"], "SERVICE_SECRET": secrets["service-secret"],
        "USERS_URL": shop.urls["users"], "PRODUCTS_URL": shop.urls["products"], "ORDERS_URL": f"http://127.0.0.1:{free_port()}",
        "REDIS_URL": f"redis://:{secrets['redis-password']}@127.0.0.1:{redis_port}/0", "WEB_WORKERS": "1",
    }  # fmt: skip
    process, url = start_service(
        "storefront", tmp_path_factory.mktemp("half") / "storefront.log", {**os.environ, **env}
    )
    yield url
    process.stop()


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
    assert (page.status, "short break" in page.text) == (503, True)
    visitor.get("/product/cup-16")
    assert visitor.submit("/basket").path == "/basket"
    assert visitor.get("/checkout").status == 503
    assert visitor.get("/basket").form("/basket/cup-16").values["quantity"] == "1", (
        "nothing is lost meanwhile"
    )
