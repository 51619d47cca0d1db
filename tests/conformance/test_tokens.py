"""Signed tokens (JWT) and a proxy's headers: believed only where the settings say so."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .conftest import Couch, Process

pytestmark = pytest.mark.conformance

SECRET = b"0123456789abcdef" * 4
HANDLERS = ", ".join(f"{{chttpd_auth, {name}_authentication_handler}}" for name in ("jwt", "proxy", "cookie"))
RSA_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
SIGNERS = {"HS256": SECRET, "HS512": SECRET, "RS256": RSA_KEY, "ES256": EC_KEY}


def configure(couch: Couch, section: str, key: str, value: str) -> None:
    assert couch.put(f"/_node/_local/_config/{section}/{key}", value).status_code == 200


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.fixture
def server(minicouch: Callable[..., Process]) -> Couch:
    """A server that takes both; the real one is not told to, because others use it."""
    couch = minicouch().couch
    configure(couch, "chttpd", "authentication_handlers", HANDLERS)
    configure(couch, "jwt_keys", "hmac:_default", base64.b64encode(SECRET).decode())
    configure(couch, "jwt_keys", "rsa:_default", pem(RSA_KEY).replace("\n", "\\n"))
    configure(couch, "jwt_keys", "ec:_default", pem(EC_KEY))
    return couch


def session(couch: Couch, **headers: str) -> tuple[int, object]:
    answer = couch.get("/_session", auth=None, headers={k.replace("_", "-"): v for k, v in headers.items()})
    body = answer.json()
    return answer.status_code, body["userCtx"] if answer.ok else body["reason"]


def claims(**more: object) -> dict[str, object]:
    return {"sub": "ann", "exp": int(time.time()) + 600, "_couchdb.roles": ["a", "b"]} | more


@pytest.mark.parametrize("algorithm", SIGNERS)
def test_signed_tokens(server: Couch, algorithm: str):
    token = jwt.encode(claims(), SIGNERS[algorithm], algorithm)
    assert session(server, Authorization=f"Bearer {token}") == (200, {"name": "ann", "roles": ["a", "b"]})
    head, body, signature = token.split(".")
    forged = f"{head}.{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
    status, reason = session(server, Authorization=f"Bearer {forged}")
    assert (status, reason) == (400, "Bad HMAC" if algorithm[0] == "H" else "Bad signature")


def test_refused_tokens(server: Couch):
    def told(token: str) -> tuple[int, object]:
        return session(server, Authorization=f"Bearer {token}")

    def signed(payload: dict[str, object], **options: object) -> str:
        return jwt.encode(payload, SECRET, "HS256", **options)

    assert told("nonsense") == told("a.b") == told("a.b.c") == (400, "Malformed token")
    assert told(signed(claims(exp=1))) == (401, "exp not in future")
    assert told(signed({"sub": "ann"})) == (400, "Missing exp claim")
    assert told(signed({"exp": claims()["exp"]})) == (401, "Token missing sub claim.")
    assert told(signed(claims(), headers={"kid": "other"})) == (400, "Unknown kid")
    assert told(jwt.encode(claims(), None, "none")) == (400, "Invalid alg header parameter")
    # A public key is no secret: a token that was signed with its text is not taken.
    with_public_key = jwt.api_jws.encode(b"{}", SECRET, "HS256").rpartition(".")[0]
    forged = hmac.digest(pem(RSA_KEY).encode(), with_public_key.encode(), "sha256")
    assert told(f"{with_public_key}.{base64.urlsafe_b64encode(forged).decode().rstrip('=')}")[0] == 400


def test_a_proxy_that_signs(server: Couch):
    configure(server, "chttpd_auth", "proxy_use_secret", "true")
    configure(server, "chttpd_auth", "secret", "shared")
    token = hmac.new(b"shared", b"bob", hashlib.sha256).hexdigest()
    told = {"X_Auth_CouchDB_UserName": "bob", "X_Auth_CouchDB_Roles": "x, y"}
    assert session(server, **told, X_Auth_CouchDB_Token=token) == (200, {"name": "bob", "roles": ["x", "y"]})
    for wrong in ({}, {"X_Auth_CouchDB_Token": "0" * 64}):
        assert session(server, **told, **wrong) == (200, {"name": None, "roles": []})


def test_neither_is_believed_unasked(couch: Couch):
    token = jwt.encode(claims(sub="admin", **{"_couchdb.roles": ["_admin"]}), SECRET, "HS256")
    for headers in (
        {"Authorization": f"Bearer {token}"},
        {"X_Auth_CouchDB_UserName": "admin", "X_Auth_CouchDB_Roles": "_admin"},
    ):
        assert session(couch, **headers) == (200, {"name": None, "roles": []})
