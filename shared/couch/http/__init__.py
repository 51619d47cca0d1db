"""The HTTP client of everything that calls a server: the database, our other services, a payment provider. On libcurl."""

from .breaker import CircuitOpen
from .client import LONG_CALL_SECONDS, HttpClient
from .errors import NoResponse, NotSent, TransportError
from .response import Headers, Response

__all__ = [
    "LONG_CALL_SECONDS",
    "CircuitOpen",
    "Headers",
    "HttpClient",
    "NoResponse",
    "NotSent",
    "Response",
    "TransportError",
]
