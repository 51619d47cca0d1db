"""A database itself: create, delete, information, security, limits, compaction."""

from typing import Any

from ..access import users
from ..documents import auth
from ..documents.database import Database
from ..documents.ids import check_partition
from ..errors import bad_request, method_not_allowed, not_found
from ..http.messages import Request, Response, json_response
from ..store import SYSTEM_NAMES


def info(db: Database) -> dict[str, Any]:
    properties: dict[str, Any] = {"partitioned": True} if db.partitioned else {}
    return {
        "instance_start_time": db.created,
        "db_name": db.name,
        "purge_seq": db.seq_string(db.counts["purge_seq"]),
        "update_seq": db.seq_string(db.update_seq),
        "sizes": {"file": db.file_size(), "external": db.counts["external"], "active": db.counts["external"]},
        "props": properties,
        "doc_del_count": db.doc_del_count,
        "doc_count": db.doc_count,
        "disk_format_version": 8,
        "compact_running": False,
        "cluster": {"q": db.properties["q"], "n": db.properties["n"], "w": 1, "r": 1},
    }


def get_info(request: Request) -> Response:
    return json_response(info(request.db))


def create(request: Request) -> Response:
    auth.check_server_admin(request.user)
    name = request.params["db"]
    q, n = _shards(request.query, "q", 2), _shards(request.query, "n", 1)
    partitioned = _partitioned(request.query)
    if partitioned and name in SYSTEM_NAMES:
        raise bad_request("Cannot partition a system database")
    server = request.server
    server.store.create(name, partitioned, q, n)
    if users.is_users_database(name, server.config):
        for users_db in {name, server.config.users_db} & set(server.store.databases()):
            users.ensure_design_later(server.database(users_db))
    request.server.updates.note(name, "created")
    return json_response({"ok": True}, 201, [("Location", request.absolute(request.path))])


def _partitioned(query: dict[str, str]) -> bool:
    value = query.get("partitioned", "false")
    if value not in ("true", "false"):
        raise bad_request("Invalid `partitioned` parameter")
    return value == "true"


def _shards(query: dict[str, str], name: str, default: int) -> int:
    value = query.get(name)
    if value is None:
        return default
    if not value.isdigit() or int(value) < 1:
        raise bad_request(f"The `{name}` value should be a positive integer.")
    return int(value)


def delete(request: Request) -> Response:
    auth.check_server_admin(request.user)
    if "rev" in request.query:
        raise bad_request(
            "You tried to DELETE a database with a ?=rev parameter. "
            "Did you mean to DELETE a document instead?"
        )
    request.server.store.delete(request.db.name)
    request.db.announce()
    return json_response({"ok": True})


def partition_info(request: Request) -> Response:
    partition = request.params["partition"]
    check_partition(partition)
    if not request.db.partitioned:
        raise bad_request("database is not partitioned")
    docs, deleted, size = request.db.partition_info(partition)
    return json_response(
        {
            "db_name": request.db.name,
            "sizes": {"active": size, "external": size},
            "partition": partition,
            "doc_count": docs,
            "doc_del_count": deleted,
        }
    )


def partition_missing(_request: Request) -> Response:
    raise bad_request("invalid_partition_req")


def partition_post(request: Request) -> Response:
    check_partition(request.params["partition"])
    raise method_not_allowed("GET")


def partition_other(request: Request) -> Response:
    """What a partition does not have; a wrong partition is told first."""
    if not request.db.partitioned:
        raise bad_request("database is not partitioned")
    check_partition(request.params["partition"])
    raise not_found()


def get_security(request: Request) -> Response:
    return json_response(request.db.security)


async def put_security(request: Request) -> Response:
    auth.check_database_admin(request.user, request.db.security)
    security = request.json()
    if not isinstance(security, dict):
        raise bad_request("Security object must be a JSON object")
    _check_security(security)
    with request.db.transaction() as change:
        change.set_setting("security", security)
    await request.db.durable()
    return json_response({"ok": True})


def _check_security(security: Any) -> None:
    for role in ("admins", "members"):
        section = security.get(role, {})
        if not isinstance(section, dict):
            raise bad_request(f"{role} must be a JSON object")
        for key in ("names", "roles"):
            listed = section.get(key, [])
            if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
                raise bad_request(f"{key} must be a JSON list of strings")


def get_revs_limit(request: Request) -> Response:
    return json_response(request.db.revs_limit)


async def put_revs_limit(request: Request) -> Response:
    auth.check_database_admin(request.user, request.db.security)
    limit = request.json()
    if type(limit) is not int or limit < 1:
        raise bad_request("`revs_limit` must be a positive integer")
    with request.db.transaction() as change:
        change.set_setting("revs_limit", limit)
    await request.db.durable()
    return json_response({"ok": True})


async def full_commit(request: Request) -> Response:
    request.require_json()
    await request.db.durable()
    return json_response({"ok": True, "instance_start_time": request.db.created}, 201)


ALLOW = {
    "/{db}": "DELETE,GET,HEAD,POST",
    "/{db}/_partition/{partition}": "GET",
    "/{db}/_security": "PUT,GET",
    "/{db}/_revs_limit": "PUT,GET",
}
ROUTES = [
    ("GET", "/{db}", get_info, "database"),
    ("PUT", "/{db}", create, "database"),
    ("DELETE", "/{db}", delete, "database"),
    ("GET", "/{db}/_partition/{partition}", partition_info, "partition"),
    ("POST", "/{db}/_partition/{partition}", partition_post, "partition"),
    *(
        (method, "/{db}/_partition/{partition}/{rest*}", partition_other, "partition")
        for method in ("GET", "POST", "PUT", "DELETE")
    ),
    ("GET", "/{db}/_partition", partition_missing, "partition"),
    ("GET", "/{db}/_security", get_security, "_security"),
    ("PUT", "/{db}/_security", put_security, "_security"),
    ("GET", "/{db}/_revs_limit", get_revs_limit, "_revs_limit"),
    ("PUT", "/{db}/_revs_limit", put_revs_limit, "_revs_limit"),
    ("POST", "/{db}/_ensure_full_commit", full_commit, "_ensure_full_commit"),
]
