"""What Flask reads of a request, as Aisle has it.

A body whose length is not said is refused when it is longer than allowed, not cut off and taken for whole.
"""

from typing import IO, Any, cast

from flask import Request
from werkzeug.datastructures import ImmutableMultiDict
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


class Parameters(ImmutableMultiDict[str, str]):
    """Of a query or a form. Werkzeug's own makes an error with a whole answer in it of each that is asked for and was not sent."""

    def get(self, key: str, default: Any = None, type: Any = None) -> Any:  # type: ignore[override]  # of five overloads
        return super().get(key, default, type) if key in self else default


class ServiceRequest(Request):
    """Flask's request with a body that is either whole or refused."""

    parameter_storage_class = Parameters

    @cached_property
    def stream(self) -> IO[bytes]:
        limit = self.max_content_length
        found = get_input_stream(self.environ, max_content_length=limit)
        if limit is None or "wsgi.input_terminated" not in self.environ:
            return found
        return cast(IO[bytes], BoundedStream(self.environ["wsgi.input"], limit))
