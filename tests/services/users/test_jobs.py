"""What the worker does for accounts: expired documents go, interrupted erasures are finished."""

from functools import partial

import pytest

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.actions.privacy import finish_erasures
from services.users.actions.sessions import remove_expired
from services.users.documents import DESIGN, auth_id, claim_id
from tests.processes import free_port
from tests.waiting import eventually

LONG_AGO, FAR_AHEAD = "2020-01-01T00:00:00.000Z", "2090-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    prepared(DESIGN, ORDERS, PRODUCTS)
    environment["ORDERS_URL"] = f"http://127.0.0.1:{free_port()}"
    environment["PRODUCTS_URL"] = f"http://127.0.0.1:{free_port()}"
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100")


def test_expired_tokens_and_sessions_go_and_others_stay(person, nobody, database, deps):
    ann = person()
    nobody.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token})
    key = f"user{ann.userid}"
    docs = {
        name: eventually(partial(database.partition(key).all, f"{name}-"))[0] for name in ("token", "session")
    }
    for name, doc in docs.items():
        database.put({**doc, "expires": LONG_AGO})
        database.put(
            {
                **{k: v for k, v in doc.items() if k != "_rev"},
                "_id": f"{key}:{name}-later",
                "expires": FAR_AHEAD,
            }
        )
    assert remove_expired(deps) == 2
    assert remove_expired(deps) == 0
    left = [doc["_id"] for doc in database.partition(key).all() if doc["type"] != "accountemail"]
    assert sorted(left) == [auth_id(ann.userid), f"{key}:session-later", f"{key}:token-later"]


def test_an_erasure_that_orders_missed_is_finished_later(person, database, deps, service):
    ann = person()
    ann.post("/v1/users/me/addresses", {"name": "Home", "address": "7 Secret Lane"})
    assert ann.delete("/v1/users/me").status_code == 204
    marker = database.get(auth_id(ann.userid))
    assert (marker["erasure"], marker["email"], marker["name"]) == ("started", "", "")
    assert [doc["_id"] for doc in database.partition(f"user{ann.userid}").all()] == [marker["_id"]]
    assert database.get_many([claim_id(ann.email)]) == {}, "the e-mail is free at once"
    assert finish_erasures(deps) == 0
    service("orders")
    assert finish_erasures(deps) == 0, "the reviews are still there"
    service("products")
    assert finish_erasures(deps) == 1
    assert database.get(auth_id(ann.userid))["erasure"] == "done"
    assert finish_erasures(deps) == 0
