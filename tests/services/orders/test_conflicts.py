"""Two replicas that wrote the same order apart and meet again: settled by rule, to the same end on both."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from services.orders.actions.conflicts import settle_conflicts
from services.orders.actions.refunds import refundable, settle_refunds
from services.orders.actions.summaries import rebuild
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import DESIGN, SANDBOX_LEDGER, SETTLEMENT
from services.orders.rules.captures import Reserved, reserved, unlisted
from services.orders.rules.summaries import summary_document
from services.orders.rules.writing import event_fields, payment_of
from services.orders.settings import Settings
from shared.couch import Database, Server
from shared.settings import load
from tests.forwarding import Forward, Response, forwarding
from tests.services.orders.test_rules import order_document
from tests.waiting import holding

BASE = {"orderid": "1", "userid": "u", "placed": "2026-03-01T12:00:00.000Z", "currency": "GBP", "schema": 1}


@pytest.fixture
def shop(prepared: Callable, environment: dict[str, str]) -> Dependencies:
    prepared(DESIGN, SANDBOX_LEDGER)
    return open_dependencies(load(Settings, environment))


@pytest.fixture
def database(server: Server) -> Database:
    return server.open(DESIGN)


def diverge(server: Server, database: Database, *versions: dict[str, Any]) -> None:
    """Writes each version as the first revision of its own replica, as replication does."""
    docs = [{**doc, "_rev": f"1-{number:032x}"} for number, doc in enumerate(versions, 1)]
    server.client.call("post_bulk_docs", db=database.name, bulk_docs={"docs": docs, "new_edits": False})


def settle(deps: Dependencies, many: int) -> None:
    """Settles conflicts: so many revisions go, at once where each document has one copy. On a cluster one node's index tells of them."""
    gone = 0

    def are_gone() -> bool:
        nonlocal gone
        gone += settle_conflicts(deps)
        return gone >= many

    holding(at_once=deps.orders.database.has_one_copy)(are_gone)
    assert gone == many


def only(database: Database, docid: str) -> dict[str, Any]:
    """The one version that is left: at once, or on a cluster once each node knows what went."""
    doc: dict[str, Any] = {}

    def is_alone() -> bool:
        nonlocal doc
        doc = database.get(docid, conflicts=True)
        return "_conflicts" not in doc

    holding(at_once=database.has_one_copy)(is_alone)
    return doc


def test_what_each_kind_of_document_becomes(shop: Dependencies, server: Server, database: Database) -> None:
    cancel = {
        **BASE,
        "_id": "order1:decision",
        "type": "decision",
        "decision": "cancel",
        "reason": "",
        "by": "u",
        "date": "2026-03-01T12:01:00.000Z",
    }
    dispatch = {**cancel, "decision": "dispatch", "date": "2026-03-01T12:02:00.000Z"}
    named = {
        "_id": "order1:customer",
        "type": "customer",
        "schema": 1,
        "orderid": "1",
        "userid": "u",
        "name": "Ada",
        "email": "a@b.c",
        "deliveryAddress": "x",
    }
    erased = {**named, "name": "", "email": "", "deliveryAddress": None, "erased": "2026-03-02T00:00:00.000Z"}
    early = {
        **BASE,
        "_id": "order1:dispatch",
        "type": "dispatch",
        "dispatched": True,
        "courier": "a",
        "courierid": "1",
        "payment_date": "2026-03-01T12:00:01.000Z",
        "date": "2026-03-01T13:00:00.000Z",
    }
    late = {**early, "courier": "b", "date": "2026-03-01T14:00:00.000Z"}
    for versions in ((cancel, dispatch), (erased, named), (late, early)):
        diverge(server, database, *versions)
    settle(shop, 3)
    assert settle_conflicts(shop) == 0
    assert only(database, "order1:decision")["decision"] == "dispatch"
    assert only(database, "order1:customer")["email"] == ""
    assert only(database, "order1:dispatch")["courier"] == "a"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("nothing", ["sold_out", "unpaid"])
