"""gunicorn's response, which says `Connection: close` when the request's body was not read to its end."""

from functools import partial
from typing import Any

from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.message import Request
from gunicorn.http.wsgi import FileWrapper
from gunicorn.http.wsgi import Response as GunicornResponse

FILE_BLOCK = 256 * 1024


def body_was_read(request: Request) -> bool:
    """Whether the next thing on the connection is another request."""
    reader = request.body.reader
    if isinstance(reader, LengthReader):
        return bool(reader.length == 0)
    return isinstance(reader, ChunkedReader) and reader.parser is None


class Response(GunicornResponse):
    """`sock` is the Connection."""

    def default_headers(self) -> list[str]:
        if self.sock.must_close or (self.sock.streams and not body_was_read(self.req)):
            self.force_close()
        lines: list[str] = super().default_headers()
        return lines

    def write_all(self, body: Any) -> None:
        """Files too are written in blocks, so that a slow reader's part is kept for the main loop to send."""
        blocks = iter(partial(body.filelike.read, FILE_BLOCK), b"") if isinstance(body, FileWrapper) else body
        for block in blocks:
            self.write(block)
        self.close()


def keeps_connection(response: Any, request: Request, streams: bool) -> bool:
    """Whether another request may follow."""
    return not response.should_close() and (not streams or body_was_read(request))
