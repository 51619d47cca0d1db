"""Bodies whose length is not said: one that is longer than allowed is refused, not cut off and taken for whole."""

from typing import IO, cast

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.utils import cached_property
from werkzeug.wsgi import LimitedStream, get_input_stream


class BoundedStream(LimitedStream):
    """At most `limit` bytes. Raises RequestEntityTooLarge when there is more; werkzeug's own stops there without a word."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        super().__init__(stream, limit, is_max=True)

    def on_exhausted(self) -> None:
        if self._stream.read(1):
            raise RequestEntityTooLarge

    def readall(self) -> bytes:
        data = super().readall()
        if data and self.is_exhausted:
            self.on_exhausted()
        return data


class ServiceRequest(Request):
    """Flask's request with a body that is either whole or refused."""

    @cached_property
    def stream(self) -> IO[bytes]:
        limit = self.max_content_length
        found = get_input_stream(self.environ, max_content_length=limit)
        if limit is None or "wsgi.input_terminated" not in self.environ:
            return found
        return cast(IO[bytes], BoundedStream(self.environ["wsgi.input"], limit))