def test_an_exchange_that_one_replica_has_paid_stays_paid(
    shop: Dependencies, server: Server, database: Database, nothing: str, order: tuple[int, int]
) -> None:
    """Its goods are sent: were it the other one that stays, the money would be paid back besides."""
    orderid = f"x{nothing}{order[0]}"
    about = {
        **BASE,
        "_id": f"order{orderid}:return-1exchanged",
        "orderid": orderid,
        "type": "returnexchange",
        "reference": "return-1",
        "exchange": "other",
    }
    database.put({**order_document(), "_id": f"order{orderid}:order", "orderid": orderid})
    versions = (
        {**about, "outcome": nothing, "date": "2026-03-01T12:30:00.000Z"},
        {**about, "outcome": "paid", "date": "2026-03-01T13:00:00.000Z"},
    )
    diverge(server, database, *(versions[at] for at in order))
    settle(shop, 1)
    assert only(database, about["_id"])["outcome"] == "paid"


def part_of(key: str, kind: str, time: str, **more: Any) -> dict[str, Any]:
    """A document of a parcel with a part of order 3, or of cancelled lines of it."""
    lines = [{"productid": "p", "name": "P", "quantity": 1, "amount": 100}]
    date = f"2026-03-01T{time}:00.000Z"
    return {
        **BASE,
        "_id": f"order3:{key}",
        "orderid": "3",
        "type": kind,
        "date": date,
        "lines": lines,
        **more,
    }


def test_parcels_and_cancelled_lines_of_both_replicas_hold(
    shop: Dependencies, server: Server, database: Database
) -> None:
    database.put({**order_document(), "_id": "order3:order", "orderid": "3"})
    early, late = (
        {"courier": "post", "courierid": courierid, "by": "u", "reason": "", "payment_date": BASE["placed"]}
        for courierid in ("early", "late")
    )
    diverge(
        server,
        database,
        part_of("decision", "decision", "13:00", decision="dispatch", **late),
        part_of("decision", "decision", "12:30", decision="dispatch", **early),
        part_of(
            "decision",
            "linecancellation",
            "12:40",
            reference="cancelled-1",
            number=1,
            request=None,
            by="u",
            reason="",
        ),
    )
    diverge(
        server,
        database,
        part_of("dispatch", "orderdispatch", "13:00", dispatched=True, units=1, **late),
        part_of("dispatch", "orderdispatch", "12:30", dispatched=True, units=1, **early),
    )
    arrival = {"delivered": True, "dispatch_date": BASE["placed"]}
    diverge(
        server,
        database,
        part_of("delivery", "orderdelivery", "14:00", **arrival, courier="post", courierid="late"),
        part_of("delivery", "orderdelivery", "15:00", **arrival, courier="post", courierid="early"),
    )
    for _ in range(3):
        settle_conflicts(shop)
    assert settle_conflicts(shop) == 0
    found = shop.orders.order("3")
    assert [each.dispatch["courierid"] for each in found.parcels] == ["early", "late"]
    assert [each.delivery and each.delivery["courierid"] for each in found.parcels] == ["early", "late"]
    assert [each["courierid"] for each in found.dispatch_decisions] == ["early", "late"]
    assert [each["reference"] for each in found.line_cancellations] == ["cancelled-1"]
    assert not found.unwritten_parcels


def refund_of(orderid: str, amount: int, time: str, **more: str) -> dict[str, Any]:
    return {
        **BASE,
        "_id": f"order{orderid}:refund1",
        "orderid": orderid,
        "type": "refund",
        "number": 1,
        "reason": "a",
        "schema": 2,
        "reference": f"refund-{amount}",
        "total": {"amount": amount, "currency": "GBP"},
        "cause": "admin",
        "request": None,
        "date": f"2026-03-01T{time}:00.000Z",
        **more,
    }


@pytest.mark.parametrize("shown", ["earlier", "later"])
def test_two_refunds_with_one_number_both_hold(
    shop: Dependencies, server: Server, database: Database, shown: str
) -> None:
    """Whichever of the two the database shows."""
    database.put({**order_document(), "_id": f"order{shown}:order", "orderid": shown})
    later, earlier = refund_of(shown, 100, "13:00"), refund_of(shown, 200, "12:30")
    diverge(server, database, *((later, earlier) if shown == "earlier" else (earlier, later)))
    settle(shop, 1)
    assert only(database, f"order{shown}:refund1")["total"]["amount"] == 200
    assert only(database, f"order{shown}:refund2")["total"]["amount"] == 100
    assert settle_conflicts(shop) == 0


