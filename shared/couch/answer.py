"""Our responses in the shape that the SDK expects of `requests`."""

from collections.abc import Mapping
from typing import Any

import orjson

from .http import Response


class Answer:
    """As much of `requests.Response` as the SDK reads. `resent` tells that an earlier try may have been carried out."""

    def __init__(self, response: Response, resent: bool = False) -> None:
        self.status_code = response.status
        self.content = response.body
        self.resent = resent
        self._response = response

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
        return orjson.loads(self.content)
