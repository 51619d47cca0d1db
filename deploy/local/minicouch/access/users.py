"""Documents of `_users`: what they must hold, passwords hashed before they are stored, who may read them."""

import asyncio
import os
import re
from typing import Any

from ..documents import auth
from ..documents.database import Database
from ..documents.edits import Edit
from ..encoding.client_json import dumps
from ..errors import bad_request, forbidden, not_found
from ..runtime.config import Config
from ..runtime.threads import run_in_thread
from ..store.rows import StoredDoc
from .sessions import derive

PREFIX = "org.couchdb.user:"
TEXT = r'"((?:[^"\\]|\\.)*)"'
RULE = re.compile(rf"\{{\s*{TEXT}\s*(?:,\s*{TEXT}\s*)?\}}|{TEXT}")
DESIGN_AFTER = 2.0
SCHEMES = ("simple", "pbkdf2", "simple+pbkdf2")
HASHED = ("derived_key", "iterations", "password", "password_scheme", "password_sha", "pbkdf2_prf", "salt")
PRF_BYTES = {"sha": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}


DESIGN = {
    "language": "javascript",
    "validate_doc_update": "function (newDoc, oldDoc, userCtx, secObj) { /* minicouch checks user documents itself */ }",
}


def is_users_database(name: str, config: Config) -> bool:
    return name in ("_users", config.users_db) or name.endswith("/_users")


async def ensure_design(database: Database) -> None:
    """The design document that CouchDB puts into a users database; its rules are `check` here."""
    if database.get("_design/_auth") is None:
        await database.put_edit("_design/_auth", DESIGN, None)


def ensure_design_later(database: Database) -> None:
    """CouchDB puts it there a moment after a users database is made, so that a fresh one is empty."""
    loop = asyncio.get_running_loop()
    loop.call_later(DESIGN_AFTER, lambda: database.deleted or loop.create_task(ensure_design(database)))


def has_rules(database: Database) -> bool:
    """The rules hold where CouchDB's design document is, as they are its."""
    doc = database.get("_design/_auth")
    return doc is not None and not doc.deleted


async def prepare(edit: Edit, user: auth.UserCtx, database: Database, config: Config) -> None:
    """Replace a clear password by its hash. Errors: 403, 404 for somebody else's document."""
    admin = auth.is_database_admin(user, database.security)
    if not admin and user.name is not None and edit.id != PREFIX + user.name:
        raise not_found()
    password = edit.body.get("password")
    if password is None:
        return
    if not isinstance(password, str):
        raise forbidden(f"Password value of '{password}' is invalid.")
    check_password(password, config.get("chttpd_auth", "password_regexp") or "")
    prf, iterations = hashing(config)
    salt = os.urandom(16).hex()
    key = await run_in_thread(derive, password, salt, iterations, prf, PRF_BYTES[prf])
    kept = {name: value for name, value in edit.body.items() if name not in HASHED}
    edit.body = {
        "password_scheme": "pbkdf2",
        "pbkdf2_prf": prf,
        "salt": salt,
        "iterations": iterations,
        "derived_key": key,
    } | kept
    edit.encoded = dumps(edit.body)


def check_password(password: str, rules: str) -> None:
    """`password_regexp` is an Erlang list of "regex" or {"regex", "what it asks for"}. Errors: 400; 403 for a bad setting."""
    rules = rules.strip()
    if rules in ("", "[]"):
        return
    if not (rules.startswith("[") and rules.endswith("]")) or RULE.sub("", rules[1:-1]).strip(", \n"):
        raise forbidden("Server cannot hash passwords at this time.")
    for pattern, asked, alone in RULE.findall(rules[1:-1]):
        regex = (alone or pattern).replace("\\\\", "\\")
        try:
            fits = re.search(regex, password)
        except re.error:
            raise forbidden("Server cannot hash passwords at this time.") from None
        if not fits:
            raise bad_request(" ".join(["Password does not conform to requirements.", asked]).strip())


def hashing(config: Config) -> tuple[str, int]:
    """The hash function and iterations set for new passwords."""
    return config.get("chttpd_auth", "pbkdf2_prf") or "sha256", int(
        config.get("chttpd_auth", "iterations") or 600_000
    )


def check(edit: Edit, old: dict[str, Any] | None, user: auth.UserCtx, security: Any) -> None:
    """The rules of CouchDB's own validation function for user documents. Errors: 403."""
    if edit.deleted:
        if not auth.is_server_admin(user) and user.name != (old or {}).get("name"):
            raise forbidden("Only admins may delete other user docs.")
        return
    _check_shape(edit.id, edit.body)
    if old is not None and old.get("name") != edit.body["name"]:
        raise forbidden("Usernames can not be changed.")
    if not auth.is_database_admin(user, security):
        _check_own(edit.body, old, user)
    if any(role.startswith("_") and role != "_metrics" for role in edit.body["roles"]):
        raise forbidden("No system roles (starting with underscore) in users db.")
    if edit.body["name"].startswith("_"):
        raise forbidden("Username may not start with underscore.")
    if ":" in edit.body["name"]:
        raise forbidden("Character `:` is not allowed in usernames.")


def _check_shape(docid: str, body: dict[str, Any]) -> None:
    if body.get("type") != "user":
        raise forbidden("doc.type must be user")
    name, roles = body.get("name"), body.get("roles")
    if not name or not isinstance(name, str):
        raise forbidden("doc.name is required")
    if roles is None:
        raise forbidden("doc.roles must exist")
    if not isinstance(roles, list):
        raise forbidden("doc.roles must be an array")
    if not all(isinstance(role, str) for role in roles):
        raise forbidden("doc.roles can only contain strings")
    if docid != PREFIX + name:
        raise forbidden("Doc ID must be of the form org.couchdb.user:name")
    if body.get("password_sha") and not body.get("salt"):
        raise forbidden(
            "Users with password_sha must have a salt.See /_utils/script/couch.js for example code."
        )
    scheme = body.get("password_scheme")
    if scheme and scheme not in SCHEMES:
        raise forbidden(f"Password scheme `{scheme}` not supported.")
    if scheme == "pbkdf2":
        if type(body.get("iterations")) is not int or body["iterations"] < 1:
            raise forbidden("iterations must be a number.")
        if not isinstance(body.get("derived_key"), str):
            raise forbidden("derived_key must be a string.")


def _check_own(body: dict[str, Any], old: dict[str, Any] | None, user: auth.UserCtx) -> None:
    if old is None:
        if body["roles"]:
            raise forbidden("Only _admin may set roles")
        return
    if user.name != body["name"]:
        raise forbidden("You may only update your own user document.")
    if sorted(old.get("roles") or []) != sorted(body["roles"]):
        raise forbidden("Only _admin may edit roles")


def check_readable(doc: StoredDoc, user: auth.UserCtx, database: Database) -> None:
    """Errors: 403 or 404 when the document is not this user's to see."""
    if auth.is_database_admin(user, database.security):
        return
    if doc.id.startswith("_design/"):
        raise forbidden("Only administrators can view design docs in the users database.")
    if user.name is None or doc.id != PREFIX + user.name:
        raise not_found()
