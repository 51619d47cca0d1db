"""A changed index is built beside the old one: readers of the old code never wait for it, and both answer at the end."""

import threading
import time

import pytest

from shared.couch import DatabaseDesign, Server, View

DOCUMENTS = 4_000
LONG_MAP = """function (doc) {
  var spun = 0;
  for (var i = 0; i < 200000; i++) { spun += i % 7; }
  if (doc.n && spun) { emit(null, doc.n); }
}"""
SLOW_MAP = "function (doc) { var end = Date.now() + 3; while (Date.now() < end); emit(null, 1); }"
OLD = View("totals", "how many in all", map="function (doc) { if (doc.n) { emit(null, 1); } }", reduce="_sum")
NEW = View("totals", "how much in all", map=LONG_MAP, reduce="_sum")
DESIGNS = [DatabaseDesign("changing", (view,)) for view in (OLD, NEW)]


class Reader(threading.Thread):
    """Old code, asking its index without a pause; keeps when each read began and ended, and what it was told."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._database = server.open(DESIGNS[0])
        self.reads: list[tuple[float, float, int]] = []
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            begun = time.monotonic()
            (row,) = self._database.across_partitions.view(OLD)
            self.reads.append((begun, time.monotonic(), row["value"]))
            time.sleep(0.005)


@pytest.fixture(scope="module")
def filled(server: Server) -> Server:
    server.prepare(DESIGNS[:1], progress=lambda line: None)
    database = server.open(DESIGNS[0])
    for start in range(0, DOCUMENTS, 2000):
        database.put_many([{"_id": f"p{n % 50}:d{n}", "n": 2} for n in range(start, start + 2000)])
    server.prepare(DESIGNS[:1], progress=lambda line: None)
    return server


def test_readers_of_the_old_index_never_wait_for_the_new_one(filled: Server) -> None:
    reader = Reader(filled)
    reader.start()
    begun = time.monotonic()
    filled.prepare(DESIGNS[1:], progress=lambda line: None)
    ended = time.monotonic()
    reader.stop.set()
    reader.join(30)
    during = [told for start, end, told in reader.reads if begun <= start and end <= ended]
    assert len(during) >= 5, "reads that began during the build came back only after it"
    assert set(during) == {DOCUMENTS}


def test_new_code_finds_its_index_built(filled: Server) -> None:
    filled.prepare(DESIGNS[1:], progress=lambda line: None)
    assert filled.check(DESIGNS[1:]) == []
    (row,) = filled.open(DESIGNS[1]).across_partitions.view(NEW)
    assert row["value"] == 2 * DOCUMENTS


def test_an_index_that_is_there_but_not_built_holds_new_code_back(filled: Server, couch_url: str) -> None:
    """Else the last index of a version would be built by its first readers."""
    slow = View("slow", "how slow?", map=SLOW_MAP)
    design = DatabaseDesign("changing", (slow,))
    name = filled.name_of(design)
    made = filled.client.call(
        "put_design_document", db=name, ddoc=slow.design_id, design_document=slow.design_document()
    )
    hurried = Server(couch_url, prefix=filled.prefix, timeout=0.5)
    assert hurried.check([design]) == [f"{name}: slow ({slow.design_id}) is still being built"]
    filled.client.call("delete_design_document", db=name, ddoc=slow.design_id, rev=made["rev"])


def test_the_old_index_goes_only_when_no_running_version_names_it(filled: Server) -> None:
    filled.clean_up(DESIGNS[1:], progress=lambda line: None, also_keep=[OLD.design_id])
    assert filled.open(DESIGNS[0]).across_partitions.view(OLD)[0]["value"] == DOCUMENTS
    filled.clean_up(DESIGNS[1:], progress=lambda line: None)
    assert filled.check(DESIGNS[:1]) != []
    assert filled.check(DESIGNS[1:]) == []
