"""Forms that could not be processed, kept for a while so that nobody has to type twice."""

import base64
import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from cryptography.fernet import Fernet, InvalidToken
from redis import Redis

TTL_SECONDS = 3600
SENSITIVE_FIELDS = re.compile(r"pass|card|cvc|cvv|secret|token|_csrf|^key$", re.IGNORECASE)


@dataclass(frozen=True)
class SavedForm:
    """What was typed into the form that goes to `action`; `owner` is who it was shown to ("" for a guest).

    Passwords, payment data and files are never in it; `files` says that one was chosen. What an `unanswered` form asks for
    may have been done: its `key` is kept, so that it is not done twice.
    """

    action: str
    values: dict[str, str]
    owner: str = ""
    files: bool = False
    unanswered: bool = False
    key: str = ""


def savable(values: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The fields that may be kept."""
    return {name: value for name, value in values if not SENSITIVE_FIELDS.search(name)}


class SavedForms:
    """Saved forms in Redis. The id stays with the browser, and without it nobody can read the form."""

    def __init__(self, redis: Redis, secret_key: str, seconds: int = TTL_SECONDS) -> None:
        self._redis, self._secret, self._seconds = redis, secret_key.encode(), seconds

    def save(self, form: SavedForm) -> str:
        """Keeps `form` and answers its id. Raises RedisError."""
        form_id = secrets.token_urlsafe(12)
        self._redis.set(
            self._name(form_id), self._cipher(form_id).encrypt(orjson.dumps(asdict(form))), ex=self._seconds
        )
        return form_id

    def load(self, form_id: str) -> SavedForm | None:
        """The form, or None when it is not kept any longer. Raises RedisError."""
        sealed = self._redis.get(self._name(form_id))
        if not isinstance(sealed, bytes):
            return None
        try:
            found: dict[str, Any] = orjson.loads(self._cipher(form_id).decrypt(sealed))
        except InvalidToken:
            return None
        return SavedForm(**found)

    @staticmethod
    def _name(form_id: str) -> str:
        return f"storefront:form:{hashlib.sha256(form_id.encode()).hexdigest()}"

    def _cipher(self, form_id: str) -> Fernet:
        digest = hashlib.sha256(b"storefront.form" + self._secret + form_id.encode()).digest()
        return Fernet(base64.urlsafe_b64encode(digest))
