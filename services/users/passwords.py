"""Password hashes (argon2id), a few at a time so that a burst of logins costs time and not memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from shared.errors import Unavailable

_PATIENCE_SECONDS = 2.5
_COMMON = Path(__file__).with_name("common_passwords.txt")


class Passwords:
    """Hashes and checks passwords; `at_once` bounds both memory (`memory_kib` each) and processor use.

    `common` are the passwords that nobody may choose.
    """

    def __init__(self, *, memory_kib: int, passes: int, at_once: int) -> None:
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        self._places = BoundedSemaphore(at_once)
        self.common = frozenset(line for line in _COMMON.read_text().splitlines() if not line.startswith("#"))
        self._nobodys = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        with self._place():
            return self._hasher.hash(password)

    def check(self, password: str, stored: str | None) -> bool:
        """Whether the password fits. Without a stored hash it is no, after the same work, so that time tells nothing."""
        with self._place():
            try:
                return self._hasher.verify(stored or self._nobodys, password) and stored is not None
            except (VerificationError, InvalidHashError):
                return False

    def is_old(self, stored: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(stored)

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._places.acquire(timeout=_PATIENCE_SECONDS):
            raise Unavailable(
                "Too many people are logging in just now; try again in a few seconds.", retry_after=2
            )
        try:
            yield
        finally:
            self._places.release()
