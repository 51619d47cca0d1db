"""An e-mail about an order is written down at once, and what the desk lists of the order in the same write."""

from pathlib import Path
from typing import Any

import pytest

from services.orders.actions import emails, fulfilment, summaries
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.settings import Settings
from shared.couch import Database, counting
from shared.errors import Unavailable
from shared.settings import load
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop


@pytest.fixture
def deps(shop: Shop, environment: dict[str, str]) -> Dependencies:
    """What a worker acts with whose courier fetches nothing meanwhile, however slow the database is."""
    return open_dependencies(load(Settings, environment | {"COURIER_DISPATCH_SECONDS": "3600"}))


@pytest.fixture
def paid(shop: Shop, customer: Person) -> str:
    """A paid order of a customer with an earlier one, which no worker has seen."""
    return str(shop.placed(customer, {shop.product(): 1})["orderid"])


def stored(database: Database, orderid: str, key: str) -> dict[str, Any]:
    return database.get(f"order{orderid}:{key}")


def test_a_notice_and_the_summary_are_one_write(
    shop: Shop, deps: Dependencies, customer: Person, database: Database, paid: str
) -> None:
    fulfilment.advance_order(deps, paid)
    another = str(shop.placed(customer, {shop.product(): 1})["orderid"])
    with counting() as calls:
        fulfilment.advance_order(deps, another)
    assert (calls.calls["write"], calls.calls["global"]) == (1, 0)
    assert stored(database, another, "notice-payment")["message_id"] == "sent"
    summary = stored(database, another, "summary")
    assert (summary["status"], summary["first"], summary["_rev"].split("-")[0]) == ("paid", False, "1")


def test_who_changes_the_summary_meanwhile_loses_no_notice(
    deps: Dependencies, database: Database, paid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = emails.send

    def while_another_job_lists_the_order(*args: Any) -> str:
        summaries.summarise_order(deps, paid)
        return send(*args)

    monkeypatch.setattr(emails, "send", while_another_job_lists_the_order)
    fulfilment.advance_order(deps, paid)
    assert stored(database, paid, "notice-payment")["message_id"] == "sent"
    found = deps.orders.order(paid)
    assert summaries.is_current(found, summaries.summary_document(found, summaries.known_first(found)))


def test_nothing_goes_out_while_the_summary_cannot_be_made(
    deps: Dependencies,
    database: Database,
    customer: Person,
    environment: dict[str, str],
    paid: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = len(read_mail(Path(environment["MAIL_DIR"]), customer.email))
    with monkeypatch.context() as away:

        def unavailable(*_: object) -> None:
            raise Unavailable("The database is away.")

        away.setattr(summaries, "first_orders", unavailable)
        with pytest.raises(Unavailable):
            fulfilment.advance_order(deps, paid)
    assert len(read_mail(Path(environment["MAIL_DIR"]), customer.email)) == before
    fulfilment.advance_order(deps, paid)
    assert len(read_mail(Path(environment["MAIL_DIR"]), customer.email)) == before + 1
    assert stored(database, paid, "notice-payment")["message_id"] == "sent"
