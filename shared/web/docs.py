"""`/openapi.json` and `/docs`: a page of our own rendered from the spec, without scripts and without foreign assets."""

import base64
import hashlib
from threading import Lock
from typing import Any

import orjson
from flask import Blueprint, Response, render_template, request

from shared.web.answers import json_bytes
from shared.web.api import Api
from shared.web.etag import not_modified

_METHODS = ("get", "post", "put", "patch", "delete")


def docs_blueprint(api: Api) -> Blueprint:
    """Serves the spec of `api` (rendered once, at the first request) and the page that shows it."""
    blueprint = Blueprint("docs", __name__, template_folder="templates")
    rendered: dict[str, tuple[bytes, str]] = {}
    lock = Lock()

    def spec() -> tuple[bytes, str]:
        with lock:
            if "json" not in rendered:
                body = orjson.dumps(api.description(), option=orjson.OPT_INDENT_2)
                rendered["json"] = body, f'"{hashlib.sha256(body).hexdigest()[:20]}"'
        return rendered["json"]

    @blueprint.get("/openapi.json")
    def openapi() -> Response:
        body, etag = spec()
        return not_modified(etag) or json_bytes(body, etag=etag)

    @blueprint.get("/docs")
    def docs() -> Response:
        found = orjson.loads(spec()[0])
        page = render_template(
            "docs.html", spec=found, groups=grouped(found), host=request.host_url.rstrip("/")
        )
        response = Response(page, mimetype="text/html")
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; style-src '{_style_hash(page)}'; frame-ancestors 'none'; base-uri 'none'"
        )
        return response

    return blueprint


def grouped(spec: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Operations by tag, references resolved, in the order of the spec."""
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in spec.get("tags", [])}
    for path, item in spec.get("paths", {}).items():
        for method in _METHODS:
            if method in item:
                operation = _operation(spec, path, method, item)
                groups.setdefault(operation["tag"], []).append(operation)
    return groups


def _operation(spec: dict[str, Any], path: str, method: str, item: dict[str, Any]) -> dict[str, Any]:
    found = item[method]
    parameters = [*item.get("parameters", []), *found.get("parameters", [])]
    return {
        "method": method.upper(),
        "path": path,
        "tag": (found.get("tags") or ["other"])[0],
        "summary": found.get("summary", ""),
        "description": found.get("description", ""),
        "security": [name for entry in found.get("security", []) for name in entry],
        "parameters": [_resolved(spec, parameter) for parameter in parameters],
        "body": _schema(spec, found.get("requestBody", {})),
        "answers": {
            status: {"description": answer.get("description", ""), "schema": _schema(spec, answer)}
            for status, answer in (
                (s, _resolved(spec, a)) for s, a in sorted(found.get("responses", {}).items())
            )
        },
    }


def _schema(spec: dict[str, Any], holder: dict[str, Any]) -> str:
    for content in holder.get("content", {}).values():
        if "schema" in content:
            return orjson.dumps(_expanded(spec, content["schema"], 4), option=orjson.OPT_INDENT_2).decode()
    return ""


def _resolved(spec: dict[str, Any], part: Any) -> Any:
    while isinstance(part, dict) and "$ref" in part:
        target = spec
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        part = target
    return part


def _expanded(spec: dict[str, Any], part: Any, depth: int) -> Any:
    if isinstance(part, dict) and "$ref" in part:
        return _expanded(spec, _resolved(spec, part), depth - 1) if depth else part
    if isinstance(part, dict):
        return {key: _expanded(spec, value, depth) for key, value in part.items()}
    return [_expanded(spec, item, depth) for item in part] if isinstance(part, list) else part


def _style_hash(page: str) -> str:
    style = page.split("<style>", 1)[1].split("</style>", 1)[0]
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