def test_a_refund_does_not_go_where_the_nodes_list_lacks_the_one_with_the_next_number(
    shop: Dependencies, server: Server, database: Database, environment: dict[str, str]
) -> None:
    database.put({**order_document(), "_id": "orderbehind:order", "orderid": "behind"})
    database.put(refund_of("behind", 300, "12:45") | {"_id": "orderbehind:refund2", "number": 2})
    diverge(server, database, refund_of("behind", 100, "13:00"), refund_of("behind", 200, "12:30"))

    def without_the_second(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if "/_partition/orderbehind/_all_docs" in path:
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if row["id"] != "orderbehind:refund2"]
            content = orjson.dumps(found | {"rows": rows})
        return status, headers, content

    with forwarding(environment["COUCH_URL"], without_the_second) as url:
        early = settle_conflicts(open_dependencies(load(Settings, environment | {"COUCH_URL": url})))
    assert early == 0 or not database.has_one_copy, "on a cluster the list is completed by reads of documents"
    settle(shop, 1 - early)
    amounts = [only(database, f"orderbehind:refund{number}")["total"]["amount"] for number in (1, 2, 3)]
    assert amounts == [200, 300, 100]


@pytest.mark.parametrize("paid", ["earlier", "later"])
def test_a_refund_that_one_replica_paid_is_not_the_others(
    shop: Dependencies, server: Server, database: Database, paid: str
) -> None:
    """Whichever of the two keeps its number: each is paid once, with its own amount."""
    orderid = f"paid{paid}"
    order = {**order_document(), "_id": f"order{orderid}:order", "orderid": orderid}
    database.put(order)
    database.put(payment_of(order, "sandbox", "ref", order["total"], "2026-03-01T12:00:01.000Z"))
    later, earlier = refund_of(orderid, 100, "13:00"), refund_of(orderid, 200, "12:30")
    done = earlier if paid == "earlier" else later
    shop.stores.ledger.record_refund(orderid, done["reference"], done["total"])
    database.put(
        SETTLEMENT.new(
            f"order{orderid}:{done['reference']}settled",
            **event_fields(order),
            reference=done["reference"],
            total=done["total"],
            provider="sandbox",
            provider_ref="r",
        )
    )
    diverge(server, database, later, earlier)
    settle(shop, 1)
    found = settle_refunds(shop, shop.orders.order(orderid))
    books = server.open(SANDBOX_LEDGER).partition(f"order{orderid}")
    holding(at_once=database.has_one_copy)(
        lambda: sorted(doc["total"]["amount"] for doc in books.all()) == [100, 200]
    )
    marks = {doc["reference"]: doc["total"]["amount"] for doc in found.of_type("settlement")}
    assert marks == {"refund-100": 100, "refund-200": 200}


def test_replicas_that_both_paid_all_back_leave_nothing_to_refund(
    shop: Dependencies, server: Server, database: Database
) -> None:
    """Less than nothing would become a refund of a negative amount when goods come back."""
    order = {**order_document(), "_id": "orderall:order", "orderid": "all"}
    database.put(order)
    database.put(payment_of(order, "sandbox", "ref", order["total"], "2026-03-01T12:00:01.000Z"))
    whole = order["total"]["amount"]
    cancelled = refund_of("all", whole, "13:00", cause="cancellation", reference="cancellation")
    diverge(server, database, cancelled, refund_of("all", whole, "12:00"))
    settle(shop, 1)
    found = shop.orders.order("all")
    assert [refund["reference"] for refund in found.refunds] == [f"refund-{whole}", "cancellation"]
    assert refundable(found)["amount"] == 0


@pytest.mark.parametrize("shown", ["earlier", "later"])
def test_two_returns_with_one_number_both_hold_and_are_put_back_each(
    shop: Dependencies, server: Server, database: Database, shown: str
) -> None:
    orderid = f"back{shown}"
    database.put({**order_document(), "_id": f"order{orderid}:order", "orderid": orderid})
    later, earlier = (
        {
            **BASE,
            "_id": f"order{orderid}:return1",
            "orderid": orderid,
            "type": "return",
            "schema": 2,
            "number": 1,
            "reference": f"return-{units}",
            "reason": "",
            "request": None,
            "date": f"2026-03-01T{time}:00.000Z",
            "lines": [{"productid": "tea", "name": "Tea", "quantity": units, "amount": 500 * units}],
        }
        for units, time in ((1, "13:00"), (2, "12:30"))
    )
    database.put(
        {**BASE, "_id": f"order{orderid}:return-1restocked", "type": "restock", "reference": "return-1"}
    )
    diverge(server, database, *((later, earlier) if shown == "earlier" else (earlier, later)))
    settle(shop, 1)
    found = shop.orders.order(orderid)
    assert [(back["reference"], found.restocked(back)) for back in found.returns] == [
        ("return-2", False),
        ("return-1", True),
    ]


