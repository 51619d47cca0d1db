"""The HTTP client of everything that calls somebody: the database, our other services, a payment provider. On libcurl."""

from shared.http.breaker import CircuitOpen
from shared.http.client import UNHURRIED_SECONDS, HttpClient
from shared.http.errors import NoResponse, NotSent, TransportError
from shared.http.response import Headers, Response

__all__ = [
    "UNHURRIED_SECONDS",
    "CircuitOpen",
    "Headers",
    "HttpClient",
    "NoResponse",
    "NotSent",
    "Response",
    "TransportError",
]
