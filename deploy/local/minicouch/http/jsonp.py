"""JSONP, for pages older than CORS: the answer as a call of the function that `callback` names (`allow_jsonp`)."""

import re
from collections.abc import AsyncIterator

from ..errors import bad_request
from .messages import JSON, Request, Response, json_response

CALLBACK = re.compile(r"[A-Za-z0-9_$.\[\]]+")


def with_callback(request: Request, response: Response) -> Response:
    """The same answer wrapped; a callback that is no name is refused."""
    name = request.query.get("callback")
    if not name or request.method != "GET" or ("Content-Type", JSON) not in response.headers:
        return response
    if not CALLBACK.fullmatch(name):
        error = bad_request("invalid_callback")
        return json_response({"error": error.error, "reason": error.reason}, error.status)
    headers = [header for header in response.headers if header[0] != "Content-Type"]
    head, tail = b"/* CouchDB */" + name.encode() + b"(", b");\n"
    wrapped: bytes | AsyncIterator[bytes]
    if isinstance(response.body, bytes):
        wrapped = head + response.body.removesuffix(b"\n") + tail
    else:
        wrapped = _wrapped(head, response.body, tail)
    return Response(response.status, wrapped, [("Content-Type", "application/javascript"), *headers])


async def _wrapped(head: bytes, body: AsyncIterator[bytes], tail: bytes) -> AsyncIterator[bytes]:
    """The call's end takes the place of the last line break."""
    before = head
    async for piece in body:
        yield before
        before = piece
    yield before.removesuffix(b"\n") + tail
