"""Customers and staff who go through the steps of orders, each again with the same key until there is an answer, while processes are killed."""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

import requests

from tests.faults.aimed_kills import KILLS, Step, kill_between_steps
from tests.faults.shop import BreakableShop
from tests.people import Person

GIVE_UP_SECONDS: Final = 120
CHECKOUT: Final = "/v1/orders"
Doc = dict[str, Any]
UNDER_WAY: Final = ("order_busy", "idempotency_in_progress")
"""Codes of answers that ask to be asked again; the process that began what is under way may have been killed."""


@dataclass
class Kills:
    """Which processes were killed, and after which step."""

    killed: Counter[str]
    aimed: Counter[str]


def ask(shop: BreakableShop, path: str, body: Doc | None, by: Person) -> Doc:
    """What the orders service answers, below 500; asked under a new key where it has closed a checkout meanwhile. Raises AssertionError where
    no answer comes."""
    headers = {"Idempotency-Key": secrets.token_hex(8), "Authorization": by.headers["Authorization"]}
    deadline, url = time.monotonic() + GIVE_UP_SECONDS, f"{shop.url('orders')}{path}"
    while time.monotonic() < deadline:
        try:
            answer = requests.post(url, json=body, headers=headers, timeout=25)
        except requests.RequestException:
            time.sleep(0.2)
            continue
        code = answer.json().get("code") if answer.status_code < 500 else ""
        if path == CHECKOUT and code == "attempt_closed":
            headers["Idempotency-Key"] = secrets.token_hex(8)
        elif answer.status_code < 500 and code not in UNDER_WAY:
            return {**answer.json(), "status_code": answer.status_code}
        time.sleep(0.2)
    raise AssertionError(f"no answer of {path}")


def walk_while_killed(
    shop: BreakableShop,
    aims: dict[str, Step],
    clients: int,
    most: int,
    walk: Callable[[int, int], None],
    kill: int = KILLS,
) -> tuple[Kills, int]:
    """Has `clients` do `walk(client, number)` again and again, `most` times in all at most, while `kill` processes are killed; how often."""
    kills, stopping = Kills(Counter(), Counter()), Event()
    with ThreadPoolExecutor(clients + 1) as pool:
        killing = pool.submit(kill_between_steps, shop, kills.killed, kills.aimed, stopping, aims, kill)

        def work(client: int) -> int:
            done = 0
            while not killing.done() and done < most // clients:
                walk(client, done)
                done += 1
            return done

        try:
            done = sum(pool.map(work, range(clients)))
            killing.result()
        finally:
            stopping.set()
    return kills, done


def at_rest(wrong: Callable[[], dict[str, str]], seconds: float) -> tuple[dict[str, str], float]:
    """What is still wrong once nothing is, or after `seconds`, and how long that took."""
    started = time.monotonic()
    while (found := wrong()) and time.monotonic() < started + seconds:
        time.sleep(1)
    return found, time.monotonic() - started
