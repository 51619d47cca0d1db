"""`make bench` as README has it with COUCH_URL: on a server that is not the shop's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared.couch import Server
from tests.bench.running import ROOT
from tests.services.products.conftest import has_search_engine

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

SIZES = ["--products", "400", "--orders", "200", "--large", "0", "--seconds", "0.2"]


def test_every_row_is_measured_on_another_server(couch_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bench.shop", *SIZES, "--out", str(tmp_path)]
    run = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "COUCH_URL": couch_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    rows = [line for line in (tmp_path / "shop.md").read_text().splitlines() if line.startswith("| ")]
    assert len(rows) > 15
    assert not [row for row in rows if "not measured" in row]
    busy = [row for row in rows if "503" in row and (has_search_engine() or "search" not in row)]
    assert not busy, "nothing is refused but many searches at once by a keyword view"
    left = [name for name in Server(couch_url).client.call("get_all_dbs") if name.startswith("bench")]
    assert left == [], "the databases of the bench are dropped"
