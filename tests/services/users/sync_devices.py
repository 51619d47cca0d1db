"""What the tests of sync do as a device does: pull, edit, push. A users service with goods beside it."""

import hashlib
import secrets

import pytest

from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN
from tests.patience import patient
from tests.processes import free_port
from tests.services.users.conftest import Api
from tests.services.users.test_basket import sell
from tests.waiting import eventually

SYNC = "/v1/users/me/sync"
ADDRESS = {
    "name": "Ann Doe",
    "line1": "1 High Street",
    "city": "Leeds",
    "postcode": "LS1 4DY",
    "country": "GB",
}


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    """Devices wait for longer than requests of tests do, so one that is answered was woken."""
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS)
    service("products")
    return service(
        "users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100", SYNC_WAIT_SECONDS="300"
    )


@pytest.fixture(scope="module")
def products(users_url, admin, environment):
    return Api(environment["PRODUCTS_URL"], admin.token)


@pytest.fixture(scope="module")
def goods(products):
    """Five products that anybody may buy."""
    names = [f"sync-{number}" for number in range(5)]
    for name in names:
        sell(products, name)
    return names


def changes(person, since="0", **more):
    query = {"since": since, "style": "all_docs", **more}
    answer = patient(lambda: person.get(f"{SYNC}/_changes", params=query))
    assert answer.status_code == 200, answer.text
    return answer.json()


def pull(person, since="0"):
    """What a device does: the documents by id, and the sequence to go on from."""
    told = changes(person, since)
    asked = [{"id": row["id"], "rev": each["rev"]} for row in told["results"] for each in row["changes"]]
    answer = patient(lambda: person.post(f"{SYNC}/_bulk_get?revs=true&latest=true", {"docs": asked}))
    assert answer.status_code == 200, answer.text
    found = [each["ok"] for row in answer.json()["results"] for each in row["docs"]]
    return found, told["last_seq"]


def edited(doc, **changes):
    """A device's own revision of a document that it pulled."""
    revisions = doc["_revisions"]
    new = secrets.token_hex(16)
    ids = [new, *revisions["ids"]]
    start = revisions["start"] + 1
    return {**doc, **changes, "_rev": f"{start}-{new}", "_revisions": {"start": start, "ids": ids}}


def made(docid, **content):
    new = hashlib.md5(repr(content).encode()).hexdigest()
    return {"_id": docid, "_rev": f"1-{new}", "_revisions": {"start": 1, "ids": [new]}, **content}


def push(person, *docs):
    answer = person.post(f"{SYNC}/_bulk_docs", {"docs": docs, "new_edits": False})
    assert answer.status_code == 201, answer.text
    return answer.json()


def line(person, name):
    """Of a product in the basket the document, as soon as it is told."""
    docid = f"basket-{name}"

    def told():
        docs, _ = pull(person)
        return next((doc for doc in docs if doc["_id"] == docid and not doc.get("_deleted")), None)

    return eventually(told)


def basket(person):
    return {item["productid"]: item["quantity"] for item in person.get("/v1/users/me/basket").json()["items"]}


def partition(database, person):
    docs = database.partition(f"user{person.userid}").all()
    return {doc["_id"].partition(":")[2]: {"doc": doc} for doc in docs}


def longpoll(person, since, **more):
    return changes(person, since, feed="longpoll", heartbeat=10000, **more)
