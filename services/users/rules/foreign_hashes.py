"""Password hashes that other shops made: those that can be checked here, and whether a password fits one.

    $argon2id$v=19$m=65536,t=3,p=4$...      argon2 (also argon2i, argon2d)
    $2b$12$...                              bcrypt (also $2a$, $2y$)
    pbkdf2_sha256$600000$salt$...           PBKDF2 as Django writes it (also pbkdf2_sha1)
    $pbkdf2-sha256$29000$...$...            PBKDF2 as passlib writes it (also -sha512, and $pbkdf2$: SHA-1)

Django's names in front of the others (`argon2`, `bcrypt$`, `bcrypt_sha256$`) are understood. What would take a log-in more
memory or time than `MAX_...` says is not taken: a hash is a stranger's choice of how long this server works.
"""

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final

import argon2
import bcrypt

MAX_MEMORY_KIB: Final = 256 * 1024
MAX_PASSES: Final = 20
MAX_LANES: Final = 16
BCRYPT_COSTS: Final = range(4, 15)
ITERATIONS: Final = range(1_000, 2_000_001)
BCRYPT_BYTES: Final = 72
"""Of a password; bcrypt never saw the others."""

_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_DJANGO = re.compile(r"pbkdf2_(sha1|sha256)\$(\d{1,8})\$([^$]{1,128})\$([A-Za-z0-9+/=]{8,200})")
_PASSLIB = re.compile(
    r"\$pbkdf2(?:-(sha256|sha512))?\$(\d{1,8})\$([A-Za-z0-9./]{0,200})\$([A-Za-z0-9./]{8,200})"
)


def can_be_checked(stored: str) -> bool:
    """Whether `fits` can tell, within the limits."""
    plain = _plain(stored)
    if found := _BCRYPT.fullmatch(plain):
        return int(found[1]) in BCRYPT_COSTS
    if _pbkdf2(plain) is not None:
        return True
    try:
        costs = argon2.extract_parameters(plain)
    except argon2.exceptions.InvalidHashError:
        return False
    return (
        costs.memory_cost <= MAX_MEMORY_KIB
        and costs.time_cost <= MAX_PASSES
        and costs.parallelism <= MAX_LANES
    )


def fits(password: str, stored: str) -> bool:
    """Whether the password has this hash; False for a hash that cannot be checked."""
    plain = _plain(stored)
    if _BCRYPT.fullmatch(plain):
        return _fits_bcrypt(password, plain, is_digested=stored.startswith("bcrypt_sha256$"))
    if (found := _pbkdf2(plain)) is not None:
        name, iterations, salt, wanted = found
        made = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations, len(wanted))
        return hmac.compare_digest(made, wanted)
    try:
        return argon2.PasswordHasher().verify(plain, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


def _fits_bcrypt(password: str, stored: str, *, is_digested: bool) -> bool:
    given = password.encode()
    if is_digested:
        given = hashlib.sha256(given).hexdigest().encode()
    try:
        return bcrypt.checkpw(given[:BCRYPT_BYTES], stored.encode())
    except ValueError:
        return False


def _plain(stored: str) -> str:
    """Without the name that Django puts in front."""
    for name in ("argon2$", "bcrypt_sha256$", "bcrypt$"):
        if stored.startswith(name):
            rest = stored.removeprefix(name)
            return rest if rest.startswith("$") else f"${rest}"
    return stored


def _pbkdf2(stored: str) -> tuple[str, int, bytes, bytes] | None:
    """(digest, iterations, salt, hash)."""
    try:
        if found := _DJANGO.fullmatch(stored):
            parts = found[1], int(found[2]), found[3].encode(), base64.b64decode(found[4], validate=True)
        elif found := _PASSLIB.fullmatch(stored):
            parts = found[1] or "sha1", int(found[2]), _adapted(found[3]), _adapted(found[4])
        else:
            return None
    except binascii.Error:
        return None
    return parts if parts[1] in ITERATIONS else None


def _adapted(text: str) -> bytes:
    """passlib's base64: dots for plus signs, no padding."""
    return base64.b64decode(text.replace(".", "+") + "=" * (-len(text) % 4), validate=True)
