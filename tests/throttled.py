"""Whole suites under the rates of a Cloudant plan: `COUCH_PLAN=lite .venv/bin/python -m pytest tests/services/users`.

The database refuses what is too much (429), the services try again within a request's time and then answer 503 with Retry-After. A test's
client does what that asks of it: it waits and sends the request again. Any other answer of 5xx, or a refusal that does not say when to come
back, fails the test that got it.
"""

import time
from collections.abc import Callable
from typing import Any, Final

import requests

PROBLEM: Final = "application/problem+json"
REPLICATION: Final = b'{"error":"service_unavailable"'
"""What a sync is told, in CouchDB's words."""
ASKED_AGAIN_FOR: Final = 180.0
DATABASE_PAUSE: Final = 0.3
"""Cloudant's own 429 says no time to wait."""
MAX_PAUSE: Final = 5.0

Send = Callable[..., requests.Response]


class DishonestRefusal(AssertionError):
    """An answer that nobody can act on."""


def ask_again() -> None:
    """From now on every session of `requests` in this process sends again what was refused because of the rates."""
    original: Send = requests.Session.send

    def send(self: requests.Session, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        ends = time.monotonic() + ASKED_AGAIN_FOR
        answer = original(self, request, **options)
        while (pause := pause_after(answer)) is not None and _can_be_sent_again(request):
            if time.monotonic() + pause > ends:
                break
            time.sleep(pause)
            answer = original(self, request, **options)
        return answer

    requests.Session.send = send  # type: ignore[method-assign]


def pause_after(answer: requests.Response) -> float | None:
    """Seconds to wait before the request is sent again; None for an answer that holds. Raises DishonestRefusal."""
    status, headers = answer.status_code, answer.headers
    if status == 429 and "X-Couch-Request-ID" in headers:
        return DATABASE_PAUSE
    if status < 500:
        return None
    wait = headers.get("Retry-After", "")
    is_said = headers.get("Content-Type", "").startswith(PROBLEM) or answer.content.startswith(REPLICATION)
    if status != 503 or not wait.isdigit() or not is_said:
        raise DishonestRefusal(
            f"{answer.request.method} {answer.request.url}: {status} {dict(headers)} {answer.text[:500]}"
        )
    return min(float(wait), MAX_PAUSE)


def _can_be_sent_again(request: requests.PreparedRequest) -> bool:
    """A body that is read while it is sent is gone."""
    return request.body is None or isinstance(request.body, bytes | str)
