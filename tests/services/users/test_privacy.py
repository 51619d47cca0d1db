"""Export and erasure, with the real orders service."""

import pytest

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.actions.conflicts import settle_conflicts
from services.users.documents import BASKET_ITEM, DESIGN, auth_id, blanked, claim_id, user_document
from tests.services.users.conftest import PASSWORD, log_in


@pytest.fixture(scope="module")
def users_url(prepared, service, users_settings):
    prepared(DESIGN, ORDERS, PRODUCTS)
    service("products")
    service("orders")
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100")


def furnish(ann):
    ann.post("/v1/users/me/addresses", {"name": "Home", "address": "7 Secret Lane"})
    ann.post("/v1/users/me/payment-methods", {"provider": "sandbox", "reference": "pm_private"})
    ann.patch("/v1/users/me/preferences", {"language": "fr"})
    ann.put("/v1/users/me/viewed/kettle")


def test_the_export_holds_everything_and_no_secret(person):
    ann = person(name="Ann Export")
    furnish(ann)
    answer = ann.get("/v1/users/me/export")
    assert answer.status_code == 200, answer.text
    data = answer.json()
    assert data["profile"]["name"] == "Ann Export"
    assert data["profile"]["addresses"][0]["address"] == "7 Secret Lane"
    assert data["profile"]["preferences"]["language"] == "fr"
    assert data["recently_viewed"][0]["productid"] == "kettle"
    assert (data["orders"], data["store_credit"], data["reviews"]) == ([], [], [])
    kinds = {doc["type"] for doc in data["documents"]}
    assert kinds == {"user", "userdelivery", "paymentmethod", "preferences", "token", "accountemail"}
    assert "argon2" not in answer.text


def test_erasure_leaves_a_nameless_marker_and_frees_the_email(person, nobody, database):
    ann = person(name="Ann Erase")
    furnish(ann)
    assert ann.delete("/v1/users/me").status_code == 204
    left = database.partition(f"user{ann.userid}").all()
    assert [doc["_id"] for doc in left] == [auth_id(ann.userid)]
    assert left[0]["erasure"] == "done"
    for trace in ("Ann Erase", ann.email, claim_id(ann.email), "7 Secret Lane", "argon2"):
        assert trace not in str(left)
    assert ann.get("/v1/users/me").status_code == 401
    assert ann.get("/v1/users/me/export").status_code == 401
    assert nobody.post("/v1/sessions", {"email": ann.email, "password": PASSWORD}).status_code == 401
    assert nobody.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token}).status_code == 410
    assert person(email=ann.email).userid != ann.userid


def test_documents_are_overwritten_before_they_are_deleted(person, database):
    ann = person()
    made = ann.post("/v1/users/me/addresses", {"name": "Home", "address": "7 Secret Lane"}).json()
    docid = f"user{ann.userid}:delivery{made['id']}"
    ann.delete("/v1/users/me")
    rows = [row for row in database.changes(limit=10_000).rows if row.id == docid]
    assert rows[0].deleted
    assert rows[0].rev.startswith("3-"), "written, overwritten, deleted"


def test_an_erasure_that_broke_off_half_way_breaks_no_request(person, database, environment):
    """Overwritten and not deleted yet: whoever still has a token finds nothing, and no 500."""
    ann = person()
    furnish(ann)
    basket = BASKET_ITEM.new(
        user_document(ann.userid, "basket-kettle"),
        userid=ann.userid,
        productid="kettle",
        quantity=1,
        updated="2026",
    )
    database.put(basket)
    partition = database.partition(f"user{ann.userid}")
    database.put_many(blanked(doc) for doc in partition.all() if doc["type"] != "user")
    places = ("addresses", "addresses/default", "basket", "payment-methods", "preferences")
    statuses = {place: ann.get(f"/v1/users/me/{place}").status_code for place in places}
    assert statuses == dict.fromkeys(places, 200) | {"addresses/default": 404}
    assert ann.patch("/v1/users/me/preferences", {"language": "en"}).status_code == 409
    assert ann.delete("/v1/users/me").status_code == 204
    assert [doc["_id"] for doc in partition.all()] == [auth_id(ann.userid)]


def test_a_password_sent_along_must_be_right(person):
    ann = person()
    assert ann.delete("/v1/users/me", json={"current_password": "wrong one"}).status_code == 403
    assert ann.get("/v1/users/me").status_code == 200
    assert ann.delete("/v1/users/me", json={"current_password": PASSWORD}).status_code == 204


def test_what_came_back_from_another_replica_goes_again(person, database, deps):
    ann = person()
    ann.delete("/v1/users/me")
    settle_conflicts(deps)
    docid = f"user{ann.userid}:basket-kettle"
    database.put(
        {
            "_id": docid,
            "type": "basketline",
            "schema": 1,
            "userid": ann.userid,
            "productid": "kettle",
            "quantity": 1,
            "updated": "2026",
        }
    )
    settle_conflicts(deps)
    assert [doc["_id"] for doc in database.partition(f"user{ann.userid}").all()] == [auth_id(ann.userid)]


def test_logging_in_after_an_erasure_needs_a_new_account(person, nobody):
    ann = person()
    ann.delete("/v1/users/me")
    again = person(email=ann.email)
    assert log_in(nobody, ann.email).userid == again.userid
