"""One HTTP session under the SDK: pooled connections, a time budget, retries with jittered back-off, every call counted.

`requests` costs more CPU for a call than the database does; this session keeps the SDK's contract (`set_http_client`)
on urllib3 alone. Streams (`stream=True`) still go through `requests`.
"""

import random
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson
import requests
import urllib3
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import HTTPError, NewConnectionError

from shared.couch.errors import DatabaseAway
from shared.couch.tally import classify, record

RETRIED = frozenset({429, 500, 502, 503, 504})
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0


class Answer:
    """As much of `requests.Response` as the SDK reads. `resent` tells that an earlier try may have been carried out."""

    def __init__(self, raw: urllib3.BaseHTTPResponse, resent: bool) -> None:
        self.status_code: int = raw.status
        self.content: bytes = raw.data
        self.resent = resent
        self._headers = raw.headers

    @property
    def headers(self) -> Mapping[str, str]:
        return CaseInsensitiveDict(self._headers)

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    @property
    def ok(self) -> bool:
        return self.status_code < 400

    def json(self, **_: Any) -> Any:
        return orjson.loads(self.content)


class LeanSession(requests.Session):
    """The session given to the SDK. `patience`: seconds a call may take in all, its retries included."""

    def __init__(self, patience: float = 2.5, connections: int = 32) -> None:
        super().__init__()
        self.patience = patience
        self.pool = urllib3.PoolManager(maxsize=connections, retries=False)

    def request(self, method: str, url: str, params: Any = None, data: Any = None, headers: Any = None, **rest: Any) -> Any:
        if rest.get("stream"):
            return super().request(method, url, params=params, data=data, headers=headers, **rest)
        path = urlsplit(url).path
        target = f"{url}?{urlencode(params)}" if params else url
        budget = self.patience + _asked_to_wait(params)
        began = time.monotonic()
        try:
            return self._until_answered(method, target, data, dict(headers or {}), began + budget)
        finally:
            record(classify(method, path), (time.monotonic() - began) * 1000)

    def _until_answered(self, method: str, url: str, body: Any, headers: dict[str, str], deadline: float) -> Answer:
        resent, pause = False, FIRST_PAUSE
        while True:
            left = deadline - time.monotonic()
            try:
                raw = self.pool.urlopen(
                    method, url, body=body, headers=headers, redirect=False, timeout=max(left, 0.05)
                )
            except NewConnectionError as error:
                failure: Exception | None = error
            except HTTPError as error:
                failure, resent = error, True
            else:
                if raw.status not in RETRIED:
                    return Answer(raw, resent)
                failure, resent = None, resent or raw.status != 429
                pause = max(pause, _retry_after(raw))
            wait = pause * random.uniform(0.5, 1.0)
            if time.monotonic() + wait >= deadline:
                if failure is None:
                    return Answer(raw, resent)
                raise DatabaseAway(f"The database gave no answer in time ({type(failure).__name__}).") from failure
            time.sleep(wait)
            pause = min(pause * 2, LONGEST_PAUSE)


def _asked_to_wait(params: Any) -> float:
    """Seconds a long poll asked the server to wait, on top of our own patience."""
    if params and params.get("feed") == "longpoll":
        return float(params.get("timeout", 60_000)) / 1000
    return 0.0


def _retry_after(answer: urllib3.BaseHTTPResponse) -> float:
    value = answer.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else 0.0
