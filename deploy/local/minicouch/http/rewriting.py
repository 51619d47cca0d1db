"""Rewrites: which request a design document's rules, or the answer of its function, make of another one."""

import posixpath
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import orjson

from ..encoding.client_json import parse_json
from ..errors import CouchError, bad_request, not_found
from .messages import Request

LIMIT = 100
KEYS = ("key", "startkey", "start_key", "endkey", "end_key", "keys")
MOST_UP = 2  # `../..` leads to the database's neighbours; further up nothing is served
Bindings = dict[str, Any]


def check_depth(request: Request) -> None:
    """Errors: 400 for rewrites that lead to each other without end."""
    depth, before = 0, request.rewritten_from
    while before is not None:
        depth, before = depth + 1, before.rewritten_from
    if depth >= LIMIT:
        raise bad_request("Exceeded rewrite recursion limit")


def by_rules(request: Request, rules: Sequence[Any]) -> Request:
    """The request the first fitting rule makes. Errors: 404 when none fits, 500 for a rule that leads too far up."""
    asked = [part for part in request.params.get("rest", "").split("/") if part]
    given = {
        name: parse_json(value.encode()) if name in KEYS else value for name, value in request.query.items()
    }
    rules = [rule for rule in rules if isinstance(rule, dict)]
    for rule in rules:
        _check_target(request, rule)
    for rule in rules:
        if rule.get("method", "*") not in ("*", request.method):
            continue
        found = bound(_parts(str(rule.get("from", "*"))), asked)
        if found is not None:
            names, rest = found
            path, query = _rewritten(rule, given | names, rest)
            return again(request, path, query)
    raise not_found()


def bound(pattern: Sequence[str], parts: Sequence[str]) -> tuple[Bindings, list[str]] | None:
    """What a rule's variables stand for, and what its `*` does; None when it does not fit."""
    names: Bindings = {}
    for n, expected in enumerate(pattern):
        if expected == "*" and n == len(pattern) - 1:
            return names | {"*": "/".join(parts[n:])}, list(parts[n:])
        if n >= len(parts) or (expected[0] != ":" and expected != parts[n]):
            return None
        if expected[0] == ":":
            names[expected[1:]] = parts[n]
    return (names, []) if len(parts) == len(pattern) else None


def _check_target(request: Request, rule: dict[str, Any]) -> None:
    if not isinstance(rule.get("to"), str):
        raise CouchError(500, "error", "invalid_rewrite_target")
    secure = request.server.config.get("chttpd", "secure_rewrites") != "false"
    if secure and _parts(rule["to"]).count("..") > MOST_UP:
        raise CouchError(500, "insecure_rewrite_rule", "too many ../.. segments")


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _rewritten(rule: dict[str, Any], names: Bindings, rest: list[str]) -> tuple[str, str]:
    """The path and query that a fitting rule leads to."""
    formats, query = (
        found if isinstance(found := rule.get(name), dict) else {} for name in ("formats", "query")
    )
    own = {name: _filled(value, names, formats) for name, value in query.items()}
    known = names | own
    path: list[str] = []
    for part in _parts(rule["to"]):
        if part == "*":
            path += rest
            break
        path.append(_text(known.get(part[1:], "undefined")) if part[0] == ":" else part)
    asked = [(name, _text(value, name in KEYS)) for name, value in known.items() if name != "*"]
    return "/".join(map(quote_plus, path)), urlencode(asked)


def _filled(value: Any, names: Bindings, formats: dict[str, str]) -> Any:
    """A rule's query value with its variables put in."""
    if isinstance(value, list):
        return [_filled(item, names, formats) if isinstance(item, str) else item for item in value]
    if not isinstance(value, str) or not (value == "*" or value[:1] == ":"):
        return value
    name = value.removeprefix(":")
    return _formatted(names.get(name, value), formats.get(name))


def _formatted(value: Any, kind: str | None) -> Any:
    if kind == "int" and isinstance(value, str) and value.removeprefix("-").isdecimal():
        return int(value)
    if kind == "bool" and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value


def _text(value: Any, as_json: bool = False) -> str:
    return value if isinstance(value, str) and not as_json else orjson.dumps(value).decode()


def by_function(request: Request, found: dict[str, Any]) -> Request:
    """The request a rewrite function answered. Errors: 500 when it names no path."""
    if not isinstance(found.get("path"), str):
        raise CouchError(500, "rewrite_error", "Rewrite result must produce a new path.")
    query = request.query if not isinstance(found.get("query"), dict) else found["query"]
    made = again(
        request,
        found["path"],
        "&".join(f"{quote(name, safe='')}={quote(_text(value), safe='')}" for name, value in query.items()),
    )
    if isinstance(found.get("method"), str):
        made.method = made.real_method = found["method"]
    if isinstance(found.get("headers"), dict):
        made.headers = made.headers | {name.lower(): _text(value) for name, value in found["headers"].items()}
    if found.get("body") is not None:
        made.body = _text(found["body"]).encode("utf-8", "replace")
    return made


def again(request: Request, path: str, query: str) -> Request:
    """The same request for another path below the design document, or beside it with `..`."""
    base = f"/{quote(request.params['db'], safe='')}/_design/{quote(request.params['ddoc'], safe='')}"
    path, _, more = path.partition("?")
    whole = posixpath.normpath(f"{base}/{path}")
    made = Request(
        request.method, whole, "&".join(filter(None, (more, query))), request.headers, request.body
    )
    for name in ("server", "receive", "user", "scheme", "peer", "request_id", "real_method", "cookie"):
        setattr(made, name, getattr(request, name))
    made.rewritten_from = request
    return made
