"""The one tree of errors every layer raises; `shared.web` turns it into problem+json once.

AisleError
├── BadRequest        400  the request cannot be read (a damaged cursor, broken JSON)
├── Unauthorized      401  nobody is logged in
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

from typing import Any, ClassVar


class AisleError(Exception):
    """Something a caller must know. `detail` says what to do; keyword extras become members of the problem."""

    status: ClassVar[int] = 500
    code: str = "internal_error"
    title: str = "Something went wrong here"

    def __init__(self, detail: str = "", **extra: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.extra = extra


class BadRequest(AisleError):
    status, code, title = 400, "bad_request", "The request cannot be read"


class Unauthorized(AisleError):
    status, code, title = 401, "unauthorized", "Log in first"


class PaymentRequired(AisleError):
    status, code, title = 402, "payment_declined", "The payment was declined"


class Forbidden(AisleError):
    status, code, title = 403, "forbidden", "Not allowed"


class NotFound(AisleError):
    status, code, title = 404, "not_found", "No such thing here"


class Conflict(AisleError):
    status, code, title = 409, "conflict", "Not possible in the present state"


class PreconditionFailed(AisleError):
    status, code, title = 412, "precondition_failed", "It has changed since you read it"


class TooLarge(AisleError):
    status, code, title = 413, "too_large", "Too large"


class Invalid(AisleError):
    """`errors` maps a field's path to its messages: {"items.0.quantity": ["Must be at least 1."]}."""

    status, code, title = 422, "invalid", "Some fields are wrong"

    def __init__(self, detail: str = "", *, errors: dict[str, list[str]] | None = None, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.errors = errors or {}


class TooManyRequests(AisleError):
    status, code, title = 429, "too_many_requests", "Too many requests"

    def __init__(self, detail: str = "", *, retry_after: int = 1, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after = retry_after


class Unavailable(AisleError):
    status, code, title = 503, "unavailable", "Not available just now"

    def __init__(self, detail: str = "", *, retry_after: int = 1, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after = retry_after
