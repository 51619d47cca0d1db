"""A hundred devices of fifty customers sync at once, while others read the shop."""

import threading
import time

import pytest
import requests

pytestmark = pytest.mark.sync

CUSTOMERS = 50


class Reader(threading.Thread):
    """Reads the catalogue and an account again and again: how long each answer took, and what was no success."""

    def __init__(self, addresses, headers) -> None:
        super().__init__(daemon=True)
        self._addresses, self._headers = addresses, headers
        self._stopped = threading.Event()
        self.seconds, self.failed = [], []

    def run(self) -> None:
        with requests.Session() as session:
            while not self._stopped.is_set():
                for address in self._addresses:
                    began = time.monotonic()
                    answer = session.get(address, headers=self._headers, timeout=60)
                    self.seconds.append(time.monotonic() - began)
                    if answer.status_code != 200:
                        self.failed.append((address, answer.status_code, answer.text[:200]))

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def test_a_hundred_devices_converge_and_the_shop_goes_on(users, person, goods, device, environment, tmp_path):
    people = [person() for _ in range(CUSTOMERS)]
    reader_person, products = person(), environment["PRODUCTS_URL"]
    members, expected = [], []
    for number, owner in enumerate(people):
        two = {goods[number % len(goods)]: 2, goods[(number + 1) % len(goods)]: 3}
        expected += [two, two]
        for name, quantity in two.items():
            line = {"_id": f"basket-{name}", "type": "basketline", "productid": name, "quantity": quantity}
            members.append({"url": f"{owner.base}/v1/users/me/sync", "token": owner.token, "line": line})
    node = device(reader_person)
    reader = Reader(
        [
            f"{products}/v1/products?category=Home%23Kitchen",
            f"{products}/v1/products/{goods[0]}",
            f"{users.url}/v1/users/me",
        ],
        {"Authorization": f"Bearer {reader_person.token}"},
    )
    reader.start()
    began = time.monotonic()
    done = node.act("crowd", folder=str(tmp_path / "crowd"), members=members, rounds=3)
    took = time.monotonic() - began
    reader.stop()
    p99 = sorted(reader.seconds)[int(len(reader.seconds) * 0.99)]
    print(
        f"\n{len(members)} devices, three rounds in {took:.1f} s; {len(reader.seconds)} other reads meanwhile, p99 {p99 * 1000:.0f} ms"
    )
    assert (done["denied"], done["errors"]) == ([], [])
    assert reader.failed == []
    for lines, two in zip(done["lines"], expected, strict=True):
        assert lines == [[name, quantity, False] for name, quantity in sorted(two.items())]
    for owner, two in zip(people, expected[::2], strict=True):
        items = owner.get("/v1/users/me/basket").json()["items"]
        assert {item["productid"]: item["quantity"] for item in items} == two
