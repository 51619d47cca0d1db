"""Orders of a closed year in an archive: lists and reports say the same as before, and what comes back is what went."""

import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from services.orders.actions import archive
from services.orders.dependencies import Dependencies
from services.orders.documents import CONFLICTS, DESIGN, PERSONAL, order_partition
from services.orders.rules.archive import reason_to_stay
from services.orders.store.archive import ArchiveStore
from services.orders.store.archive_files import ArchiveDamaged, ArchiveFiles
from shared.clock import now
from shared.couch import Database, View
from shared.errors import AisleError, Invalid
from tests.people import Person
from tests.processes import ROOT
from tests.services.orders.conftest import Shop, until
from tests.services.orders.test_desk_orders import line, send
from tests.services.orders.test_promotions import code, promotion
from tests.services.worker.processes import Worker

LONG_AGO = 2014
LATER = timedelta(days=500)
REPORTS = (
    "/v1/admin/reports/sales?by=month",
    "/v1/admin/reports/best-sellers?limit=100",
    "/v1/admin/reports/tax",
    "/v1/admin/reports/fulfilment",
    "/v1/admin/orders/counts",
    "/v1/admin/orders?limit=100",
    "/v1/admin/orders?q=ada&limit=100",
    "/v1/admin/orders?status=delivered&limit=100",
)

Documents = dict[str, dict[str, Any]]


def documents(database: Database) -> Documents:
    """All of orders, without revisions."""
    docs = database.across_partitions.documents("order", "order\uffff", limit=5000)
    return {
        doc["_id"]: {name: value for name, value in doc.items() if name != "_rev"}
        for doc in docs
        if not doc["_id"].startswith(("orders", "order-"))
    }


def indexes(database: Database) -> dict[str, Any]:
    """What every index of lists and reports says of all that is written, grouped as finely as it can be."""
    found = {}
    for view in DESIGN.patterns:
        if isinstance(view, View) and not view.partitioned and view not in (PERSONAL, CONFLICTS):
            rows = database.across_partitions.view(
                view, allow_stale=False, **({"group": True} if view.reduce else {"reduce": None})
            )
            found[view.name] = [(row["key"], row["value"]) for row in rows if not _is_of_staff(row["key"])]
    return found


def _is_of_staff(key: Any) -> bool:
    """Rows of the audit trail, which says what the archive did."""
    return isinstance(key, list) and ("operator" in key or "" in key[:2])


def answers(shop: Shop, customer: Person) -> list[Any]:
    found = [shop.get(shop.admin, path) for path in REPORTS] + [shop.get(customer, "/v1/orders?limit=100")]
    assert [each.status_code for each in found] == [200] * len(found)
    return [each.json() for each in found]


def settled(look: Callable[[], list[Any]]) -> list[Any]:
    """What is answered twice with a second between: a list that is behind is asked for what it has, too."""
    before: list[Any] = []
    while (found := look()) != before:
        before = found
        time.sleep(1)
    return found


@pytest.fixture(scope="module")
def store(database: Database) -> ArchiveStore:
    return ArchiveStore(database)


@pytest.fixture(scope="module")
def lived(shop: Shop, customer: Person, worker: Worker, database: Database) -> dict[str, str]:
    """Orders that ended in every way, by how they did: {"delivered": orderid}."""
    goods, other = shop.product(), shop.product(price=700)
    promotion(shop, codes=[name := code()])
    ids = {
        "delivered": shop.placed(customer, {goods: 2, other: 1}, codes=[name])["orderid"],
        "returned in part": shop.placed(customer, {goods: 2})["orderid"],
        "refunded": shop.placed(customer, {other: 1})["orderid"],
    }
    declined = shop.order(customer, {goods: 1}, payment={"provider": "sandbox", "token": "tok_declined"})
    assert declined.status_code == 402
    cancelled = shop.placed(customer, {goods: 1})["orderid"]
    shop.post(customer, f"/v1/orders/{cancelled}/cancellation")
    ids["cancelled"] = cancelled
    for orderid in ids.values():
        until(lambda each=orderid: _status(shop, each) in ("delivered", "cancelled"))
    shop.sent_back(customer, ids["returned in part"], {goods: 1}, condition="damaged")
    refund = {"amount": {"amount": 100, "currency": "GBP"}, "reason": "A scratch."}
    answer = shop.post(
        shop.admin,
        f"/v1/admin/orders/{ids['refunded']}/refunds",
        refund,
        headers={"Idempotency-Key": secrets.token_hex(8)},
    )
    assert answer.status_code in (200, 201), answer.text
    note = shop.post(
        shop.admin, f"/v1/admin/orders/{ids['delivered']}/notes", {"text": "Rang to say thanks."}
    )
    assert note.status_code == 201
    for orderid in ids.values():
        until(lambda each=orderid: not _reason(database, each))
    return ids


def _status(shop: Shop, orderid: str) -> str:
    return str(shop.get(shop.admin, f"/v1/orders/{orderid}").json()["status"])


