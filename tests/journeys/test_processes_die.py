"""`make run` while its processes are killed one after the other: each comes back, is named, and the shop sells again."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.journeys.shop import Shop
from tests.waiting import eventually

COMMANDS = {
    "minicouch": "deploy.local.minicouch",
    "redis": "-server",
    "users": "services.users.app",
    "products": "services.products.app",
    "orders": "services.orders.app",
    "storefront": "services.storefront.app",
    "worker": "services.worker.app",
    "follower": "services.worker.follower",
}
FORKED = set(COMMANDS) - {"minicouch", "redis"}
ANSWERING_SECONDS = 120


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    shop = Shop(tmp_path_factory.mktemp("dying") / "state", COUCH_URL="", REDIS_URL="").start()
    yield shop
    if shop.process.poll() is None:
        shop.stop()


def child(shop: Shop, command: str) -> int:
    """The pid of the process with this in its command line; of a service the one that its workers come from."""
    generation = [shop.process.pid]
    while generation:
        generation = [pid for parent in generation for pid in _children(parent)]
        for pid in generation:
            if command in _read(f"/proc/{pid}/cmdline"):
                return pid
    raise LookupError(command)


def _children(pid: int) -> list[int]:
    return [int(each) for each in _read(f"/proc/{pid}/task/{pid}/children").split()]


def _read(path: str) -> str:
    """Nothing of a process that ended meanwhile: helpers of a service come and go."""
    try:
        return Path(path).read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_for(shop: Shop, words: str, since: int) -> None:
    """Until the launcher says so, after so much of its output: it may have said it of an earlier death."""
    eventually(lambda: words in shop.log.read_text(errors="replace")[since:], ANSWERING_SECONDS)


def said(shop: Shop) -> int:
    """How much the launcher has said so far."""
    return len(shop.log.read_text(errors="replace"))


def until_answered(url: str, **options: object) -> requests.Response:
    """The first answer below 500. Raises AssertionError with the last one otherwise."""
    end = time.monotonic() + ANSWERING_SECONDS
    last: object = None
    while time.monotonic() < end:
        try:
            last = answer = requests.request("GET", url, timeout=10, **options)
            if answer.status_code < 500:
                return answer
        except requests.ConnectionError as error:
            last = error
        time.sleep(0.1)
    raise AssertionError(f"{url}: {last}")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_process_comes_back_and_the_shop_answers(shop: Shop, name: str) -> None:
    before, since = child(shop, COMMANDS[name]), said(shop)
    os.kill(before, signal.SIGKILL)
    wait_for(shop, f"{name} ended with signal SIGKILL; starting it again in", since)
    wait_for(shop, f"{name} is up again.", since)
    assert child(shop, COMMANDS[name]) != before
    for page in ("/", "/product/p0018", "/search?q=knife"):
        assert until_answered(f"{shop.url('storefront')}{page}").status_code == 200


def test_a_killed_fork_server_is_started_again_with_all_that_it_forked(shop: Shop) -> None:
    before, since = {name: child(shop, COMMANDS[name]) for name in FORKED}, said(shop)
    os.kill(child(shop, "deploy.local.fork_server"), signal.SIGKILL)
    for words in ("ended with signal SIGTERM; starting it again", "is up again."):
        for name in FORKED:
            wait_for(shop, f"{name} {words}", since)
    assert all(child(shop, COMMANDS[name]) != before[name] for name in FORKED)
    for page in ("/", "/product/p0018", "/search?q=knife"):
        assert until_answered(f"{shop.url('storefront')}{page}").status_code == 200


def test_the_shop_still_sells_and_delivers(shop: Shop) -> None:
    login = {"email": "admin@example.com", "password": (shop.state / "admin-password").read_text().strip()}
    session = requests.Session()
    token = session.post(f"{shop.url('users')}/v1/sessions", json=login).json()["access_token"]
    session.headers["Authorization"] = f"Bearer {token}"
    body = {
        "items": [{"productid": "p0018", "quantity": 1}],
        "address": {"name": "Ada", "address": "1 Mill Lane\nYork YO1 7PR"},
        "payment": {"provider": "sandbox", "token": "tok_ok"},
    }
    placed = session.post(
        f"{shop.url('orders')}/v1/orders", json=body, headers={"Idempotency-Key": "after-all"}
    )
    assert placed.status_code == 201, placed.text
    order = f"{shop.url('orders')}/v1/orders/{placed.json()['orderid']}"
    eventually(lambda: session.get(order).json()["status"] == "delivered", ANSWERING_SECONDS)


def test_ctrl_c_ends_it_all(shop: Shop) -> None:
    assert shop.stop() == 0
    assert not shop.listens()
    assert "did not stop in time" not in shop.log.read_text()
