"""Which order was a customer's first, and what new and returning customers brought: the same whatever the order of the jobs, and after an erasure."""

import csv
import io
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from services.orders.actions import conflicts, summaries
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import first_order_key
from services.orders.rules.first_orders import guest_customer
from services.orders.rules.order_errors import OrderBehind
from services.orders.settings import Settings
from shared.couch import Database, Server
from shared.settings import load
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.lagging import listing_none_of
from tests.services.orders.test_desk_orders import line, send
from tests.waiting import eventually

CURRENCY = "THB"  # of these tests alone
PATH = "/v1/admin/reports/customers"


def baht(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": CURRENCY}


def order(orderid: str, date: str, customer: str, amount: int = 500) -> dict[str, Any]:
    """`customer`: a user id, or a guest's e-mail."""
    more = (
        {"userid": None, "email": customer, "name": "Gwendolin"} if "@" in customer else {"userid": customer}
    )
    made = line(orderid, date, **more) | {"currency": CURRENCY}
    made["items"][0]["unitPrice"] = baht(amount)
    return made


def is_first(database: Database, orderid: str) -> bool | None:
    return database.get(f"order{orderid}:summary").get("first")


def report(shop: Shop, start: str, end: str) -> Any:
    answer = shop.get(shop.admin, PATH, params={"from": start, "to": end})
    assert answer.status_code == 200, answer.text
    return answer.json()


def figures(found: Any, period: str) -> tuple[int, int, int, int] | None:
    return next(
        (
            (
                row["new_customers"],
                row["new_gross"]["amount"],
                row["returning_orders"],
                row["returning_gross"]["amount"],
            )
            for row in found["rows"]
            if row["period"] == period and row["new_gross"]["currency"] == CURRENCY
        ),
        None,
    )


@pytest.mark.parametrize("customer", ["u-{}", "{}@example.com"])
@pytest.mark.parametrize("turn", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_order_paid_first_is_the_first_whatever_the_order_of_the_jobs(
    shop: Shop, deps: Dependencies, database: Database, customer: str, turn: tuple[int, ...]
) -> None:
    name = secrets.token_hex(4)
    ids = [f"{name}{letter}" for letter in "cab"]  # ids do not tell which was first
    dates = [f"2015-0{month}-01T08:00:00Z" for month in (1, 2, 3)]
    send(
        shop, [order(orderid, date, customer.format(name)) for orderid, date in zip(ids, dates, strict=True)]
    )
    for number in turn:
        summaries.summarise_order(deps, ids[number])
    assert [is_first(database, orderid) for orderid in ids] == [True, False, False]
    assert summaries.rebuild(deps.summaries, lambda _: None) >= 0
    assert summaries.rebuild(deps.summaries, lambda _: None) == 0
    assert [is_first(database, orderid) for orderid in ids] == [True, False, False]


def test_an_earlier_order_that_comes_later_is_the_first_then(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    name = secrets.token_hex(4)
    send(shop, [order(f"{name}late", "2015-05-01T08:00:00Z", f"u-{name}")])
    summaries.summarise_order(deps, f"{name}late")
    assert is_first(database, f"{name}late") is True
    send(shop, [order(f"{name}early", "2015-04-01T08:00:00Z", f"u-{name}")])
    summaries.summarise_order(deps, f"{name}early")
    assert (is_first(database, f"{name}early"), is_first(database, f"{name}late")) == (True, False)


@pytest.mark.parametrize("customer", ["u-{}", "{}@example.com"])
def test_an_import_alone_says_whose_orders_are_first(shop: Shop, database: Database, customer: str) -> None:
    """Nothing else looks at imported orders: they are no work for the worker. A file need not be in the order of time."""
    name = secrets.token_hex(4)
    who = customer.format(name)
    made = {month: f"{name}{month}" for month in (1, 2, 3)}
    lines = {month: order(made[month], f"2016-0{month}-01T08:00:00Z", who) for month in made}
    send(shop, [lines[3], lines[2]])
    assert [is_first(database, made[month]) for month in (2, 3)] == [True, False]
    send(shop, [lines[1]])
    assert [is_first(database, each) for each in made.values()] == [True, False, False]
    answers = [shop.get(shop.admin, f"/v1/orders/{orderid}").json() for orderid in made.values()]
    assert [answer["first_order"] for answer in answers] == [True, False, False]


def test_a_job_killed_between_the_claim_and_the_summaries_is_finished_by_the_next(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    name = secrets.token_hex(4)
    late, early = f"{name}late", f"{name}early"
    send(shop, [order(late, "2015-05-01T08:00:00Z", f"u-{name}")])
    summaries.summarise_order(deps, late)
    send(shop, [order(early, "2015-04-01T08:00:00Z", f"u-{name}")])
    claim = claim_of(database, name)
    assert (claim["orderid"], "displaced" in claim) == (early, False)
    database.put({**claim, "displaced": [late]})
    database.put({**database.get(f"order{late}:summary"), "first": True})
    leave_undecided(database, early)
    summaries.summarise_order(deps, early)
    assert (is_first(database, early), is_first(database, late)) == (True, False)
    assert "displaced" not in database.get(claim["_id"])


def test_an_order_that_gives_way_before_its_summary_is_written_is_not_the_first(
    shop: Shop, deps: Dependencies, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job of the earlier order ends between the claim of the later one and its summary."""
    name, ask = secrets.token_hex(4), summaries.first_orders
    late, early = f"{name}late", f"{name}early"
    send(
        shop,
        [order(late, "2015-05-01T08:00:00Z", f"u-{name}"), order(early, "2015-04-01T08:00:00Z", f"u-{name}")],
    )
    for docid in (f"order{late}:summary", f"order{early}:summary", first_order_key(f"useru-{name}")):
        database.delete(docid, database.get(docid)["_rev"])

    def first_orders(*asked: Any) -> dict[str, bool]:
        decided = ask(*asked)
        monkeypatch.undo()
        summaries.summarise_order(deps, early)
        return decided

    monkeypatch.setattr(summaries, "first_orders", first_orders)
    summaries.summarise_order(deps, late)
    assert (is_first(database, early), is_first(database, late)) == (True, False)


def test_the_order_that_gives_way_does_so_also_where_a_node_does_not_list_it(
    shop: Shop, deps: Dependencies, database: Database, environment: dict[str, str], couch_url: str
) -> None:
    """It was left as it was, and both orders counted as the customer's first."""
    name = secrets.token_hex(4)
    late, early = f"{name}late", f"{name}early"
    send(shop, [order(late, "2015-05-01T08:00:00Z", f"u-{name}")])
    database.delete(first_order_key(f"useru-{name}"), claim_of(database, name)["_rev"])
    send(shop, [order(early, "2015-04-01T08:00:00Z", f"u-{name}")])
    database.put({**claim_of(database, name), "displaced": [late]})
    leave_undecided(database, early)
    with listing_none_of(late, couch_url=couch_url) as url:
        behind = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        with pytest.raises(OrderBehind):
            summaries.summarise_order(behind, early)
    assert claim_of(database, name)["displaced"] == [late]
    summaries.summarise_order(deps, early)
    assert (is_first(database, early), is_first(database, late)) == (True, False)


def leave_undecided(database: Database, orderid: str) -> None:
    """As a job leaves it that was killed before it wrote the summary."""
    summary = database.get(f"order{orderid}:summary")
    database.put({field: value for field, value in summary.items() if field != "first"})


def claim_of(database: Database, name: str) -> Any:
    return database.get(first_order_key(f"useru-{name}"))


def test_of_jobs_that_run_at_once_one_finds_the_first(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    name = secrets.token_hex(4)
    ids = [f"{name}{number}" for number in range(6)]
    send(shop, [order(orderid, f"2015-06-0{n + 1}T08:00:00Z", f"u-{name}") for n, orderid in enumerate(ids)])
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda orderid: summaries.summarise_order(deps, orderid), reversed(ids)))
    assert [is_first(database, orderid) for orderid in ids] == [True, *[False] * 5]


@pytest.fixture
def chosen(shop: Shop, deps: Dependencies, server: Server, database: Database) -> str:
    """What the ids of two orders begin with that two replicas chose as one customer's first: the first one is, the other's summary says it is."""
    name = secrets.token_hex(4)
    send(shop, [order(f"{name}{n}", f"2015-07-0{n}T08:00:00Z", f"u-{name}") for n in (1, 2)])
    for n in (1, 2):
        summaries.summarise_order(deps, f"{name}{n}")
    database.put({**database.get(f"order{name}2:summary"), "first": True})
    claim = claim_of(database, name)
    other = {**claim, "orderid": f"{name}2", "paid": "2015-07-02T08:00:00.000Z", "_rev": "9-" + "f" * 32}
    body = {"docs": [other], "new_edits": False}
    server.client.call("post_bulk_docs", db=database.name, bulk_docs=body)
    return name


def leaves_of(database: Database, name: str) -> int:
    return 1 + len(database.get(first_order_key(f"useru-{name}"), conflicts=True).get("_conflicts", []))


def test_replicas_that_chose_two_orders_agree_on_the_earlier(
    deps: Dependencies, database: Database, chosen: str
) -> None:
    eventually(lambda: conflicts.settle_conflicts(deps) or leaves_of(database, chosen) == 1)
    assert claim_of(database, chosen)["orderid"] == f"{chosen}1"
    assert [is_first(database, f"{chosen}{n}") for n in (1, 2)] == [True, False]


def test_they_do_so_once_a_node_is_asked_that_lists_both(
    deps: Dependencies, database: Database, environment: dict[str, str], couch_url: str, chosen: str
) -> None:
    with listing_none_of(f"{chosen}2", couch_url=couch_url) as url:
        behind = open_dependencies(load(Settings, environment | {"COUCH_URL": url}))
        assert conflicts.settle_conflicts(behind) == 0
    assert leaves_of(database, chosen) == 2
    eventually(lambda: conflicts.settle_conflicts(deps) or leaves_of(database, chosen) == 1)
    assert [is_first(database, f"{chosen}{n}") for n in (1, 2)] == [True, False]


def test_months_say_what_new_and_returning_customers_brought(shop: Shop, deps: Dependencies) -> None:
    name = secrets.token_hex(4)
    lines = [
        order(f"{name}before", "2013-12-30T08:00:00Z", f"u-{name}", 100),
        order(f"{name}again", "2014-01-05T08:00:00Z", f"u-{name}", 700),
        order(f"{name}guest", "2014-01-07T08:00:00Z", f"{name}@example.com", 900),
        order(f"{name}same", "2014-02-07T08:00:00Z", f"{name.upper()}@Example.com ".strip(), 1100),
    ]
    send(shop, lines)
    for each in lines:
        summaries.summarise_order(deps, each["orderid"])
    eventually(lambda: figures(report(shop, "2014-01-01", "2014-03-01"), "2014-02") == (0, 0, 1, 1100))
    found = report(shop, "2014-01-01", "2014-03-01")
    assert figures(found, "2014-01") == (1, 900, 1, 700)
    total = next(each for each in found["totals"] if each["currency"] == CURRENCY)
    assert total["present"] == {
        "new_customers": 1,
        "new_gross": baht(900),
        "returning_orders": 2,
        "returning_gross": baht(1800),
    }
    assert (total["before"]["new_customers"], total["before"]["new_gross"]) == (1, baht(100))
    sales = shop.get(
        shop.admin,
        "/v1/admin/reports/sales",
        params={"from": "2014-01-01", "to": "2014-03-01", "currency": CURRENCY},
    )
    assert sales.json()["total"]["gross"] == baht(900 + 1800), "new and returning are all that was paid"
    assert calls(shop.get(shop.admin, PATH, params={"from": "2014-01-01", "to": "2014-03-01"}))["global"] == 1
    span = {"from": "2014-01-01", "to": "2014-03-01"}
    text = shop.get(shop.admin, PATH, params=span, headers={"Accept": "text/csv"}).text
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["currency"] == CURRENCY]
    assert [(row["period"], row["new_customers"], row["returning_gross"]) for row in rows] == [
        ("2014-01", "1", "7.00"),
        ("2014-02", "0", "11.00"),
    ]


def test_the_desks_lists_say_it(shop: Shop, deps: Dependencies) -> None:
    name = secrets.token_hex(4)
    ids = [f"{name}x", f"{name}y"]
    send(shop, [order(orderid, f"2012-01-0{n + 1}T08:00:00Z", f"u-{name}") for n, orderid in enumerate(ids)])
    for orderid in ids:
        summaries.summarise_order(deps, orderid)
    for query in ({"status": "paid"}, {}, {"customer": f"u-{name}"}):
        span = {} if "customer" in query else {"from": "2012-01-01", "to": "2012-02-01"}

        def said(params: dict[str, str]) -> dict[str, bool]:
            items = shop.get(shop.admin, "/v1/admin/orders", params=params).json()["items"]
            return {each["orderid"]: each["first_order"] for each in items if each["orderid"] in ids}

        eventually(lambda params={**query, **span}: said(params) == {ids[0]: True, ids[1]: False})
    one = shop.get(shop.admin, "/v1/admin/orders", params={"q": ids[0]}).json()["items"]
    assert one[0]["first_order"] is True


def test_erasing_a_guest_keeps_the_sums_and_forgets_who_it_was(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    name = secrets.token_hex(4)
    email = f"{name}@example.com"
    lines = [order(f"{name}{n}", f"2011-0{n}-01T08:00:00Z", email, 100 * n) for n in (1, 2)]
    send(shop, lines)
    summaries.summarise_order(deps, f"{name}1")  # the worker is behind with the second
    assert shop.post(shop.admin, "/v1/admin/guests/erasure", {"email": email}).json() == {"orders": 2}
    for n in (1, 2):
        summaries.summarise_order(deps, f"{name}{n}")
    assert [is_first(database, f"{name}{n}") for n in (1, 2)] == [True, False]
    assert first_order_key(guest_customer(email)) not in database.get_many(
        [first_order_key(guest_customer(email))]
    )
    summaries.rebuild(deps.summaries, lambda _: None)
    assert [is_first(database, f"{name}{n}") for n in (1, 2)] == [True, False]
    eventually(lambda: figures(report(shop, "2011-01-01", "2011-03-01"), "2011-02") == (0, 0, 1, 200))
    everything = orjson.dumps(
        [doc for n in (1, 2) for doc in database.partition(f"order{name}{n}").all()]
    ).decode()
    assert email not in everything
    assert guest_customer(email) not in everything


def test_an_order_that_is_not_paid_is_nobodys_first(
    shop: Shop, customer: Person, deps: Dependencies, database: Database
) -> None:
    declined = shop.order(
        customer, {shop.product(): 1}, payment={"provider": "sandbox", "token": "tok_declined"}
    )
    assert declined.status_code == 402, declined.text
    unpaid = [
        doc["_id"]
        for doc in database.across_partitions.documents("firstorder", "firstorder\ufff0", limit=10_000)
        if customer.userid in doc["_id"]
    ]
    assert unpaid == []


def test_customers_do_not_see_the_report(shop: Shop, customer: Person) -> None:
    assert shop.get(customer, PATH, params={"from": "2014-01-01", "to": "2014-03-01"}).status_code == 403
