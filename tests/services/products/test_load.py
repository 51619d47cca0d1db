"""20,000 products in 500 categories through the API, and every page of every category while somebody writes."""

import os
import random
import time
from pathlib import Path
from threading import Event, Thread

import orjson
import pytest

from tests.services.products.conftest import ADMIN, Shop, eventually, product, token

pytestmark = [pytest.mark.load, pytest.mark.timeout(1800)]

PRODUCTS, CATEGORIES, PAGE = 20_000, 500, 16
MAX_GROWTH = 40_000_000
IN_EVERY_SHARD = 40
WORDS = [f"word{n}" for n in range(4000)]


def taxonomy(number: int) -> list[str]:
    category = number % CATEGORIES
    return [f"Department {category % 20}", f"Group {category % 200}", f"Category {category}"]


@pytest.fixture(scope="module")
def file() -> bytes:
    dice = random.Random(7)
    return b"\n".join(
        orjson.dumps(
            product(
                f"p{number}",
                taxonomy=taxonomy(number),
                name=" ".join(dice.choices(WORDS, k=5)),
                brand=f"Brand {number % 97}",
                description=" ".join(dice.choices(WORDS, k=40)),
                price={"amount": dice.randint(100, 90_000), "currency": "GBP"},
                stock=dice.randint(1, 50),
            )
        )
        for number in range(PRODUCTS)
    )


def memory() -> int:
    """Bytes held by the gunicorn processes of the products service that this test started."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command, status = (folder / "cmdline").read_bytes(), (folder / "status").read_text()
        except OSError:
            continue
        if b"services.products.app" in command and _ours(int(folder.name)):
            total += int(status.split("VmRSS:")[1].split()[0]) * 1024
    return total


def _ours(pid: int) -> bool:
    while pid > 1 and pid != os.getpid():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == os.getpid()


def send(shop: Shop, file: bytes) -> dict:
    answer = shop.request(
        "POST", "/v1/products/import?id=load", file, token(*ADMIN) | {"Content-Type": "application/x-ndjson"}
    )
    assert answer.status == 200, answer.body
    return answer.json


def test_all_go_in_without_growing_memory_and_a_second_time_change_nothing(shop: Shop, file: bytes):
    half = file[: file.index(b"\n", len(file) // 2)]
    send(shop, half)
    before, began = memory(), time.monotonic()
    assert send(shop, file)["failed"] == []
    print(f"{PRODUCTS} lines, half of them new, in {time.monotonic() - began:.1f} s")
    assert memory() - before < MAX_GROWTH
    assert send(shop, file) == {"created": 0, "updated": 0, "unchanged": PRODUCTS, "failed": []}
    assert shop.admin("GET", "/v1/products/imports/load").json["lines"] == PRODUCTS


@pytest.fixture
def expected(shop: Shop, file: bytes) -> dict[str, set[str]]:
    """The products of each category, listed by now: a list that is asked for right after an import has what its index holds by then."""
    assert send(shop, file)["failed"] == []
    found: dict[str, set[str]] = {}
    for number in range(PRODUCTS):
        found.setdefault("#".join(taxonomy(number)), set()).add(f"p{number}")
    for path in list(found)[:IN_EVERY_SHARD]:
        eventually(lambda path=path: found[path] <= set(walked(shop, path)))
    return found


def walked(shop: Shop, path: str) -> list[str]:
    return [each["productid"] for each in shop.walk(category=path, sort="price", limit=PAGE)]


def test_every_page_of_every_category_while_another_client_writes(shop: Shop, expected: dict[str, set[str]]):
    done = Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            number += 1
            shop.load([product(f"extra{number}", taxonomy=taxonomy(number), name=f"extra {number}")])

    writer = Thread(target=write)
    writer.start()
    try:
        for path, there in expected.items():
            found = walked(shop, path)
            assert len(found) == len(set(found)), path
            assert there <= set(found), path
    finally:
        done.set()
        writer.join()
    eventually(lambda: shop.ok("/v1/categories", depth=1)["count"] >= PRODUCTS)
