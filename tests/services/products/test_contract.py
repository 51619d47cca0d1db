"""The service against its own OpenAPI page."""

import pytest

from services.products.documents import DESIGN
from tests.contract import keep_contract
from tests.services.products.conftest import ADMIN, SERVICE, Shop, product, token


@pytest.fixture(scope="module")
def shop(prepared, service, neighbours) -> Shop:
    """Devices wait for a second."""
    prepared(DESIGN)
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    return Shop(service("products", ACCESS_LOG="false", SYNC_WAIT_SECONDS="1", **urls), neighbours)


@pytest.mark.timeout(900)  # thousands of requests
def test_every_endpoint_keeps_its_contract(shop: Shop):
    shop.load([product("p1", stock=5)])
    admin = token(*ADMIN)

    def headers(case) -> dict[str, str]:
        return SERVICE if "/internal/" in case.path else admin

    stricter = {
        "POST /v1/products": "the delivery's currency is the price's",
        "PUT /v1/products/{productid}": "the delivery's currency is the price's",
        "POST /v1/admin/products/bulk-edit": "the stock changes, or something else of the products",
        "POST /v1/admin/products/stock": "a change or a count of each SKU, and each once",
        "POST /v1/admin/supplier-deliveries": "what comes is sold here, by its SKU",
        "POST /v1/admin/product-types": "only attributes with a choice have values, only numbers a unit",
        "PUT /v1/admin/product-types/{code}": "only attributes with a choice have values, only numbers a unit",
        "PUT /v1/admin/categories/{path}": "the path is that of the address",
        "PUT /v1/admin/search/synonyms/{query}": "a query has a word, a synonym is another one",
        "PUT /v1/admin/search/redirects/{query}": "a category that there is, or an address",
        "PUT /v1/admin/search/pins/{query}": "products that there are",
        "PUT /v1/admin/search/hidden/{query}": "a query has a word",
    }
    imports = ("POST /v1/products/import", "POST /v1/admin/categories")
    assert keep_contract(shop.url, headers, examples=6, stricter=stricter, free_text=imports) > 20
