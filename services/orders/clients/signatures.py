"""Signed, time-stamped webhooks: `t=1700000000,v1=<hex HMAC-SHA256 of "t.body">`, the scheme Stripe made common."""

import hmac
import re
import time
from collections.abc import Sequence
from typing import Protocol

from shared.errors import Unauthorized

HEADER = "Aisle-Signature"


class Headers(Protocol):
    """A request's headers, whatever the case of their names."""

    def get(self, name: str, /) -> str | None: ...


_PART = re.compile(r"(?:^|,)\s*(t|v1)=([0-9a-f]{1,128})(?=,|\s*$)")


class BadSignature(Unauthorized):
    code, title = "bad_signature", "The webhook's signature is not valid"


def sign(secret: str, body: bytes, moment: int | None = None) -> str:
    """The header for `body`, now or at `moment` (seconds since 1970)."""
    at = int(time.time()) if moment is None else moment
    return f"t={at},v1={_digest(secret, at, body)}"


def check(secrets: Sequence[str], header: str | None, body: bytes, tolerance: int) -> None:
    """Raises BadSignature unless one signature in `header` fits `body` and one of `secrets`, and is not older than `tolerance` seconds."""
    parts = _PART.findall(header or "")
    times = [value for name, value in parts if name == "t" and value.isdigit()]
    signatures = [value for name, value in parts if name == "v1"]
    if not any(secrets) or len(times) != 1 or not signatures:
        raise BadSignature("Sign the webhook as `t=<seconds>,v1=<hex HMAC-SHA256 of t.body>`.")
    if abs(time.time() - int(times[0])) > tolerance:
        raise BadSignature("The webhook's time is too far from now.")
    expected = [_digest(secret, int(times[0]), body) for secret in secrets if secret]
    if not any(hmac.compare_digest(one, signature) for one in expected for signature in signatures):
        raise BadSignature("The webhook was not signed with our secret.")


def _digest(secret: str, at: int, body: bytes) -> str:
    return hmac.digest(secret.encode(), b"%d." % at + body, "sha256").hex()
