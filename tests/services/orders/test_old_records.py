"""What the worker removes after its time, and what it never does: looked at over HTTP and in the database, killed at each write."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from services.orders.actions import dead_letters, old_records, reports
from services.orders.dependencies import Dependencies
from services.orders.documents import DAILY_FIGURES, DESIGN, order_key, order_partition, report_key
from services.orders.rules.old_records import ended_dead_letters, is_given_up, may_be_given_up
from services.orders.rules.progress import Progress
from shared.clock import iso, now
from shared.couch import Database, Server
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.waiting import Holds, eventually

LATER = timedelta(days=401)


def given_up(shop: Shop, customer: Person, productid: str) -> str:
    """The id of an order whose card was declined."""
    known = {each["orderid"] for each in listed(shop)}
    answer = shop.order(customer, {productid: 1}, payment={"provider": "sandbox", "token": "tok_declined"})
    assert answer.status_code == 402, answer.text
    (orderid,) = eventually(lambda: {each["orderid"] for each in listed(shop)} - known)
    return orderid


def listed(shop: Shop) -> list[dict[str, Any]]:
    return shop.get(shop.admin, "/v1/admin/orders?limit=100").json()["items"]


def documents(database: Database, orderid: str) -> list[str]:
    return [doc["_id"] for doc in database.partition(order_partition(orderid)).all()]


def forget_progress(deps: Dependencies) -> None:
    deps.orders.set_sweep_checkpoint(old_records.GIVEN_UP_CHECKPOINT, after=None)
    deps.orders.set_sweep_checkpoint(old_records.REPORTS_CHECKPOINT, since=old_records.BEGINNING)


def test_a_checkout_that_was_given_up_goes_after_its_time_and_nothing_else(
    shop: Shop,
    customer: Person,
    database: Database,
    ledger: Database,
    deps: Dependencies,
    server: Server,
    holds: Holds,
) -> None:
    goods = shop.product(cost_prices={"GBP": 300})
    paid = shop.placed(customer, {goods: 1})["orderid"]
    cancelled = shop.placed(customer, {goods: 1})["orderid"]
    assert shop.post(customer, f"/v1/orders/{cancelled}/cancellation").status_code in (200, 201, 202)
    orderid, spoken_of = (given_up(shop, customer, goods) for _ in range(2))
    note = {"text": "They rang: their bank had refused it."}
    assert shop.post(shop.admin, f"/v1/admin/orders/{spoken_of}/notes", note).status_code == 201
    kept = {each: documents(database, each) for each in (paid, cancelled, spoken_of)}
    if not database.has_one_copy:
        server.wait_for_indexes(DESIGN)  # a list is one node's copy
    forget_progress(deps)
    assert old_records.remove_given_up(deps, now() + timedelta(days=99)) == 0
    assert documents(database, orderid)
    assert ledger.partition(order_partition(orderid)).all()
    assert old_records.remove_given_up(deps, now() + LATER) >= 4
    holds(lambda: documents(database, orderid) == [])
    holds(lambda: ledger.partition(order_partition(orderid)).all() == [])
    assert shop.get(shop.admin, f"/v1/orders/{orderid}").status_code == 404
    holds(lambda: {each: documents(database, each) for each in kept} == kept)
    holds(lambda: {paid, cancelled, spoken_of} <= {each["orderid"] for each in listed(shop)})
    holds(lambda: shop.stock(goods) == 99)


@pytest.mark.parametrize("writes", [1, 2])
@pytest.mark.parametrize("before", [True, False])
def test_a_removal_that_is_killed_is_ended_by_the_next_run(
    shop: Shop,
    customer: Person,
    database: Database,
    deps: Dependencies,
    holds: Holds,
    writes: int,
    before: bool,
) -> None:
    goods = shop.product()
    orderids = [given_up(shop, customer, goods) for _ in range(2)]
    forget_progress(deps)

    class DiesAtLast(Dying):
        """Lets the first writes through."""

        def __getattr__(self, name: str) -> Any:
            nonlocal writes
            if name == "remove":
                writes -= 1
            return super().__getattr__(name) if writes == 0 else getattr(deps.old_records, name)

    dying = DiesAtLast(deps.old_records, "remove", before=before)
    with pytest.raises(Killed):
        old_records.remove_given_up(
            replace(deps, stores=replace(deps.stores, old_records=dying)), now() + LATER
        )
    old_records.remove_given_up(deps, now() + LATER)
    holds(lambda: [documents(database, each) for each in orderids] == [[], []])


@pytest.mark.parametrize("left", ["cancellation", "summary"])
def test_one_document_that_a_killed_write_has_left_goes_too(
    shop: Shop, customer: Person, database: Database, deps: Dependencies, left: str
) -> None:
    orderid = given_up(shop, customer, shop.product())
    for doc in database.partition(order_partition(orderid)).all():
        if doc["_id"] != order_key(orderid, left):
            database.delete(doc["_id"], doc["_rev"])
    forget_progress(deps)
    old_records.remove_given_up(deps, now() + LATER)
    assert documents(database, orderid) == []


def test_a_run_goes_on_where_the_last_one_ended(
    shop: Shop, customer: Person, database: Database, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    goods = shop.product()
    orderids = [given_up(shop, customer, goods) for _ in range(5)]
    forget_progress(deps)
    monkeypatch.setattr(old_records, "ROWS", 2)
    monkeypatch.setattr(old_records, "ORDERS", 1)
    for _ in range(40):
        old_records.remove_given_up(deps, now() + LATER)
    assert [documents(database, each) for each in orderids] == [[]] * 5


def test_dead_letters_go_with_their_retries_when_all_of_the_subject_are_old(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    for subject in ("old1", "old2"):
        dead_letters.add(deps, "orders.advance", subject, error="broken", detail="", transient=False)
    dead_letters.retry(deps, "orders.advance.old1.1", "somebody")
    forgotten = now() + LATER
    assert old_records.remove_dead_letters(deps, now() + timedelta(days=99)) == 0
    assert old_records.remove_dead_letters(deps, forgotten) == 3
    assert deps.dead_letters.all() == ([], [])
    assert shop.get(shop.admin, "/v1/admin/dead-letters").json()["items"] == []
    dead_letters.add(deps, "orders.advance", "old1", error="again", detail="", transient=False)
    (again,) = dead_letters.list_dead_letters(deps)
    assert (again["orderid"], again["error"]) == ("old1", "again")
    old_records.remove_dead_letters(deps, forgotten)


def test_a_dead_letter_stays_while_a_later_one_of_its_subject_does() -> None:
    letters = [
        {"job": "a", "subject": subject, "number": number, "date": date}
        for subject, number, date in (("x", 1, "2024"), ("x", 2, "2026"), ("y", 1, "2024"))
    ]
    assert ended_dead_letters(letters, "2025") == letters[2:]


def test_reports_that_were_asked_for_go_and_closings_stay(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    reports.close_ended_periods(deps)
    asked = {"kind": "sales", "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    answer = shop.post(shop.admin, "/v1/admin/reports", asked)
    assert answer.status_code in (201, 202), answer.text
    reportid = answer.json()["id"]
    reports.compute_report(deps, reportid)
    forget_progress(deps)
    assert old_records.remove_reports(deps, now() + timedelta(days=89)) == 0
    before = shop.get(shop.admin, "/v1/admin/reports?limit=100").json()["items"]
    assert old_records.remove_reports(deps, now() + timedelta(days=91)) >= 2
    assert shop.get(shop.admin, f"/v1/admin/reports/{reportid}").status_code == 404
    after = shop.get(shop.admin, "/v1/admin/reports?limit=100").json()["items"]
    assert after == [each for each in before if each["id"] != reportid]
    assert any(each["kind"].startswith("closing") for each in after)


def test_to_whom_the_figures_of_a_day_were_sent_is_forgotten(deps: Dependencies, database: Database) -> None:
    def sent(day: datetime) -> str:
        name = f"daily-{day:%Y-%m-%d}"
        key = report_key(name, "sent-abc1")
        doc = DAILY_FIGURES.build(
            key, reportid=name, step="sent", recipient="abc", number=1, date=iso(day), mark="m"
        )
        database.put(doc)
        return key

    old, young = sent(now() - timedelta(days=92)), sent(now() - timedelta(days=88))
    assert old_records.remove_daily_figures(deps, now()) == 1
    assert set(database.get_many([old, young])) == {young}


def test_nothing_is_removed_that_is_to_be_kept_for_ever(deps: Dependencies) -> None:
    for_ever = replace(deps.settings, given_up_days=0, dead_letter_days=0, report_days=0)
    assert old_records.remove_old_records(replace(deps, settings=for_ever), now() + 10 * LATER) == 0


def test_money_and_what_staff_wrote_are_never_taken_for_a_checkout_that_was_given_up() -> None:
    ended = [
        {"_id": "order1:order", "type": "order"},
        {"_id": "order1:cancellation", "type": "cancellation", "was_paid": False},
    ]
    assert is_given_up(ended)
    assert not is_given_up([])
    assert not is_given_up(ended[:1])
    assert not is_given_up([ended[0], {**ended[1], "was_paid": True}])
    assert not is_given_up([ended[0] | {"exchange_of": {}}, ended[1]])
    assert not is_given_up([ended[0], ended[1] | {"_conflicts": ["1-a"]}])
    for kind in ("orderpayment", "refund", "ordernote", "invoice", "returnrequest", "unheardof"):
        assert not is_given_up([*ended, {"_id": "order1:more", "type": kind}]), kind
    assert may_be_given_up(Progress(orders=1, cancellations=1))
    assert not may_be_given_up(Progress(orders=1))
    assert not may_be_given_up(Progress(orders=1, cancellations=1, payments=1))
    assert not may_be_given_up(Progress(orders=1, cancellations=1, imported=1))