def _reason(database: Database, orderid: str) -> str:
    docs = database.partition(order_partition(orderid)).all(conflicts=True)
    return reason_to_stay(docs, now() + LATER)


def saved(store: ArchiveStore, folder: Path, year: int, moment: datetime, orders: int = 3) -> ArchiveFiles:
    files = ArchiveFiles(folder)
    archive.save(store, files, year, moment, print, orders=orders)
    return files


def test_lists_and_reports_say_the_same_of_archived_orders_and_all_comes_back(
    shop: Shop,
    customer: Person,
    database: Database,
    store: ArchiveStore,
    lived: dict[str, str],
    tmp_path: Path,
) -> None:
    moment = now() + LATER
    docs, rows = documents(database), indexes(database)
    said = settled(partial(answers, shop, customer))
    files = saved(store, tmp_path / "orders", now().year, moment)
    assert documents(database) == docs
    assert archive.verify(files, print) == len(lived) + 1
    outcome = archive.remove(store, files, moment, print)
    assert (outcome.done, outcome.left) == (len(lived) + 1, {})
    live = documents(database)
    assert sum(len(orjson.dumps(doc)) for doc in live.values()) < 0.7 * sum(
        len(orjson.dumps(doc)) for doc in docs.values()
    )
    assert len(live) < len(docs) / 2
    assert indexes(database) == rows
    with suppress(AssertionError):
        until(lambda: answers(shop, customer) == said)
    assert answers(shop, customer) == said
    for verb in ("remove", "remove"):
        assert getattr(archive, verb)(store, files, moment, print).left == {}
    assert documents(database) == live
    _check_archived(shop, customer, docs, lived)
    assert archive.restore(store, files, print, lived["refunded"]).done == 1
    assert shop.get(customer, f"/v1/orders/{lived['refunded']}").json()["refunded"] == "part"
    assert indexes(database) == rows
    assert archive.restore(store, files, print).done == len(lived)
    assert archive.restore(store, files, print).done == 0
    assert documents(database) == docs
    assert indexes(database) == rows
    until(lambda: answers(shop, customer) == said)


def _check_archived(shop: Shop, customer: Person, docs: Documents, lived: dict[str, str]) -> None:
    orderid = lived["delivered"]
    number = docs[f"order{orderid}:order"]["number"]
    for person, path in (
        (customer, f"/v1/orders/{orderid}"),
        (customer, f"/v1/orders/{orderid}/items"),
        (shop.admin, f"/v1/admin/orders/{orderid}/notes"),
    ):
        answer = shop.get(person, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "order_archived"), path
        assert answer.json()["number"] == number
    assert shop.get(shop.customer(), f"/v1/orders/{orderid}").json()["code"] == "no_such_order"
    (listed,) = shop.get(shop.admin, f"/v1/admin/orders?q={number}").json()["items"]
    assert (listed["orderid"], listed["status"]) == (orderid, "delivered")


def test_what_has_not_ended_stays_and_the_year_must_have(
    database: Database, store: ArchiveStore, lived: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match="has not ended"):
        saved(store, tmp_path / "early", now().year, now())
    docs = database.partition(order_partition(lived["delivered"])).all(conflicts=True)
    assert "100 days ago" in reason_to_stay(docs, now() + timedelta(days=99))
    for left_out, why in (("delivery", "not finished"), ("summary", "summary"), ("order", "no order")):
        without = [doc for doc in docs if not doc["_id"].endswith(f":{left_out}")]
        assert why in reason_to_stay(without, now() + LATER)
    assert "replicas" in reason_to_stay([*docs[:-1], {**docs[-1], "_conflicts": ["1-a"]}], now() + LATER)


def test_an_order_that_changed_after_it_was_saved_stays(
    shop: Shop, database: Database, store: ArchiveStore, tmp_path: Path
) -> None:
    send(shop, [_past("changed", n) for n in range(3)])
    files = saved(store, tmp_path / "orders", LONG_AGO, now())
    doc = database.get("orderchanged1:payment")
    database.put({**doc, "provider_ref": "another"})
    outcome = archive.remove(store, files, now(), print)
    assert (outcome.done, list(outcome.left)) == (2, ["changed1"])
    assert "changed since" in outcome.left["changed1"]
    assert database.get("orderchanged1:payment")["provider_ref"] == "another"


def test_a_damaged_file_is_refused_before_anything_is_removed(
    shop: Shop, database: Database, store: ArchiveStore, tmp_path: Path
) -> None:
    send(shop, [_past("damaged", n) for n in range(4)])
    files = saved(store, tmp_path / "orders", LONG_AGO, now(), orders=2)
    path = files.folder / files.parts[0]["file"]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    before = documents(database)
    for act in (
        lambda: archive.verify(files, print),
        lambda: archive.remove(store, files, now(), print),
        lambda: archive.restore(store, files, print),
    ):
        with pytest.raises(ArchiveDamaged, match="damaged or missing"):
            act()
    assert documents(database) == before


