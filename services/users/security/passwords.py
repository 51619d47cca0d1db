"""Password hashes (argon2id; those of other shops are checked, and replaced), a few at a time so that a burst of logins costs time and not memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from services.users.rules import foreign_hashes
from shared.errors import Unavailable

_MAX_WAIT_SECONDS = 2.5
_COMMON = Path(__file__).with_name("common_passwords.txt")


class Passwords:
    """Hashes and checks passwords; `at_once` bounds both memory (`memory_kib` each) and processor use.

    `common` are the passwords that nobody may choose.
    """

    def __init__(self, *, memory_kib: int, passes: int, at_once: int) -> None:
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        self._slots = BoundedSemaphore(at_once)
        self.common = frozenset(line for line in _COMMON.read_text().splitlines() if not line.startswith("#"))
        self._dummy_hash = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        with self._slot():
            return self._hasher.hash(password)

    def check(self, password: str, stored: str | None) -> bool:
        """Whether the password fits. Without a stored hash ("" of who has no password yet) it is no, after the same work, so
        that time tells nothing. A hash of another shop may take longer, until the first log-in replaces it."""
        with self._slot():
            if stored and not self._is_own(stored):
                return foreign_hashes.fits(password, stored)
            try:
                return self._hasher.verify(stored or self._dummy_hash, password) and bool(stored)
            except (VerificationError, InvalidHashError):
                return False

    def needs_rehash(self, stored: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return not self._is_own(stored) or self._hasher.check_needs_rehash(stored)

    @staticmethod
    def _is_own(stored: str) -> bool:
        return stored.startswith("$argon2id$")

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=_MAX_WAIT_SECONDS):
            raise Unavailable(
                "Too many people are logging in just now; try again in a few seconds.", retry_after=2
            )
        try:
            yield
        finally:
            self._slots.release()
