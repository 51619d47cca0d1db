"""Who is asking, and what a database's `_security` lets them do."""

from dataclasses import dataclass, field
from typing import Any

from ..errors import forbidden, unauthorized


@dataclass(frozen=True, slots=True)
class UserCtx:
    """A user: name (None for nobody), roles, and which handler recognised them."""

    name: str | None = None
    roles: tuple[str, ...] = ()
    handler: str | None = field(default=None, compare=False)

    def for_database(self, database: str) -> dict[str, Any]:
        return {"db": database, "name": self.name, "roles": list(self.roles)}


NOBODY = UserCtx()


def is_server_admin(user: UserCtx) -> bool:
    return "_admin" in user.roles


def _listed(user: UserCtx, section: Any) -> bool:
    if not isinstance(section, dict):
        return False
    names, roles = section.get("names") or [], section.get("roles") or []
    return (user.name is not None and user.name in names) or any(role in roles for role in user.roles)


def is_database_admin(user: UserCtx, security: Any) -> bool:
    return is_server_admin(user) or _listed(user, security.get("admins"))


def check_server_admin(user: UserCtx) -> None:
    if not is_server_admin(user):
        raise unauthorized("You are not a server admin.")


def check_database_admin(user: UserCtx, security: Any) -> None:
    if not is_database_admin(user, security):
        raise unauthorized("You are not a db or server admin.")


def check_member(user: UserCtx, security: Any) -> None:
    """Errors: 401 for somebody unknown, 403 for somebody known, when the database is not theirs to read."""
    if is_database_admin(user, security):
        return
    members = security.get("members") or security.get("readers")
    if not isinstance(members, dict) or not (members.get("names") or members.get("roles")):
        return
    if _listed(user, members):
        return
    if user.name is None:
        raise unauthorized("You are not authorized to access this db.")
    raise forbidden("You are not allowed to access this db.")
