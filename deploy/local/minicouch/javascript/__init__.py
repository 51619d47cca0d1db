"""Design functions: maps, reduces, filters, validation, indexing and answers in V8, in a limited process."""

import hashlib
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..errors import CouchError
from .pool import Pool

Row = tuple[Any, Any]
REFUSED = {
    "not_found": 404,
    "not_acceptable": 406,
    "method_not_allowed": 405,
    "forbidden": 403,
    "unauthorized": 401,
    "bad_request": 400,
}


@dataclass
class Piece:
    """What goes to a process at once: who has few documents does not wait long for who has many."""

    documents: int = 25
    bytes: int = 1 << 20

    def of(self, docs: Sequence[bytes], start: int) -> Sequence[bytes]:
        """The documents from `start` on that go together, one at least."""
        end, size = start, 0
        while end < min(len(docs), start + self.documents) and (end == start or size < self.bytes):
            size += len(docs[end])
            end += 1
        return docs[start:end]


piece = Piece()
pool = Pool()
_guard = threading.Lock()
LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def loads(text: bytes) -> Any:
    """JSON from V8; a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD as it does in CouchDB."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.loads(LONE_SURROGATE.sub(lambda m: m[0] if m[2] else rb"\ufffd", text))


def _run(env: Any, command: dict[str, Any], payload: bytes = b"") -> Any:
    setup = orjson.dumps(env)
    key = hashlib.blake2b(setup, digest_size=12).digest()
    return loads(pool.call(key, setup, orjson.dumps(command), payload))


def _array(docs: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(docs) + b"]"


def _each(env: Any, command: dict[str, Any], docs: Sequence[bytes]) -> list[Any]:
    """Like CouchDB the time limit is meant for one document: a slow piece comes back in slices (runtime.js)."""
    found: list[Any] = []
    while len(found) < len(docs):
        found += _run(env, command, _array(piece.of(docs, len(found))))
    return found


def map_docs(
    lib: dict[str, Any] | None, sources: Sequence[str], docs: Sequence[bytes]
) -> list[list[list[Row]]]:
    """Run every map over every document (JSON bytes): per document, per map, the emitted (key, value) rows.

    Errors: CouchError when a source does not compile, asks for a fatal error, or overruns its limits.
    """
    return _each({"views": {"lib": lib}}, {"op": "map", "sources": list(sources)}, docs)


def run_index(
    source: str, docs: Sequence[bytes], lib: dict[str, Any] | None = None, nouveau: bool = False
) -> list[list[Any]]:
    """Run a search index function: per document the `[name, value, options]` of each index() call (Nouveau: objects)."""
    return _each({"views": {"lib": lib}}, {"op": "index", "source": source, "nouveau": nouveau}, docs)


def reduce_batches(source: str, batches: bytes) -> list[Any]:
    """A custom reduce over many batches, a JSON array of `[keys, values]` (reduce) or `[null, values]` (rereduce)."""
    return _run({}, {"op": "reduce", "source": source}, batches)


def check(kind: str, name: str, source: str, lib: dict[str, Any] | None = None) -> None:
    """Errors: 400 compilation_error when `source` is no function."""
    try:
        _run({"views": {"lib": lib}}, {"op": "compile", "source": source})
    except CouchError as e:
        if e.error != "compilation_error":
            raise
        raise CouchError(
            400,
            "compilation_error",
            f"Compilation of the {kind} function in the '{name}' view failed: {e.reason}",
        ) from None


def filter_docs(
    ddoc: dict[str, Any], source: str, docs: Sequence[bytes], request: dict[str, Any]
) -> list[bool]:
    """Which documents a `filters` function lets through."""
    payload = b"[" + _array(docs) + b"," + orjson.dumps(request) + b"]"
    return _run(ddoc, {"op": "filter", "source": source}, payload)


def filter_view(ddoc: dict[str, Any], source: str, docs: Sequence[bytes]) -> list[bool]:
    """Which documents a map function emits anything for (`_changes?filter=_view`)."""
    return _run(ddoc, {"op": "filterView", "source": source}, _array(docs))


def validate(
    ddocs: Sequence[tuple[str, str, dict[str, Any]]],
    new_doc: bytes,
    old_doc: bytes | None,
    user_ctx: dict[str, Any],
    security: dict[str, Any],
) -> None:
    """Ask every validate_doc_update function. Errors: 403, 401 or 500 with the first refusal."""
    args = b"[%s,%s,%s,%s]" % (new_doc, old_doc or b"null", orjson.dumps(user_ctx), orjson.dumps(security))
    for _, source, ddoc in ddocs:
        answer = _run(ddoc, {"op": "validate", "source": source}, args)
        if answer != 1:
            raise _refusal(answer)


def render(ddoc: dict[str, Any], kind: str, source: str, payload: bytes) -> Any:
    """Run a `show`, `list`, `update` or `rewrite` function over its JSON arguments.

    Errors: CouchError with the status of what the function refused, 500 render_error when it throws.
    """
    try:
        return _run(ddoc, {"op": kind, "source": source}, payload)
    except CouchError as error:
        raise CouchError(REFUSED.get(error.error, error.status), error.error, error.reason) from None


def _refusal(answer: Any) -> CouchError:
    if isinstance(answer, dict):
        for name, status in (("forbidden", 403), ("unauthorized", 401)):
            if len(answer) == 1 and name in answer:
                return CouchError(status, name, answer[name])
        if len(answer) == 1:
            return CouchError(500, "unknown_error", _text(next(iter(answer.values()))))
    return CouchError(500, "unknown_error", _text(answer))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
