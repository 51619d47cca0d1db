"""What a user looked at lately: documents in a partition of their own, few and not for long."""

from datetime import timedelta

import pytest

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.actions.conflicts import settle_conflicts
from services.users.actions.sessions import remove_expired
from services.users.documents import DESIGN, seen_partition
from shared.clock import iso, now
from shared.couch import document_id
from tests.services.users.test_conflicts import diverge
from tests.waiting import eventually

PATH = "/v1/users/me/viewed"


@pytest.fixture(scope="module")
def users_url(prepared, service, users_settings):
    prepared(DESIGN, ORDERS, PRODUCTS)
    service("products")
    service("orders")
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100")


def seen(user) -> list[str]:
    return [each["productid"] for each in user.get(PATH).json()["items"]]


def docid(user, productid: str) -> str:
    return document_id(seen_partition(user.userid), productid)


def test_the_last_twenty_are_kept_the_newest_first(person, database):
    ann = person()
    assert seen(ann) == []
    for number in range(25):
        assert ann.put(f"{PATH}/mug-{number}").status_code == 204
    assert ann.put(f"{PATH}/mug-10").status_code == 204
    assert seen(ann) == ["mug-10", *(f"mug-{n}" for n in range(24, 4, -1) if n != 10)]
    assert len(database.partition(seen_partition(ann.userid)).all()) == 20
    pages = ann.get(f"{PATH}?limit=15").json()
    assert len(ann.get(f"{PATH}?limit=15&cursor={pages['next']}").json()["items"]) == 5


def test_they_cost_a_query_and_a_write_and_nobody_else_reads_them(person, one_list):
    ann, bob = person(), person()
    ann.put(f"{PATH}/kettle")
    answers = {
        "list": ann.get(PATH),
        "add": ann.put(f"{PATH}/teapot"),
        "me": ann.get("/v1/users/me"),
    }
    assert "partition;dur" in answers["list"].headers["Server-Timing"]
    counted = {name: calls(answer) for name, answer in answers.items()}
    assert counted["list"] == {"partition": 1}
    assert counted["add"] == {"partition": 1, "write": 1}
    assert counted["me"] == {kind: number for kind, number in one_list.items() if number}
    assert seen(bob) == []


def calls(answer) -> dict[str, int]:
    parts = (part.split(";") for part in answer.headers["Server-Timing"].split(", "))
    found = {part[0]: int(part[2].removeprefix('desc="').rstrip('"')) for part in parts if len(part) == 3}
    return {kind: number for kind, number in found.items() if number}


def test_what_was_seen_a_month_ago_is_not_shown_and_is_removed(person, database, deps):
    ann = person()
    ann.put(f"{PATH}/old")
    ann.put(f"{PATH}/new")
    doc = database.get(docid(ann, "old"))
    database.put({**doc, "expires": iso(now() - timedelta(hours=1))})
    eventually(lambda: seen(ann) == ["new"])
    assert remove_expired(deps) >= 1
    assert [each["productid"] for each in database.partition(seen_partition(ann.userid)).all()] == ["new"]


def test_of_two_replicas_views_the_later_counts(person, database, deps):
    ann = person()
    ann.put(f"{PATH}/kettle")
    diverge(
        database,
        docid(ann, "kettle"),
        {"viewed": "2031-01-01T00:00:00.000Z"},
        {"viewed": "2029-01-01T00:00:00.000Z"},
    )
    assert settle_conflicts(deps) >= 1
    doc = database.get(docid(ann, "kettle"), conflicts=True)
    assert "_conflicts" not in doc
    assert doc["viewed"] == "2031-01-01T00:00:00.000Z"


def test_an_erasure_takes_them_along_and_they_do_not_come_back(person, database, deps):
    ann = person()
    ann.put(f"{PATH}/kettle")
    doc = database.get(docid(ann, "kettle"))
    assert ann.delete("/v1/users/me").status_code == 204
    assert database.partition(seen_partition(ann.userid)).all() == []
    del doc["_rev"]
    database.put(doc)  # a replica that had not heard of it

    def is_gone():
        settle_conflicts(deps)
        return database.partition(seen_partition(ann.userid)).all() == []

    eventually(is_gone)
