"""Our responses in the shape that the SDK expects of `requests`."""

from collections.abc import Mapping
from typing import Any

import orjson

from .http import Response


class Answer:
    """As much of `requests.Response` as the SDK reads. `resent` tells that an earlier try may have been carried out.

    With `as_bytes` what was found is handed on as it came, for who parses it later or not at all.
    """

    def __init__(self, response: Response, resent: bool = False, *, as_bytes: bool = False) -> None:
        self.status_code = response.status
        self.content = response.body
        self.resent = resent
        self._response, self._as_bytes = response, as_bytes

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    @property
    def ok(self) -> bool:
        return self.status_code < 400

    def json(self, **_: Any) -> Any:
        return self.content if self._as_bytes and self.ok else orjson.loads(self.content)
