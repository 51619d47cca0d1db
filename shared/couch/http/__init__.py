"""The HTTP client of everything that calls a server: the database, our other services, a payment provider. On libcurl."""

from .breaker import CircuitOpen
from .client import HttpClient
from .errors import NoResponse, NotSent, TransportError
from .handle import LONG_CALL_SECONDS
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
