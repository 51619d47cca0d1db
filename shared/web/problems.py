"""Errors become `application/problem+json` (RFC 9457) here and nowhere else."""

import logging
from typing import Any

import orjson
from flask import Flask, Response
from gunicorn.http.errors import ParseException
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from werkzeug.exceptions import HTTPException

from shared.errors import AisleError, Unavailable
from shared.request_id import request_id

log = logging.getLogger(__name__)

_CODES = {
    400: "bad_request",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    408: "request_timeout",
    411: "length_required",
    413: "too_large",
    414: "uri_too_long",
    415: "unsupported_media_type",
    422: "invalid",
    431: "headers_too_large",
}


def register_problems(app: Flask) -> None:
    """Every error an `app` raises or meets is answered as a problem."""
    app.register_error_handler(AisleError, from_aisle_error)
    app.register_error_handler(HTTPException, from_http_exception)
    app.register_error_handler(RedisConnectionError, from_redis_error)
    app.register_error_handler(RedisTimeoutError, from_redis_error)
    app.register_error_handler(ParseException, from_broken_body)
    app.register_error_handler(Exception, from_unexpected)


def problem(status: int, code: str, title: str, detail: str, extra: dict[str, Any] | None = None) -> Response:
    """One problem document as an answer."""
    body = {
        "type": f"urn:aisle:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": f"urn:aisle:request:{request_id()}",
        "code": code,
    }
    if extra:
        body |= {key: value for key, value in extra.items() if key not in body}
    return Response(orjson.dumps(body, default=str), status, mimetype="application/problem+json")


def from_aisle_error(error: AisleError) -> Response:
    extra = dict(error.extra)
    errors = getattr(error, "errors", None)
    if errors is not None:
        extra["errors"] = errors
    response = problem(error.status, error.code, error.title, error.detail, extra)
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        response.headers["Retry-After"] = str(max(1, int(retry_after)))
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.status >= 500:
        said = str(error)
        log.warning(
            "answered %s %s: %s",
            error.status,
            error.code,
            said if said != error.detail else error.__cause__ or said,
        )
    return response


def from_http_exception(error: HTTPException) -> Response:
    """Werkzeug's own errors (404, 405, 413 ...) and what webargs found wrong with a request."""
    status = error.code or 500
    data = getattr(error, "data", None) or {}
    detail = error.description or error.name
    if status == 422 and "messages" in data:
        return problem(
            422,
            "invalid",
            "Some fields are wrong",
            "See `errors` for each field.",
            {"errors": flatten(data["messages"])},
        )
    code = _CODES.get(status, "internal_error" if status >= 500 else "bad_request")
    response = problem(status, code, error.name, detail)
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def from_redis_error(error: RedisError) -> Response:
    log.warning("redis: %s", error)
    return from_aisle_error(
        Unavailable("The session store is not reachable; try again shortly.", retry_after=1)
    )


def from_broken_body(error: ParseException) -> Response:
    """Chunks that are none, and a body that comes too slowly, are found when a handler reads them; the connection is closed after it."""
    if getattr(error, "status", 400) == 408:
        return problem(408, "request_timeout", "Request Timeout", "The body did not arrive in time.")
    return problem(400, "bad_request", "Bad Request", "The body's chunks are not as they should be.")


def from_unexpected(error: Exception) -> Response:
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    detail = "This is our fault and has been logged; quote the request id when you ask about it."
    return problem(500, "internal_error", "Something went wrong here", detail)


def flatten(messages: Any) -> dict[str, list[str]]:
    """marshmallow's nested messages as {"json.items.0.quantity" without the location: [text]}."""
    found: dict[str, list[str]] = {}
    for part in messages.values() if isinstance(messages, dict) else [messages]:
        _collect(part, "", found)
    return found


def _collect(part: Any, path: str, found: dict[str, list[str]]) -> None:
    if isinstance(part, dict):
        for key, value in part.items():
            _collect(value, f"{path}.{key}" if path else str(key), found)
    elif isinstance(part, list):
        for item in part:
            _collect(item, path, found)
    else:
        found.setdefault(path.removesuffix("._schema") or "_schema", []).append(str(part))
