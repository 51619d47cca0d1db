"""Asking again: what a client of the shop does when it is answered 503 with Retry-After. A busy database is no failure of a test that only
makes its goods or logs somebody in."""

import time
from collections.abc import Callable

import requests

PATIENCE_SECONDS = 120.0
MAX_PAUSE = 2.0


def patient(send: Callable[[], requests.Response]) -> requests.Response:
    """The first answer that is no honest 503 (one that says when to come back), or the last after two minutes.

    `send` sends the same each time: a POST that makes something needs one Idempotency-Key for all of them.
    """
    ends = time.monotonic() + PATIENCE_SECONDS
    while (answer := send()).status_code == 503 and (wait := answer.headers.get("Retry-After", "")).isdigit():
        if time.monotonic() > ends:
            break
        time.sleep(min(float(wait), MAX_PAUSE))
    return answer