def test_archived_orders_are_not_imported_or_placed_a_second_time(
    shop: Shop, customer: Person, database: Database, store: ArchiveStore, tmp_path: Path
) -> None:
    lines = [_past("again", n) for n in range(2)]
    send(shop, lines)
    archive.remove(store, saved(store, tmp_path / "orders", LONG_AGO, now()), now(), print)
    before = documents(database)
    path = f"{shop.orders}/v1/admin/orders/import"
    other = {**lines[1], "currency": "EUR", "items": [_in_euros(each) for each in lines[1]["items"]]}
    body = b"\n".join(map(orjson.dumps, (lines[0], other)))
    answer = shop.admin.post(path, data=body, headers={"Content-Type": "application/x-ndjson"}, timeout=60)
    result = answer.json()
    assert (result["created"], result["unchanged"]) == (0, 1), answer.text
    assert documents(database) == before


def test_a_person_s_data_is_not_in_the_archive_and_is_erased_beside_it(
    shop: Shop, deps: Dependencies, database: Database, store: ArchiveStore, tmp_path: Path
) -> None:
    planted = f"Zyx{secrets.token_hex(6)}"
    person = {"name": planted, "email": f"{planted}@example.com", "userid": None}
    send(shop, [{**_past("guest", n), **person} for n in range(2)])
    files = saved(store, tmp_path / "orders", LONG_AGO, now())
    archive.remove(store, files, now(), print)
    text = b"".join(orjson.dumps(order) for part in files.parts for order in files.read(part))
    assert planted.lower().encode() not in text.lower()
    exported = shop.post(shop.admin, "/v1/admin/guests/export", {"email": person["email"]})
    assert [each["name"] for each in exported.json()["items"]] == [planted] * 2
    erased = shop.post(shop.admin, "/v1/admin/guests/erasure", {"email": person["email"]})
    assert erased.status_code in (200, 201), erased.text
    assert planted.lower() not in orjson.dumps(documents(database)).decode().lower()
    archive.restore(store, files, print)
    assert planted.lower() not in orjson.dumps(documents(database)).decode().lower()


@pytest.fixture
def command(environment: dict[str, str]) -> Iterator[Any]:
    def run(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "services.archive", *arguments],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return run


def test_killed_at_any_moment_the_command_loses_nothing_and_goes_on(
    shop: Shop, database: Database, command: Any, tmp_path: Path
) -> None:
    """Each verb is killed after a line of its own that it has printed, a moment later each time, until it comes through."""
    year, chance = LONG_AGO + 1, random.Random(19)
    send(shop, [_past("killed", n, year) for n in range(60)])
    docs, rows = documents(database), indexes(database)
    folder = str(tmp_path / "orders")
    for verb in (
        ["save", folder, "--year", str(year), "--orders-per-file", "5"],
        ["remove", folder, "--yes"],
        ["restore", folder],
    ):
        assert _until_done(command, verb, chance, kills=3) == 0
        whole = documents(database)
        files = ArchiveFiles(Path(folder))
        held = {doc["_id"]: doc for part in files.parts for order in files.read(part) for doc in order}
        assert {**whole, **held}.keys() >= docs.keys()
        if verb[0] == "remove":
            assert not held.keys() & whole.keys()
        present = indexes(database)
        assert {name: _difference(present[name], rows[name]) for name in rows} == dict.fromkeys(rows, [])
    assert documents(database) == docs


def _difference(present: list[Any], before: list[Any]) -> list[Any]:
    return [row for row in present if row not in before] + [row for row in before if row not in present]


def _until_done(command: Any, verb: list[str], chance: random.Random, kills: int) -> int:
    for _ in range(kills):
        process = command(*verb)
        for _ in range(chance.randint(1, 6)):
            process.stdout.readline()
        time.sleep(chance.random() / 20)
        process.kill()
        process.communicate()
    process = command(*verb)
    output, _ = process.communicate(timeout=120)
    print(output)
    return int(process.returncode)


def test_the_command_removes_nothing_unless_it_is_told_that_there_is_a_copy(
    shop: Shop, database: Database, command: Any, tmp_path: Path
) -> None:
    send(shop, [_past("kept", n, LONG_AGO + 2) for n in range(2)])
    folder = str(tmp_path / "orders")
    assert command("save", folder, "--year", str(LONG_AGO + 2)).wait(60) == 0
    before = documents(database)
    process = command("remove", folder)
    assert "--yes" in process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert documents(database) == before
    process = command("verify", folder)
    assert "2 orders" in process.communicate(timeout=60)[0]
    with pytest.raises(AisleError, match="another folder"):
        ArchiveFiles(Path(folder)).begin(LONG_AGO)


def _past(name: str, number: int, year: int = LONG_AGO) -> dict[str, Any]:
    date = f"{year}-03-0{1 + number % 9}T10:{number % 60:02d}:00.000Z"
    return line(
        f"{name}{number}", date, name="Ada", email=f"ada{number}@example.com", dispatch={"date": date},
        delivery={"date": date},
    )  # fmt: skip


def _in_euros(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "unitPrice": {**item["unitPrice"], "currency": "EUR"}}
