"""Signs access tokens (EdDSA), publishes the keys they verify with (JWKS), signs refresh tokens.

Rotation: make a key with `python -m deploy.signing_key PATH`; name it in JWT_OTHER_KEY_FILES, restart; make it
JWT_PRIVATE_KEY_FILE and the old one "other", restart; drop the old one when its last token has expired.
"""

import base64
import binascii
import hashlib
import hmac
import os
import time
from pathlib import Path
from typing import Any

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

ISSUER = "aisle"
DEVICE_SECONDS = 365 * 86400


class SigningKeys:
    """The private key that signs and the public keys that are published."""

    def __init__(self, private: Ed25519PrivateKey, others: list[Ed25519PublicKey], *, seconds: int) -> None:
        self._private, self.seconds = private, seconds
        public = [private.public_key(), *others]
        self._by_id = {key_id(key): key for key in public}
        self._kid = key_id(public[0])

    def public_key(self, kid: str) -> Ed25519PublicKey | None:
        return self._by_id.get(kid)

    def jwks(self) -> dict[str, Any]:
        """RFC 7517, for `/.well-known/jwks.json`."""
        return {
            "keys": [
                {
                    "kty": "OKP",
                    "crv": "Ed25519",
                    "alg": "EdDSA",
                    "use": "sig",
                    "kid": kid,
                    "x": _text(_raw(key)),
                }
                for kid, key in self._by_id.items()
            ]
        }

    def access_token(
        self,
        userid: str,
        session: str,
        roles: list[str],
        *,
        group: str = "",
        started: int = 0,
        as_of: int = 0,
    ) -> str:
        """A JWT that says who this is; only verified accounts ever get one.

        `started` is when the session began and `as_of` when the roles were read, in milliseconds since 1970 (default: now).
        """
        moment = time.time()
        now, milliseconds = int(moment), int(moment * 1000)
        claims = {
            "iss": ISSUER,
            "sub": userid,
            "use": "access",
            "sid": session,
            "roles": roles,
            "email_verified": True,
            "iat": now,
            "exp": now + self.seconds,
            "jti": os.urandom(9).hex(),
            "session_started": started or milliseconds,
            "as_of": as_of or milliseconds,
            **({"group": group} if group else {}),
        }
        return jwt.encode(claims, self._private, algorithm="EdDSA", headers={"kid": self._kid})


def load_keys(private_file: Path, other_files: str, *, seconds: int) -> SigningKeys:
    """Reads PEM files. Raises ValueError naming the file that is no Ed25519 key, OSError for one that is not there."""
    private = load_pem_private_key(Path(private_file).read_bytes(), None)
    if not isinstance(private, Ed25519PrivateKey):
        raise ValueError(
            f"{private_file} holds no Ed25519 private key: make one with `openssl genpkey -algorithm ed25519`."
        )
    others = [_public_from(Path(name.strip())) for name in other_files.split(",") if name.strip()]
    return SigningKeys(private, others, seconds=seconds)


def key_id(key: Ed25519PublicKey) -> str:
    """RFC 7638 thumbprint."""
    thumb = orjson.dumps({"crv": "Ed25519", "kty": "OKP", "x": _text(_raw(key))})
    return _text(hashlib.sha256(thumb).digest())


class SignedValues:
    """Small JSON values in a text that nobody else can make: signed with the shop's secret, readable by everybody."""

    def __init__(self, purpose: str, secret: str) -> None:
        self._key = hashlib.sha256(f"aisle {purpose}\n{secret}".encode()).digest()

    def make(self, *values: str | int) -> str:
        payload = orjson.dumps(values)
        return _text(hmac.digest(self._key, payload, "sha256") + payload)

    def read(self, text: str) -> list[Any] | None:
        """The values, or None for a text that is not ours."""
        try:
            raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, payload = raw[:32], raw[32:]
        if not hmac.compare_digest(mac, hmac.digest(self._key, payload, "sha256")):
            return None
        values: list[Any] = orjson.loads(payload)
        return values


class RefreshTokens:
    """Refresh tokens: who, which session, which generation, when it began (ms); signed, so that a login writes nothing."""

    def __init__(self, secret: str) -> None:
        self._signed = SignedValues("refresh token", secret)

    def make(self, userid: str, session: str, generation: int, began: int) -> str:
        return self._signed.make(userid, session, generation, began)

    def read(self, token: str) -> tuple[str, str, int, int] | None:
        """(userid, session, generation, began), or None for a token that is not ours."""
        values = self._signed.read(token)
        if values is None:
            return None
        userid, session, generation, began = values
        return userid, session, generation, began


class DeviceTokens:
    """What a browser or app keeps from a log-in, to show that this e-mail was logged in there before."""

    def __init__(self, secret: str) -> None:
        self._signed = SignedValues("device token", secret)

    def make(self, email: str) -> str:
        return self._signed.make(self._digest(email), os.urandom(9).hex(), int(time.time()))

    def device_of(self, token: str, email: str) -> str | None:
        """The device's id, or None for a token that is too old or not for this e-mail."""
        values = self._signed.read(token)
        if values is None or values[0] != self._digest(email) or values[2] < time.time() - DEVICE_SECONDS:
            return None
        return str(values[1])

    @staticmethod
    def _digest(email: str) -> str:
        return hashlib.sha256(email.encode()).hexdigest()[:20]


def _public_from(path: Path) -> Ed25519PublicKey:
    pem = path.read_bytes()
    key = load_pem_private_key(pem, None).public_key() if b"PRIVATE" in pem else load_pem_public_key(pem)
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"{path} holds no Ed25519 key.")
    return key


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
