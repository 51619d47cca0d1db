"""SIGKILL to a products service while it tells devices of a kept category: before and after what is told is written."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import requests
import urllib3

from tests.forwarding import Forward, Response, forwarding
from tests.processes import Process, start_service
from tests.services.products.conftest import Shop, product
from tests.services.products.test_category_sync import address, change, changes, pull

SETTINGS = {"ACCESS_LOG": "false", "WEB_WORKERS": "1"}


class Replica:
    """A second products service over the same database, killed at the write that `aim` names."""

    def __init__(self, log: Path, env: dict[str, str]) -> None:
        self._log, self._env = log, {**env, **SETTINGS}
        self.aim = self.hit = ""
        self._process: Process

    def start(self, couch_url: str, neighbours_url: str) -> str:
        env = {
            **self._env,
            "COUCH_URL": couch_url,
            "USERS_URL": neighbours_url,
            "ORDERS_URL": neighbours_url,
        }
        self._process, url = start_service("products", self._log, env)
        return url

    def stop(self) -> None:
        self._process.stop()

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        tells = method == "PUT" and unquote(path.partition("?")[0]).endswith(":#sync")
        if tells and self.aim == "before":
            self._kill()
        found = forward()
        if tells and self.aim == "after":
            self._kill()
        return found

    def _kill(self) -> None:
        self.hit, self.aim = self.aim, ""
        self._process.kill()
        raise requests.ConnectionError("its client is dead")


@pytest.fixture(scope="module")
def replica(shop: Shop, environment, tmp_path_factory) -> Iterator[tuple[Replica, str]]:
    found = Replica(tmp_path_factory.mktemp("replica") / "log", environment)
    with forwarding(environment["COUCH_URL"], found.answer) as url:
        yield found, url


@pytest.mark.parametrize("moment", ["before", "after"])
def test_who_is_killed_while_it_tells_leaves_devices_that_converge(
    shop: Shop, replica: tuple[Replica, str], moment: str
) -> None:
    killed, couch_url = replica
    levels = ["Killed", moment]
    at = address(*levels)
    shop.load([product(f"killed-{moment}-{number}", taxonomy=levels, name="Old") for number in range(4)])
    device, since = pull(shop, at)
    other = Shop(killed.start(couch_url, shop.neighbours.url), shop.neighbours)
    change(shop, f"killed-{moment}-0", taxonomy=levels, name="New")
    change(shop, f"killed-{moment}-1", taxonomy=["Killed", "elsewhere"])
    shop.load([product(f"killed-{moment}-9", taxonomy=levels, name="Added")])
    killed.aim = moment
    with pytest.raises(urllib3.exceptions.HTTPError):
        changes(other, at, since)
    assert killed.hit == moment, "it was killed there"
    killed.hit = ""
    again = Shop(killed.start(couch_url, shop.neighbours.url), shop.neighbours)
    try:
        told, last = pull(again, at, since)
        beside, last_beside = pull(shop, at, since)
    finally:
        killed.stop()
    assert told == beside, "each replica tells the same"
    assert last == last_beside
    assert told.keys() == {
        "category",
        *(f"product-killed-{moment}-{number}" for number in (0, 1, 9)),
    }
    assert told[f"product-killed-{moment}-1"]["_deleted"] is True
    for docid, doc in told.items():  # one line of revisions: nothing is told twice under two names
        before = device.get(docid)
        if before is not None:
            assert doc["_revisions"]["start"] == before["_revisions"]["start"] + 1
            assert doc["_revisions"]["ids"][1] == before["_revisions"]["ids"][0]
    everything, _ = pull(shop, at)
    ahead = {**device, **told}
    assert {docid: doc["_rev"] for docid, doc in ahead.items()} == {
        docid: doc["_rev"] for docid, doc in everything.items()
    }
    assert changes(shop, at, last)["results"] == []
