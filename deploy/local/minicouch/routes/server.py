"""Endpoints of the server itself: welcome, health, lists of databases, uuids, tasks, settings."""

import os
import platform
from typing import Any

from ..access import users
from ..access.sessions import hash_admin
from ..documents import auth
from ..encoding.client_json import dumps
from ..errors import CouchError, bad_request, forbidden, not_found
from ..http.messages import JSON, Request, Response, json_response
from ..runtime.threads import run_in_thread
from .databases import info

VERSION = "3.5.0"
FEATURES = [
    "partitioned",
    "pluggable-storage-engines",
    "reshard",
    "scheduler",
    "search",
    "nouveau",
    "quickjs",
]
NODE = "nonode@nohost"
FIXED_SECTIONS = {
    "daemons",
    "external",
    "httpd_db_handlers",
    "httpd_design_handlers",
    "httpd_global_handlers",
    "native_query_servers",
    "os_daemons",
    "query_servers",
}


def welcome(request: Request) -> Response:
    return json_response(
        {
            "couchdb": "Welcome",
            "version": VERSION,
            "git_sha": "minicouch",
            "uuid": request.server.config.get("couchdb", "uuid"),
            "features": FEATURES,
            "vendor": {"name": "minicouch", "variant": f"Python {platform.python_version()}"},
        }
    )


def up(_request: Request) -> Response:
    return json_response({"status": "ok", "seeds": {}})


def all_dbs(request: Request) -> Response:
    auth.check_server_admin(request.user)
    names = _slice_names(request.server.store.databases(), request.query)
    return json_response(names)


def _slice_names(names: list[str], query: dict[str, str]) -> list[str]:
    start, end = _name(query, "startkey", "start_key"), _name(query, "endkey", "end_key")
    inclusive = query.get("inclusive_end", "true") != "false"
    if query.get("descending") == "true":
        names, start, end = names[::-1], end, start
        low_inclusive, high_inclusive = inclusive, True
    else:
        low_inclusive, high_inclusive = True, inclusive
    key = _name(query, "key", "key")
    found = [
        name
        for name in names
        if (key is None or name == key)
        and (start is None or name > start or (low_inclusive and name == start))
        and (end is None or name < end or (high_inclusive and name == end))
    ]
    skip = _count(query, "skip", 0)
    limit = _count(query, "limit", len(found))
    return found[skip : skip + limit]


def _name(query: dict[str, str], *names: str) -> str | None:
    for name in names:
        if name in query:
            return query[name].strip('"')
    return None


def _count(query: dict[str, str], name: str, default: int) -> int:
    value = query.get(name)
    if value is None:
        return default
    if not value.isdigit():
        raise CouchError(400, "query_parse_error", f'Invalid value for integer: "{value}"')
    return int(value)


def dbs_info(request: Request) -> Response:
    """GET for a range of names, POST for `keys`."""
    if request.method == "POST":
        keys = request.json_object().get("keys")
        if not isinstance(keys, list):
            raise bad_request("`keys` body member must be an array.")
        if len(keys) > 100:
            raise bad_request("`keys` member exceeds maximum of 100 keys.")
    else:
        auth.check_server_admin(request.user)
        keys = _slice_names(request.server.store.databases(), request.query)
    rows: list[dict[str, Any]] = []
    for name in keys:
        if isinstance(name, str) and name in request.server.store:
            rows.append({"key": name, "info": info(request.server.database(name))})
        else:
            rows.append({"key": name, "error": "not_found"})
    return json_response(rows)


def uuids(request: Request) -> Response:
    count = request.query.get("count", "1")
    if not count.isdigit():
        raise bad_request("count must be a positive integer")
    limit = int(request.server.config.get("uuids", "max_count") or 1000)
    if int(count) > limit:
        raise bad_request("count parameter too large")
    config = request.server.config
    algorithm, suffix = config.get("uuids", "algorithm"), config.get("uuids", "utc_id_suffix") or ""
    found = [request.server.uuids.new(algorithm, suffix) for _ in range(int(count))]
    headers = [
        ("ETag", f'"{os.urandom(12).hex()}"'),
        ("Content-Type", JSON),
        ("Cache-Control", "no-cache"),
        ("Pragma", "no-cache"),
        ("Expires", "Mon, 01 Jan 1990 00:00:00 GMT"),
    ]
    return Response(200, dumps({"uuids": found}) + b"\n", headers)


def membership(_request: Request) -> Response:
    return json_response({"all_nodes": [NODE], "cluster_nodes": [NODE]})


def node_name(request: Request) -> Response:
    _check_node(request)
    return json_response({"name": NODE})


def _check_node(request: Request) -> None:
    auth.check_server_admin(request.user)
    if request.params["node"] not in ("_local", NODE):
        raise not_found(f"no such node: {request.params['node']}")


def get_config(request: Request) -> Response:
    _check_node(request)
    config, params = request.server.config, request.params
    if "key" in params:
        value = config.get(params["section"], params["key"])
        if value is None:
            raise not_found("unknown_config_value")
        return json_response(value)
    if "section" in params:
        return json_response(config.section(params["section"]))
    return json_response(config.sections())


def _check_section(request: Request) -> None:
    if request.params["section"] in FIXED_SECTIONS:
        raise forbidden("Config section blacklisted for modification over HTTP API.")


def reload_config(request: Request) -> Response:
    _check_node(request)
    request.server.config.reload()
    return json_response({"ok": True})


async def put_config(request: Request) -> Response:
    _check_node(request)
    _check_section(request)
    value = request.json()
    if not isinstance(value, str):
        raise bad_request("a JSON string expected")
    section, key = request.params["section"], request.params["key"]
    if "\n" in key or "\r" in key:
        raise bad_request("Invalid configuration key")
    config = request.server.config
    if section == "admins" and not value.startswith("-pbkdf2:"):
        prf, iterations = users.hashing(config)
        value = await run_in_thread(hash_admin, value, prf, iterations)
    return json_response(config.set(section, key, value))


def delete_config(request: Request) -> Response:
    _check_node(request)
    _check_section(request)
    old = request.server.config.delete(request.params["section"], request.params["key"])
    if old is None:
        raise not_found("unknown_config_value")
    return json_response(old)


ALLOW = {
    "/_node/{node}/_config": "GET",
    "/_node/{node}/_config/{section}": "GET",
    "/_node/{node}/_config/{section}/{key}": "GET,PUT,DELETE",
}
ROUTES = [
    ("GET", "/", welcome, "welcome"),
    ("GET", "/_up", up, "_up"),
    ("GET", "/_all_dbs", all_dbs, "_all_dbs"),
    ("GET", "/_dbs_info", dbs_info, "_dbs_info"),
    ("POST", "/_dbs_info", dbs_info, "_dbs_info"),
    ("GET", "/_uuids", uuids, "_uuids"),
    ("GET", "/_membership", membership, "_membership"),
    ("GET", "/_node/{node}", node_name, "_node"),
    ("GET", "/_node/{node}/_config", get_config, "_config"),
    ("POST", "/_node/{node}/_config/_reload", reload_config, "_config"),
    ("GET", "/_node/{node}/_config/{section}", get_config, "_config"),
    ("GET", "/_node/{node}/_config/{section}/{key}", get_config, "_config"),
    ("PUT", "/_node/{node}/_config/{section}/{key}", put_config, "_config"),
    ("DELETE", "/_node/{node}/_config/{section}/{key}", delete_config, "_config"),
]
