"""Which requests need an admin, a signed-in user or a member, by path, as CouchDB decides before its handlers run."""

from ..documents import auth
from ..documents.database import Database
from ..errors import unauthorized
from ..http.messages import Request

OPEN_TO_ALL = {"_up", "_uuids", "_session", "_stats", "_active_tasks", "_utils"}
SYSTEM_DATABASES = {"_users", "_replicator"}
ADMIN_FIRST_IN_SYSTEM = {"_all_docs", "_changes"}
ADMIN_ONLY_IN_SYSTEM = {"_find", "_index", "_explain", "_design_docs", "_local_docs"}


def check_path(request: Request, parts: list[str]) -> None:
    """What can be told from the path alone. Errors: 401."""
    if not parts or request.is_admin:
        return
    name = parts[0]
    if len(parts) == 1 and request.method in ("PUT", "DELETE") and name not in OPEN_TO_ALL:
        auth.check_server_admin(request.user)
    if name[0] != "_" or name in OPEN_TO_ALL or name in SYSTEM_DATABASES:
        return
    if name == "_replicate":
        if request.user.name is None:
            raise unauthorized("You are not an authenticated user")
        return
    auth.check_server_admin(request.user)


def check_database(request: Request, database: Database, rest: str | None) -> None:
    """A path in a database; `rest` is the part after its name. Errors: 401, 403."""
    user = request.user
    if "_admin" in user.roles:
        return
    if rest in ("_purge", "_purged_infos_limit", "_sync_shards"):
        auth.check_server_admin(user)
    is_system = database.name in SYSTEM_DATABASES
    if is_system and rest in ADMIN_FIRST_IN_SYSTEM:
        auth.check_server_admin(user)
    auth.check_member(user, database.security)
    if is_system and rest in ADMIN_ONLY_IN_SYSTEM:
        auth.check_server_admin(user)
    if rest in ("_compact", "_view_cleanup") and not auth.is_database_admin(user, database.security):
        raise unauthorized("You are not a server or db admin.")
