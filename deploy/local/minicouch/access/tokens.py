"""Who a request is by a signed token (JWT) or by the headers of a proxy, when the settings switch that on."""

import base64
import hashlib
import hmac
import re
import time
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from ..documents.auth import UserCtx
from ..errors import bad_request, not_found, unauthorized
from ..http.messages import Request
from ..runtime.config import Config

KINDS = {"HS": "hmac", "RS": "rsa", "ES": "ec"}
ALGORITHMS = [f"{kind}{size}" for kind in KINDS for size in (256, 384, 512)]
HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
CLAIMS = re.compile(r'(?P<name>[a-z]+)|\{(?P<key>[a-z]+)\s*,\s*"(?P<value>[^"]+)"\}')
DOT = re.compile(r"(?<!\\)\.")
ITEMS = re.compile(r"\s*,\s*")


def from_token(request: Request, config: Config) -> UserCtx | None:
    """Errors: 400 for a token that is malformed or not signed by a known key, 401 without `sub`."""
    header = request.headers.get("authorization", "")
    if not header.startswith("Bearer "):
        return None
    claims = checked(header.removeprefix("Bearer "), config)
    if not isinstance(claims.get("sub"), str):
        raise unauthorized("Token missing sub claim.")
    return UserCtx(claims["sub"], roles_of(claims, config), "jwt")


def checked(token: str, config: Config) -> dict[str, Any]:
    """The claims of a token whose signature and required claims are right."""
    parts = token.split(".")
    try:
        header, claims = (orjson.loads(_decoded(part)) for part in parts[:2])
        signature = _decoded(parts[2])
    except (IndexError, ValueError):
        raise bad_request("Malformed token") from None
    if len(parts) != 3 or not isinstance(header, dict) or not isinstance(claims, dict):
        raise bad_request("Malformed token")
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS:
        raise bad_request("Invalid alg header parameter")
    check_claims(claims, config)
    _check_signature(
        algorithm, header.get("kid", "_default"), ".".join(parts[:2]).encode(), signature, config
    )
    return claims


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _check_signature(algorithm: str, kid: Any, message: bytes, signature: bytes, config: Config) -> None:
    kind, size = KINDS[algorithm[:2]], algorithm[2:]
    stored = config.get("jwt_keys", f"{kind}:{kid}")
    if stored is None:
        raise bad_request("Unknown kid")
    if kind == "hmac":
        if not hmac.compare_digest(hmac.digest(_secret(stored), message, f"sha{size}"), signature):
            raise bad_request("Bad HMAC")
        return
    key, digest = _public_key(stored), HASHES[size]()
    try:
        if kind == "rsa" and isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, message, padding.PKCS1v15(), digest)
        elif kind == "ec" and isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(_der(signature), message, ec.ECDSA(digest))
        else:
            raise bad_request(f"not an {kind.upper()} public key")
    except InvalidSignature:
        raise bad_request("Bad signature") from None


def _der(signature: bytes) -> bytes:
    half = len(signature) // 2
    return encode_dss_signature(int.from_bytes(signature[:half]), int.from_bytes(signature[half:]))


def _secret(stored: str) -> bytes:
    try:
        return base64.b64decode(stored, validate=True)
    except ValueError:
        raise bad_request("Not a valid key") from None


def _public_key(stored: str) -> Any:
    try:
        return load_pem_public_key(stored.replace("\\n", "\n").encode())
    except (ValueError, UnsupportedAlgorithm):
        raise bad_request("Not a valid key") from None


def check_claims(claims: dict[str, Any], config: Config) -> None:
    """Errors: 400 when a claim that the settings ask for is missing or wrong, 401 when its time is over."""
    now = time.time()
    for found in CLAIMS.finditer(config.get("jwt_auth", "required_claims", "exp") or ""):
        name = found["name"] or found["key"]
        value = claims.get(name)
        if value is None:
            raise bad_request(f"Missing {name} claim")
        is_time = isinstance(value, int | float)
        if name == "exp" and not (is_time and value > now):
            raise unauthorized("exp not in future")
        if name == "nbf" and not (is_time and value <= now):
            raise unauthorized("nbf not in past")
        if name == "iss" and found["value"] != value:
            raise bad_request("Invalid iss claim")


def roles_of(claims: dict[str, Any], config: Config) -> tuple[str, ...]:
    """The claim that the settings name, a list or text with commas. Errors: 400, 404 for a path that leads nowhere."""
    path = config.get("jwt_auth", "roles_claim_path")
    found: Any = claims
    if path is None:
        found = claims.get(config.get("jwt_auth", "roles_claim_name", "_couchdb.roles") or "", [])
    else:
        for name in DOT.split(path):
            name = name.replace("\\.", ".")
            if not isinstance(found, dict) or name not in found:
                raise not_found(f"missing json key: {name}")
            found = found[name]
    roles = ITEMS.split(found) if isinstance(found, str) else found
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise bad_request("Malformed token")
    return tuple(roles)


def from_proxy(request: Request, config: Config, secret: bytes) -> UserCtx | None:
    """Who the proxy in front says it is; with `proxy_use_secret` its token must be signed with the server's secret."""

    def header(setting: str, usual: str) -> str | None:
        return request.headers.get((config.get("chttpd_auth", setting) or usual).lower())

    name = header("x_auth_username", "X-Auth-CouchDB-UserName")
    if name is None:
        return None
    if config.get("chttpd_auth", "proxy_use_secret") == "true":
        token = header("x_auth_token", "X-Auth-CouchDB-Token") or ""
        signed = (
            hmac.new(secret, name.encode(), kind).hexdigest() for kind in (hashlib.sha256, hashlib.sha1)
        )
        if not any(hmac.compare_digest(token.lower().encode(), good.encode()) for good in signed):
            return None
    roles = header("x_auth_roles", "X-Auth-CouchDB-Roles")
    return UserCtx(name, tuple(ITEMS.split(roles.strip())) if roles else (), "proxy")
