"""The one tree of errors every layer raises; `shared.web` turns it into problem+json once. Its root is the client library's.

AisleError
├── BadRequest        400  the request cannot be read (a damaged cursor, broken JSON)
├── Unauthorized      401  nobody is logged in
│   └── Gone          410  nobody ever will be: the account was erased
├── PaymentRequired   402  a payment was declined
├── Forbidden         403  logged in, but not allowed
├── NotFound          404  no such thing, or not yours
├── Conflict          409  the state of things does not allow it
├── PreconditionFailed 412  If-Match names an older version
├── TooLarge          413  more than we take
├── Invalid           422  understood, but a field is wrong (`errors` per field)
├── TooManyRequests   429  slow down (`retry_after` seconds)
└── Unavailable       503  something we need is away (`retry_after` seconds)

A service names its own cases by subclassing with a stable `code`: class OutOfStock(Conflict): code = "out_of_stock".
"""

from typing import Any

from shared.couch.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound, TooLarge, Unavailable
from shared.couch.errors import Error as AisleError

__all__ = [
    "AisleError",
    "BadRequest",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "NotFound",
    "PaymentRequired",
    "PreconditionFailed",
    "TooLarge",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
]


class Unauthorized(AisleError):
    status, code, title = 401, "unauthorized", "Log in first"


class Gone(Unauthorized):
    status, code, title = 410, "gone", "It was erased"


class PaymentRequired(AisleError):
    status, code, title = 402, "payment_declined", "The payment was declined"


class PreconditionFailed(AisleError):
    status, code, title = 412, "precondition_failed", "It has changed since you read it"


class TooManyRequests(AisleError):
    status, code, title = 429, "too_many_requests", "Too many requests"

    def __init__(self, detail: str = "", *, retry_after: int = 1, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after = retry_after
