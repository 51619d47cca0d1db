"""Two shops in one checkout, told apart by PORT alone: each with its own ports, folder, admin and data."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from deploy.local.ready import busy
from tests.processes import ROOT, free_ports

SERVICES = ("storefront", "users", "products", "orders")
CHOSEN = ("AISLE_STATE", "COUCH_PORT", "COUCH_URL", "REDIS_URL", "DATABASE_PREFIX")


class Running:
    """`PORT=... make run` in a checkout, without goods until `seed` is run."""

    def __init__(self, checkout: Path, port: int) -> None:
        self.checkout, self.port = checkout, port
        self.env = {name: value for name, value in os.environ.items() if name not in CHOSEN} | {
            "PORT": str(port),
            "SAMPLE_SHOP": "false",
        }
        self.log = checkout / f"{port}.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                self.command("up"), cwd=checkout, env=self.env, stdout=output, stderr=subprocess.STDOUT
            )

    def command(self, verb: str) -> list[str]:
        return [sys.executable, "-m", "deploy.local", verb]

    def wait_until_ready(self) -> None:
        end = time.monotonic() + 120
        while "Aisle is ready" not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()[-4000:]
            assert time.monotonic() < end, self.log.read_text()[-4000:]
            time.sleep(0.1)

    def run(self, verb: str) -> str:
        """A verb in another terminal, with the same PORT."""
        done = subprocess.run(
            self.command(verb), cwd=self.checkout, env=self.env, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.port + SERVICES.index(service)}"

    def log_in(self, password: str) -> requests.Response:
        body = {"email": "admin@example.com", "password": password}
        return requests.post(f"{self.url('users')}/v1/sessions", json=body, timeout=10)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what runs: its state folders are not those of this checkout."""
    path = tmp_path_factory.mktemp("checkout")
    for name in ("deploy", "services", "shared"):
        shutil.copytree(ROOT / name, path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return path


@pytest.fixture(scope="module")
def shops(checkout: Path) -> Iterator[list[Running]]:
    """Started in the same moment."""
    first = free_ports(10)
    running = [Running(checkout, port) for port in (first, first + 5)]
    for shop in running:
        shop.wait_until_ready()
    yield running
    for shop in running:
        if shop.process.poll() is None:
            shop.stop()


def test_each_has_its_ports_and_its_folder(shops: list[Running], checkout: Path) -> None:
    for shop in shops:
        assert len(busy(range(shop.port, shop.port + 5))) == 5, "four services and the database"
    folders = sorted(path.name for path in checkout.glob(".local*"))
    assert folders in (sorted([".local", f".local-{shop.port}"]) for shop in shops)


def test_each_verb_finds_its_own_shop(shops: list[Running]) -> None:
    for shop in shops:
        url = shop.run("couch-url")
        assert url.endswith(f":{shop.port + 4}")
        assert "products" in requests.get(f"{url}/_all_dbs", timeout=10).json()
        assert "past orders: 300 created" in shop.run("seed"), "not yet in this shop"
    assert shops[0].run("seed").endswith("300 unchanged")


def test_each_answers_with_its_own_data(shops: list[Running], checkout: Path) -> None:
    passwords = {(path / "admin-password").read_text().strip() for path in checkout.glob(".local*")}
    assert len(passwords) == 2
    taken = [{word for word in passwords if shop.log_in(word).status_code == 200} for shop in shops]
    assert [len(words) for words in taken] == [1, 1]
    assert taken[0] != taken[1]
    mine, other = shops
    token = mine.log_in(taken[0].pop()).json()["access_token"]
    admin = {"Authorization": f"Bearer {token}"}
    stock = [_stock(shop) for shop in shops]
    sold = {"delta": -1, "reason": "broken"}
    changed = requests.post(
        f"{mine.url('products')}/v1/products/p0018/stock", json=sold, headers=admin, timeout=10
    )
    assert changed.status_code < 300, changed.text
    assert [_stock(shop) for shop in shops] == [stock[0] - 1, stock[1]]
    refused = requests.get(f"{other.url('orders')}/v1/orders", headers=admin, timeout=10)
    assert refused.status_code == 401, "one shop's token is nothing in the other"


def _stock(shop: Running) -> int:
    return requests.get(f"{shop.url('products')}/v1/products/p0018", timeout=10).json()["stock"]


def test_one_stops_and_the_other_stays(shops: list[Running]) -> None:
    mine, other = shops
    assert mine.stop() == 0
    assert busy(range(mine.port, mine.port + 5)) == []
    assert requests.get(f"{other.url('storefront')}/product/p0018", timeout=10).status_code == 200
    assert other.stop() == 0
