"""`python -m services.growth`: what there is of each type of documents."""

import os
import subprocess
import sys

from services import growth
from shared.couch import Database
from tests.processes import ROOT
from tests.services.orders.conftest import Shop
from tests.services.orders.test_desk_orders import line, send


def test_every_document_is_counted_once_by_its_type(shop: Shop, database: Database, monkeypatch) -> None:
    send(shop, [line(f"growing{n}", f"2010-01-01T00:00:0{n}Z") for n in range(5)])
    monkeypatch.setattr(growth, "BATCH", 3)
    in_pieces = growth.count(database)
    monkeypatch.undo()
    assert in_pieces == growth.count(database)
    documents, size = in_pieces["order"]
    assert documents >= 5
    assert size > 100 * documents


def test_the_verb_prints_what_a_thousand_orders_leave(shop: Shop, environment: dict[str, str]) -> None:
    send(shop, [line(f"grown{n}", f"2010-02-01T00:00:0{n}Z") for n in range(3)])
    done = subprocess.run(
        [sys.executable, "-m", "services.growth"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in each.strip("| ").split("|")] for each in done.stdout.splitlines()]
    found = next(row for row in rows if row[:2] == ["orders", "order"])
    assert found[4] == "1,000"
