"""The service against its own OpenAPI page."""

from tests.contract import keep_contract
from tests.services.products.conftest import ADMIN, SERVICE, Shop, product, token


def test_every_endpoint_keeps_its_contract(shop: Shop):
    shop.load([product("p1", stock=5)])
    admin = token(*ADMIN)

    def headers(case) -> dict[str, str]:
        return SERVICE if "/internal/" in case.path else admin

    assert keep_contract(shop.url, headers, examples=6) > 20
