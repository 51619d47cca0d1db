"""The users service keeps its OpenAPI page's word, whatever it is sent."""

import pytest

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN
from tests.contract import keep_contract
from tests.processes import free_port

EMAIL, TOKEN = "an e-mail address's grammar", "a token must be one that was given out"
STRICTER = {
    "GET /v1/admin/audit": "a span ends after it begins, and is not too long",
    "POST /v1/users": EMAIL,
    "POST /v1/users/registrations": EMAIL,
    "POST /v1/users/verify": TOKEN,
    "POST /v1/users/verify/resend": EMAIL,
    "POST /v1/password-resets": EMAIL,
    "POST /v1/password-resets/confirm": TOKEN,
    "PUT /v1/users/me/kept": "a category must be one of the shop's",
    "POST /v1/users/stock-alerts": EMAIL,
    "POST /v1/users/stock-alerts/confirmation": TOKEN,
    "POST /v1/users/stock-alerts/cancellation": TOKEN,
}


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS, ORDERS)
    service("products")
    service("orders")
    unlimited = {"LOGIN_TRIES_PER_ADDRESS": "1000000", "LOGIN_TRIES_PER_ACCOUNT": "1000000"}
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", SYNC_WAIT_SECONDS="1", **unlimited)


@pytest.mark.timeout(900)  # thousands of requests
def test_nothing_it_is_sent_makes_it_break_its_word(users_url, admin, environment):
    user = {"Authorization": f"Bearer {admin.token}"}
    service = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}

    def headers_for(case):
        return service if case.path.startswith("/v1/internal") else user

    skip = ("DELETE /v1/users/me",)
    assert keep_contract(users_url, headers_for, examples=8, skip=skip, stricter=STRICTER) > 35
