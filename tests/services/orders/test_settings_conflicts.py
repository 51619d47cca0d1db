"""Two versions of a setting that were saved apart, as a dead writer or two replicas leave them: one holds, by rule, and none is lost."""

from collections.abc import Iterator
from typing import Any

import pytest

from services.orders.actions.conflicts import settle_conflicts
from services.orders.dependencies import Dependencies
from services.orders.shop_settings import SHIPPING_METHOD, setting_id, version_id
from shared.couch import Database, Server, UpdateConflict
from tests.services.orders.conftest import Shop
from tests.services.orders.test_promotions import promotion
from tests.waiting import Holds

ID = "apart"
PATH = f"/v1/admin/shipping-methods/{ID}"


@pytest.fixture
def method(shop: Shop, database: Database, holds: Holds) -> Iterator[dict[str, Any]]:
    """A shipping method as it is stored, in its second version."""
    content = {"id": ID, "name": "First", "rate": "flat", "prices": {"GBP": 100}}
    assert shop.post(shop.admin, PATH.rpartition("/")[0], content).status_code == 201
    answer = shop.admin.put(f"{shop.orders}{PATH}", json=content | {"name": "Second"}, timeout=60)
    assert answer.status_code == 200, answer.text
    docid = setting_id(SHIPPING_METHOD, ID)
    yield database.get(docid)
    for key in (docid, *(doc["_id"] for doc in database.partition("settings_history").all())):
        holds(lambda key=key: is_removed(database, key))


def is_removed(database: Database, docid: str) -> bool:
    """Removes it; False while nodes of a cluster do not agree on what is there."""
    try:
        database.delete(docid, database.get(docid)["_rev"])
    except UpdateConflict:
        return False
    return True


def beside(server: Server, database: Database, doc: dict[str, Any], digit: str, **changed: Any) -> None:
    """Another revision of a document after the same one before it, as a node keeps it that nobody heard of, or replication brings it."""
    found = server.client.call(
        "get_document", db=database.name, doc_id=doc["_id"], rev=doc["_rev"], revs=True
    )
    ids = found["_revisions"]["ids"][1:]
    start = int(doc["_rev"].partition("-")[0])
    revisions = {"start": start, "ids": [digit * 32, *ids]}
    docs = [doc | changed | {"_rev": f"{start}-{digit * 32}", "_revisions": revisions}]
    server.client.call("post_bulk_docs", db=database.name, bulk_docs={"docs": docs, "new_edits": False})


def shown(shop: Shop) -> dict[str, Any]:
    return shop.get(shop.admin, PATH).json()


@pytest.mark.parametrize("digit", ["0", "f"], ids=["hidden by the database", "shown by the database"])
def test_what_was_saved_last_holds_and_the_other_is_kept(
    shop: Shop,
    deps: Dependencies,
    server: Server,
    database: Database,
    method: dict[str, Any],
    holds: Holds,
    digit: str,
) -> None:
    later = {"edited": "2099-01-01T00:00:00.000Z", "edited_by": "dead", "name": "Later"}
    beside(server, database, method, digit, **later)
    holds(lambda: settle_conflicts(deps) == 1)
    holds(lambda: settle_conflicts(deps) == 0)

    def state() -> tuple[bool, str, str]:
        """On a cluster the rows that told of no conflict may have been those of a node that has not got it yet."""
        settle_conflicts(deps)
        stored = database.get(method["_id"], conflicts=True)
        return "_conflicts" in stored, stored["name"], shown(shop)["name"]

    holds(lambda: state() == (False, "Later", "Later"))

    def versions() -> list[tuple[int, str, str | None]]:
        items = shop.get(shop.admin, f"{PATH}/history").json()["items"]
        return [(each["version"], each["name"], each.get("superseded")) for each in items]

    holds(lambda: versions() == [(2, "Later", None), (2, "Second", later["edited"]), (1, "First", None)])


def test_the_version_that_was_edited_more_often_holds(
    shop: Shop,
    deps: Dependencies,
    server: Server,
    database: Database,
    method: dict[str, Any],
    holds: Holds,
) -> None:
    beside(server, database, method, "f", version=1, edited="2099-01-01T00:00:00.000Z", name="Older")
    holds(lambda: settle_conflicts(deps) == 1)
    holds(lambda: shown(shop)["name"] == "Second")


def names_of_versions(shop: Shop) -> list[str]:
    return [each["name"] for each in shop.get(shop.admin, f"{PATH}/history").json()["items"]]


def test_the_settled_version_can_be_replaced_and_is_kept_then(
    shop: Shop,
    deps: Dependencies,
    server: Server,
    database: Database,
    method: dict[str, Any],
    holds: Holds,
) -> None:
    beside(server, database, method, "f", edited="2000-01-01T00:00:00.000Z", name="Dead")
    holds(lambda: settle_conflicts(deps) == 1)
    content = {"id": ID, "name": "Third", "rate": "flat", "prices": {"GBP": 100}}
    assert shop.admin.put(f"{shop.orders}{PATH}", json=content, timeout=60).status_code == 200
    holds(lambda: names_of_versions(shop) == ["Third", "Dead", "Second", "First"])
    page = shop.get(shop.admin, f"{PATH}/history", params={"limit": 1}).json()
    names = [page["items"][0]["name"]]
    while page["next"]:
        page = shop.get(shop.admin, f"{PATH}/history", params={"limit": 1, "cursor": page["next"]}).json()
        names += [each["name"] for each in page["items"]]
    assert names == ["Third", "Dead", "Second", "First"]


def test_kept_versions_that_differ_are_both_kept(
    shop: Shop,
    deps: Dependencies,
    server: Server,
    database: Database,
    method: dict[str, Any],
    holds: Holds,
) -> None:
    holds(lambda: names_of_versions(shop) == ["Second", "First"])
    kept = database.get(version_id(method | {"version": 1}))
    beside(server, database, kept, "f", edited="2000-01-01T00:00:00.000Z", name="Elsewhere")
    holds(lambda: settle_conflicts(deps) == 1)
    holds(lambda: names_of_versions(shop) == ["Second", "Elsewhere", "First"])


def test_the_audit_trail_names_both(
    shop: Shop,
    deps: Dependencies,
    server: Server,
    database: Database,
    method: dict[str, Any],
    holds: Holds,
) -> None:
    def settled() -> list[dict[str, Any]]:
        subject = {"subject": f"{SHIPPING_METHOD}.{ID}"}
        entries = shop.admin.get(f"{shop.users}/v1/admin/audit", params=subject, timeout=60).json()["items"]
        return [each for each in entries if each["details"]["kept"].startswith("version 2 of 2098")]

    beside(server, database, method, "f", edited="2098-02-03T00:00:00.000Z", edited_by="dead")
    holds(lambda: settle_conflicts(deps) == 1)
    holds(settled)
    [entry] = settled()
    assert (entry["action"], entry["actor"]) == ("settle setting", "worker")
    assert method["edited_by"] in entry["details"]["superseded"][0]


def test_a_limit_that_gave_way_leaves_no_slots_behind(
    shop: Shop, deps: Dependencies, server: Server, database: Database, holds: Holds
) -> None:
    made = promotion(shop, limit=5)
    stored = database.get(setting_id("promotion", made["id"]))
    beside(server, database, stored, "0", limit=2, edited="2099-01-01T00:00:00.000Z")
    holds(lambda: settle_conflicts(deps) == 1)
    uses = shop.get(shop.admin, f"/v1/admin/promotions/{made['id']}/uses").json()
    assert uses["limit"] == 2
    assert len(deps.promotions.uses(made["id"])) == 2
