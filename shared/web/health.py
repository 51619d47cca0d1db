"""Liveness (the process answers) and readiness (what it needs answers too)."""

from collections.abc import Callable, Mapping

from flask import Blueprint, Response
from redis.exceptions import RedisError

from shared.errors import AisleError
from shared.logs import redact
from shared.web.answers import json_answer
from shared.web.problems import problem

Checks = Mapping[str, Callable[[], object]]


def health_blueprint(checks: Checks) -> Blueprint:
    """`/health/live` and `/health/ready`; a check raises to say that its dependency is down."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get("/health/live")
    def live() -> Response:
        return json_answer({"status": "ok"})

    @blueprint.get("/health/ready")
    def ready() -> Response:
        found = {name: _reason(check) for name, check in checks.items()}
        if any(reason is not None for reason in found.values()):
            return _not_ready(found)
        return json_answer({"status": "ok", "checks": dict.fromkeys(found, "ok")})

    return blueprint


def _reason(check: Callable[[], object]) -> str | None:
    try:
        check()
    except (AisleError, RedisError, OSError) as error:
        return redact(str(error)) or type(error).__name__
    return None


def _not_ready(found: dict[str, str | None]) -> Response:
    down = ", ".join(name for name, reason in found.items() if reason is not None)
    checks = {name: reason or "ok" for name, reason in found.items()}
    response = problem(503, "not_ready", "Not ready", f"Waiting for: {down}.", {"checks": checks})
    response.headers["Retry-After"] = "1"
    return response