def test_one_refund_written_twice_under_two_traces_is_one_refund(
    shop: Dependencies, server: Server, database: Database
) -> None:
    database.put({**order_document(), "_id": "order2:order", "orderid": "2"})
    traces = (f"00-{trace * 32}-{trace * 16}-01" for trace in ("a", "b"))
    diverge(server, database, *(refund_of("2", 100, "13:00", traceparent=trace) for trace in traces))
    settle(shop, 1)
    refunds = [doc["_id"] for doc in database.partition("order2").all() if doc["type"] == "refund"]
    assert refunds == ["order2:refund1"]


def test_a_summary_says_what_the_merged_documents_say(
    shop: Dependencies, server: Server, database: Database
) -> None:
    """Each replica has summed up what it knew: the same as a rebuild comes out, whichever of the two is shown."""
    order = {**order_document(), "_id": "ordermerged:order", "orderid": "merged"}
    database.put(order)
    alone = dict(summary_document(shop.orders.order("merged")))
    database.put(payment_of(order, "sandbox", "ref", order["total"], "2026-03-01T12:00:01.000Z"))
    paid = dict(summary_document(shop.orders.order("merged")))
    database.put(refund_of("merged", 100, "13:00"))
    diverge(server, database, alone, paid)
    assert shop.orders.order("merged").progress.unsummarised > 0
    settle(shop, 1)
    stored = only(database, "ordermerged:summary")
    assert (stored["status"], stored["refunded"], stored["repaid"]) == ("paid", "part", 100)
    assert shop.orders.order("merged").progress.unsummarised == 0
    assert rebuild(shop.summaries, lambda line: None) >= 0
    assert only(database, "ordermerged:summary") == stored
    assert settle_conflicts(shop) == 0


@pytest.mark.parametrize("shown", ["earlier", "later"])
def test_decisions_about_reserved_money_that_were_written_apart(
    shop: Dependencies, server: Server, database: Database, shown: str
) -> None:
    """One replica has sent a parcel, the other has paid a refund back: what was taken is taken once, and the refund not deducted again."""
    orderid = f"reserved{shown}"
    order = {**order_document(), "_id": f"order{orderid}:order", "orderid": orderid}
    whole, time = order["total"], "2026-03-01T12:00:01.000Z"
    database.put(order)
    database.put(
        payment_of(order, "stripe", "pi", whole, time, capture_before="2026-03-08", several_captures=True)
    )
    database.put(refund_of(orderid, 200, "12:20"))

    def written(key: str, type_: str, minute: int, amount: int, **more: Any) -> dict[str, Any]:
        common = {
            "_id": f"order{orderid}:{key}",
            "orderid": orderid,
            "type": type_,
            "total": {**whole, "amount": amount},
        }
        return {**BASE, **common, "date": f"2026-03-01T12:{minute}:00.000Z", **more}

    done = {"provider": "stripe", "provider_ref": "pi"}
    database.put(written("capture", "paymentcapture", 10, 600, refunds=[], final=False))
    database.put(written("captured", "paymentcaptured", 10, 600, **done))
    parcel = written("capture2", "paymentcapture", 30, 500, refunds=[], final=False)
    back = {"refunds": ["refund-200"], "paid_back": {"refund-200": 200}, "final": False}
    refunded = written("capture2", "paymentcapture", 40, 0, **back)
    diverge(server, database, *((refunded, parcel) if shown == "earlier" else (parcel, refunded)))
    taken = written("captured2", "paymentcaptured", 31, 500, **done)
    gone = written("captured2", "paymentcaptured", 30, 0, lost=True, **done)
    diverge(server, database, *((gone, taken) if shown == "earlier" else (taken, gone)))
    settle(shop, 2)
    assert settle_conflicts(shop) == 0
    found = shop.orders.order(orderid)
    assert [each["total"]["amount"] for each in found.captures.values()] == [600, 500, 0]
    assert [each["refunds"] for each in found.captures.values()] == [[], [], ["refund-200"]]
    assert reserved(found) == Reserved(1100, whole["amount"] - 1100, 200, final=False, lost=False)
    assert unlisted(found) == []
