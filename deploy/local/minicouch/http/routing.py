"""Path patterns to handlers: `/{db}/_design/{ddoc}/_view/{view}`, a last `{name*}` takes the rest."""

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import method_not_allowed, not_found
from .messages import unquote_path

EVERY_METHOD = ("GET", "PUT", "POST", "PATCH", "DELETE", "COPY", "OPTIONS", "TRACE", "CONNECT")
Route = tuple[str, str, Callable[..., Any], str]


class _Node:
    __slots__ = ("allow", "fixed", "handlers", "parameter", "rest")

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.parameter: _Node | None = None
        self.rest: _Node | None = None
        self.allow: str | None = None
        self.handlers: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}


class Router:
    """Fixed parts win over parameters, parameters over a rest.

    `allow` gives patterns the `Allow` header CouchDB sends for them where it is not simply their methods.
    """

    def __init__(self, routes: Iterable[Route], allow: dict[str, str]) -> None:
        self._root = _Node()
        for method, pattern, handler, _name in routes:
            node, names = self._node(pattern)
            node.handlers[method] = (handler, names)
            node.allow = allow.get(pattern)

    def _node(self, pattern: str) -> tuple[_Node, tuple[str, ...]]:
        node, names = self._root, []
        for part in [part for part in pattern.split("/") if part]:
            if part.endswith("*}"):
                names.append(part[1:-2])
                node.rest = node.rest or _Node()
                node = node.rest
            elif part[0] == "{":
                names.append(part[1:-1])
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.fixed.setdefault(part, _Node())
        return node, tuple(names)

    def find(
        self, method: str, path: str, plus_is_space: bool = True
    ) -> tuple[Callable[..., Any], dict[str, str]]:
        """Errors: 404 for an unknown path, 405 for a known one without this method."""
        parts = [unquote_path(part, plus_is_space) for part in path.split("/") if part]
        if len(parts) > 1 and parts[1].startswith(("_design/", "_local/")):
            parts[1:2] = parts[1].split("/", 1)
        found = self._walk(self._root, parts, 0, ())
        if found is None:
            raise not_found()
        node, values = found
        entry = node.handlers.get(method) or (node.handlers.get("GET") if method == "HEAD" else None)
        if entry is None:
            raise method_not_allowed(node.allow or _allowed(node.handlers))
        handler, names = entry
        return handler, dict(zip(names, values, strict=True))

    def _walk(self, node: _Node, parts: list[str], index: int, values: tuple[str, ...]) -> Any:
        if index == len(parts):
            return (node, values) if node.handlers else None
        part = parts[index]
        fixed = node.fixed.get(part)
        if fixed is not None:
            found = self._walk(fixed, parts, index + 1, values)
            if found is not None:
                return found
        if node.parameter is not None:
            found = self._walk(node.parameter, parts, index + 1, (*values, part))
            if found is not None:
                return found
        if node.rest is not None:
            return node.rest, (*values, "/".join(parts[index:]))
        return None


def _allowed(handlers: dict[str, Any]) -> str:
    order = ["DELETE", "GET", "HEAD", "POST", "PUT", "COPY"]
    methods = set(handlers) | ({"HEAD"} if "GET" in handlers else set())
    return ",".join(method for method in order if method in methods)
