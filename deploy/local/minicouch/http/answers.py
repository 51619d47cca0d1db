"""What show, list, update and rewrite functions are told about a request, and the HTTP answer that they describe."""

import base64
import binascii
import re
from typing import Any
from urllib.parse import parse_qsl

import orjson

from ..encoding.client_json import parse_json
from ..errors import CouchError
from .messages import Headers, Request, Response, json_response

OURS = {"content-length", "transfer-encoding", "connection"}
HIDDEN = ("authorization", "cookie")
JSON_PARAMETERS = ("startkey", "endkey", "key", "descending")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
FORM = "application/x-www-form-urlencoded"
TEXT = "text/html; charset=utf-8"
SANDBOX = ("Content-Security-Policy", "sandbox")


def described(request: Request, info: dict[str, Any], docid: str | None, body: Any = None) -> dict[str, Any]:
    """The `req` of a design function; credentials are left out, as CouchDB does."""
    first = request
    while first.rewritten_from is not None:
        first = first.rewritten_from
    text = request.body.decode(errors="replace") or "undefined"
    is_form = request.method in ("POST", "PUT") and request.headers.get("content-type", "").startswith(FORM)
    return {
        "info": info,
        "uuid": request.server.uuids.new(),
        "id": docid,
        "method": request.method,
        "requested_path": first.parts,
        "path": request.parts,
        "raw_path": request.path + (f"?{request.query_string}" if request.query_string else ""),
        "query": {name: _parameter(name, value) for name, value in request.query.items()},
        "headers": {
            name.title(): value
            for name, value in request.headers.items()
            if name not in HIDDEN and not name.startswith("x-auth-")
        },
        "body": text if body is None else body,
        "peer": request.peer,
        "form": dict(parse_qsl(text, keep_blank_values=True)) if is_form else {},
        "cookie": {},
        "userCtx": request.user.for_database(request.db.name),
        "secObj": request.db.security,
    }


def _parameter(name: str, value: str) -> Any:
    return parse_json(value.encode()) if name in JSON_PARAMETERS else value


def respond(
    answer: Any, status: int = 200, headers: Headers | None = None, kind: str | None = None
) -> Response:
    """The answer a function returned; `headers` win over its own, `kind` is the content type if it names none.

    Errors: 500 for what is no answer.
    """
    if not isinstance(answer, dict):
        raise _invalid(answer)
    code, found, data, own = status, "application/json", b"", {}
    as_json: Any = None
    for name, value in answer.items():
        if name == "code" and isinstance(value, int) and 200 <= value < 600:
            code = value
        elif name == "json":
            as_json, found = value, "application/json"
        elif name == "body":
            data, found = _text(value).encode("utf-8", "replace"), TEXT
        elif name == "base64":
            data, found = _binary(value), "application/binary"
        elif name == "headers" and isinstance(value, dict):
            own = value
        elif name != "stop":
            raise _invalid({name: value})
    ours = headers or []
    taken = OURS | {name.lower() for name, _ in ours}
    if not all(map(TOKEN.fullmatch, own)):
        raise _invalid({"headers": own})
    shown = ours + [(name, _header(value)) for name, value in own.items() if name.lower() not in taken]
    if "content-type" not in {name.lower() for name, _ in shown}:
        shown.append(("Content-Type", kind or found))
    if as_json is not None:
        return json_response(as_json, code, [pair for pair in shown if pair[0].lower() != "content-type"])
    return Response(code, data, [*shown, SANDBOX])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _header(value: Any) -> str:
    """One line, as UTF-8 on the wire."""
    return _text(value).replace("\r", "").replace("\n", "").encode("utf-8", "replace").decode("latin-1")


def _binary(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise _invalid({"base64": value}) from None


def _invalid(found: Any) -> CouchError:
    return CouchError(
        500, "external_response_error", f"Invalid data from external server: {_text(found)[:500]}"
    )
