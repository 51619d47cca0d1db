"""JSON in and out through orjson: strict (no NaN), quick, and the same for every service."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import orjson
from flask import Response
from flask.json.provider import JSONProvider

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_OPTIONS = orjson.OPT_NON_STR_KEYS


class OrjsonProvider(JSONProvider):
    """Flask's JSON through orjson, which refuses NaN and Infinity on the way in."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj, option=_OPTIONS).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        return Response(
            orjson.dumps(self._prepare_response_obj(args, kwargs), option=_OPTIONS),
            content_type="application/json",
        )


class ReadyJson(Response):
    """JSON that goes out as it stands. Werkzeug would copy its headers, and look for what to correct in them, each time."""

    def get_wsgi_response(
        self, environ: "WSGIEnvironment"
    ) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        is_plain = self.status_code == 200 and environ["REQUEST_METHOD"] != "HEAD" and not self._on_close
        if not (is_plain and isinstance(self.response, list)):
            return super().get_wsgi_response(environ)
        return cast(list[bytes], self.response), self.status, list(self.headers)


def json_answer(
    body: Any, status: int = 200, *, etag: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    """A ready answer for hot endpoints: no schema is run over `body`, which must be plain data of the declared shape."""
    return json_bytes(orjson.dumps(body, option=_OPTIONS), status, etag=etag, headers=headers)


def json_bytes(
    body: bytes, status: int = 200, *, etag: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    """Like `json_answer` for a body that is JSON already (out of a cache)."""
    own = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    tag = {} if etag is None else {"ETag": etag}
    return ReadyJson([body], status, own | tag | (headers or {}))


def nothing() -> Response:
    """204 No Content."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
