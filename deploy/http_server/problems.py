"""What is answered to a request that reaches no application: a problem (RFC 9457), as the services answer theirs."""

import json
import os
import re
from dataclasses import dataclass

from gunicorn.http import errors

_REQUEST_ID = re.compile(rb"\r\nx-request-id[ \t]*:[ \t]*([A-Za-z0-9][A-Za-z0-9._-]{0,63})[ \t]*\r\n", re.I)
_TIMING = ", ".join(f'{kind};dur=0;desc="0"' for kind in ("partition", "global", "read", "write"))


@dataclass(frozen=True)
class Refusal:
    """One kind of answer; the connection is closed after it."""

    status: int
    reason: str
    code: str
    detail: str
    retry_after: int | None = None

    def response(self, head: bytes = b"") -> bytes:
        """The whole response; `head` is what came of the request, for its X-Request-ID."""
        sent = _REQUEST_ID.search(head[: 64 * 1024] + b"\r\n")
        request_id = sent[1].decode() if sent else os.urandom(12).hex()
        problem = {
            "type": f"urn:aisle:problem:{self.code}",
            "title": self.reason,
            "status": self.status,
            "detail": self.detail,
            "instance": f"urn:aisle:request:{request_id}",
            "code": self.code,
        }
        body = json.dumps(problem).encode()
        headers = {
            "Connection": "close",
            "Content-Type": "application/problem+json",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Request-ID": request_id,
            "Server-Timing": _TIMING,
        }
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        lines = [
            f"HTTP/1.1 {self.status} {self.reason}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode() + body


BAD_REQUEST = Refusal(400, "Bad Request", "bad_request", "This is not HTTP as it should be.")
HEAD_TOO_SLOW = Refusal(408, "Request Timeout", "request_timeout", "The request did not arrive in time.")
HEAD_TOO_LARGE = Refusal(
    431, "Request Header Fields Too Large", "headers_too_large", "The headers are larger than we take."
)
URI_TOO_LONG = Refusal(414, "URI Too Long", "uri_too_long", "The address is longer than we take.")
BUSY = Refusal(
    503,
    "Service Unavailable",
    "unavailable",
    "Too many large requests at once; try again shortly.",
    retry_after=5,
)
OVERLOADED = Refusal(
    503, "Service Unavailable", "unavailable", "Too many requests at once; try again shortly.", retry_after=1
)
OUR_FAULT = Refusal(
    500,
    "Internal Server Error",
    "internal_error",
    "This is our fault and has been logged; quote the request id when you ask about it.",
)
_PARSE_ERRORS: dict[type[Exception], Refusal] = {
    errors.LimitRequestLine: URI_TOO_LONG,
    errors.LimitRequestHeaders: HEAD_TOO_LARGE,
    errors.ExpectationFailed: Refusal(
        417, "Expectation Failed", "bad_request", "Only `Expect: 100-continue` is understood."
    ),
    errors.UnsupportedTransferCoding: Refusal(
        501, "Not Implemented", "bad_request", "This transfer coding is not understood."
    ),
}
_OF_THE_APPLICATION = (
    errors.InvalidResponseHeader,
    errors.InvalidResponseHeaderName,
    errors.ConfigurationProblem,
)


def refusal_for(error: BaseException) -> Refusal:
    """What to answer when reading a request, or making its response, raised `error`."""
    if not isinstance(error, errors.ParseException) or isinstance(error, _OF_THE_APPLICATION):
        return OUR_FAULT
    return _PARSE_ERRORS.get(type(error), BAD_REQUEST)
