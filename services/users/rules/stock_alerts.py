"""The token of an e-mail about a stock alert: it shows that its reader has the address."""

import base64
import binascii
import hmac
from hashlib import sha256

_LENGTH = 40


def token_of(secret: str, docid: str) -> str:
    return base64.urlsafe_b64encode(docid.encode()).decode().rstrip("=") + "." + _signature(secret, docid)


def docid_of(secret: str, token: str) -> str | None:
    """The id of the alert that a token is of; None for a token that is none of ours."""
    encoded, _, signature = token.partition(".")
    try:
        docid = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return docid if hmac.compare_digest(signature.encode(), _signature(secret, docid).encode()) else None


def _signature(secret: str, docid: str) -> str:
    return hmac.new(secret.encode(), f"stock alert {docid}".encode(), sha256).hexdigest()[:_LENGTH]
