"""Builds a service: JSON, OpenAPI and its page, problems, request ids, Server-Timing, health, metrics, logs.

What every request pays for sits in `Service`, and is kept lean: headers are added to the finished WSGI answer.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from flask import Flask, Request, Response, request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import Map, MapAdapter
from werkzeug.sansio.utils import get_host

from shared import tracing
from shared.audit import AuditTrail
from shared.client import ServiceCall, ServiceClient, database_timing, service_calls
from shared.clock import timestamp
from shared.couch.deadline import READ_SECONDS, WRITE_SECONDS, Deadline, parse_limit, request_deadline
from shared.logs import log_as_json, write_access_line
from shared.redis import open_redis
from shared.request_id import new_request_id, request_id, request_id_var
from shared.sessions import RemoteSessions, Sessions, SessionSource
from shared.settings import WebSettings
from shared.web.answers import OrjsonProvider
from shared.web.api import Blueprint, make_api
from shared.web.audit import audit_blueprint
from shared.web.auth import JwksKeys, Tokens
from shared.web.bodies import ServiceRequest
from shared.web.context import at_hand
from shared.web.docs import docs_blueprint
from shared.web.health import Checks, health_blueprint
from shared.web.metrics import RequestMetrics, metrics_answer
from shared.web.problems import register_problems
from shared.web.sent_again import MAX_BYTES, SentAnswers

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

Environ = dict[str, Any]
MAX_BODY = 1024 * 1024
_READS = frozenset({"GET", "HEAD"})
_UNLOGGED_ROUTES = frozenset({"/health/live", "/health/ready", "/metrics"})
ROUTE = "aisle.route"
"""In a request's environment: the rule of a request that no view answers."""


class NoSession(SessionInterface):
    """An API keeps no cookie session, so none is opened for each request."""

    _nothing = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:
        return self._nothing

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Nothing to save."""


class Service(Flask):
    """A Flask application that counts, names and logs each request."""

    request_class = ServiceRequest
    json_provider_class = OrjsonProvider
    session_interface: SessionInterface = NoSession()

    def __init__(
        self, name: str, settings: WebSettings, counting: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        super().__init__(name, static_folder=None)
        self.config.update(
            SECRET_KEY=settings.secret_key, MAX_CONTENT_LENGTH=MAX_BODY, MAX_FORM_MEMORY_SIZE=MAX_BODY
        )
        self.url_map.merge_slashes = False
        self.counting = counting
        self.numbers = RequestMetrics(name)
        self.access_log = settings.access_log
        tracing.switch_on(name, settings.otlp_endpoint)

    @cached_property
    def _methods_of_fixed_paths(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for rule in self.url_map.iter_rules():
            if not rule.arguments:
                found.setdefault(rule.rule, set()).update(rule.methods or ())
        return found

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Flask's own, with the parts of the address that the request has decoded, and hosts that were looked at before."""
        if request is None:
            return super().create_url_adapter(None)
        host = _server_name(self.url_map, request.scheme, request.environ.get("HTTP_HOST"), request.server)
        query = request.environ.get("QUERY_STRING", "")
        return MapAdapter(
            self.url_map, host, request.root_path, "", request.scheme, request.path, request.method, query
        )

    def dispatch_request(self) -> ResponseReturnValue:
        """A word of the API (`/v1/products/lookup`) is no product's id: other methods than its own are refused."""
        allowed = self._methods_of_fixed_paths.get(request.path)
        if allowed is not None and request.method not in allowed:
            raise MethodNotAllowed(valid_methods=sorted(allowed))
        return super().dispatch_request()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """As it is: Flask would look a dozen times a request whether one of ours is a coroutine, and none is."""
        return func

    def make_default_options_response(self) -> Response:
        response = super().make_default_options_response()
        if request.path in self._methods_of_fixed_paths:
            response.allow = sorted(self._methods_of_fixed_paths[request.path])
        del response.headers["Content-Type"]  # there is no content
        return response

    def wsgi_app(self, environ: Environ, start_response: "StartResponse") -> Iterable[bytes]:
        began = time.perf_counter()
        request_id_var.set(new_request_id(environ.get("HTTP_X_REQUEST_ID")))
        caller = {"traceparent": environ["HTTP_TRACEPARENT"]} if "HTTP_TRACEPARENT" in environ else None
        with (
            tracing.span("request", "server", caller) as attributes,
            service_calls() as called,
            self.counting() as tally,
            _deadline(environ),
            at_hand(self.extensions.get("aisle.dependencies")),
        ):

            def start(
                status: str, headers: list[tuple[str, str]], exc_info: Any = None
            ) -> Callable[[bytes], object]:
                attributes.update(self._finish(environ, int(status[:3]), headers, tally, called, began))
                return start_response(status, headers, exc_info)

            return self.answer(environ, start)

    def answer(self, environ: Environ, start_response: "StartResponse") -> Iterable[bytes]:
        """By a view, unless a subclass knows better; it then sets ROUTE in the environment."""
        return super().wsgi_app(environ, start_response)

    def _finish(
        self,
        environ: Environ,
        status: int,
        headers: list[tuple[str, str]],
        tally: Any,
        called: list[ServiceCall],
        began: float,
    ) -> dict[str, Any]:
        """Adds the headers that every answer has, counts it and logs it; what a span says of it."""
        method, route = environ["REQUEST_METHOD"], _route(environ)
        headers.append(("X-Request-ID", request_id()))
        headers.append(("X-Content-Type-Options", "nosniff"))
        if "HTTP_AUTHORIZATION" in environ and not any(name == "Cache-Control" for name, _ in headers):
            headers.append(("Cache-Control", "no-store"))
        if tally is not None:
            timing = tally.as_server_timing()
            headers.append(
                ("Server-Timing", f"{timing}, {database_timing('services', called)}" if called else timing)
            )
            self.numbers.count_calls(route, tally.calls)
        seconds = time.perf_counter() - began
        self.numbers.observe(method, route, status, seconds)
        noted = environ.get("aisle.noted", {})
        if self.access_log and route not in _UNLOGGED_ROUTES:
            self._log(method, route, status, seconds, tally, noted)
        facts = {"name": f"{method} {route}", "http.request.method": method, "http.route": route}
        return {**facts, "http.response.status_code": status, "aisle.request_id": request_id(), **noted}

    def _log(
        self, method: str, route: str, status: int, seconds: float, tally: Any, noted: dict[str, str]
    ) -> None:
        line = {
            "time": timestamp(),
            "service": self.name,
            "request_id": request_id(),
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
            **noted,
        }
        if tally is not None:
            line["calls"] = {kind: number for kind, number in tally.calls.items() if number}
        write_access_line(line)


@lru_cache(200)
def _server_name(
    url_map: Map, scheme: str, host_header: str | None, server: tuple[str, int | None] | None
) -> str:
    """The host that a request is for. Raises BadHost."""
    return url_map.bind(get_host(scheme, host_header, server)).server_name


def _route(environ: Environ) -> str:
    if ROUTE in environ:
        route: str = environ[ROUTE]
        return route
    rule = environ["werkzeug.request"].url_rule
    return "(none)" if rule is None else rule.rule


def _deadline(environ: Environ) -> AbstractContextManager[Deadline]:
    """A read ends when its caller has left (HEADER tells when); a write that has begun is finished in our own time."""
    if environ["REQUEST_METHOD"] in _READS:
        return request_deadline(READ_SECONDS, parse_limit(environ.get("HTTP_X_REQUEST_TIMEOUT")))
    return request_deadline(WRITE_SECONDS)


def create_service(
    name: str,
    settings: WebSettings,
    blueprints: Iterable[Blueprint],
    *,
    title: str,
    ready: Checks,
    tally: Callable[[], AbstractContextManager[Any]] = nullcontext,
    tokens: Tokens | None = None,
    sessions: SessionSource | None = None,
    dependencies: Any = None,
    audit: AuditTrail | None = None,
) -> Flask:
    """The Flask application of a service.

    `ready` maps a dependency's name to a callable that raises while it is down; `tally` counts database calls
    (`shared.couch.counting`); `tokens` verifies access tokens (default: against the users service's JWKS),
    `sessions` tells which have ended (default: the users service); `dependencies` is what handlers get from
    `current_dependencies`; `audit` is where `audited` handlers write. Nothing is connected to here.
    """
    app = Service(name, settings, tally)
    log_as_json(name, settings.log_level)
    redis = open_redis(settings.redis_url)
    app.extensions["aisle.redis"] = redis
    app.extensions["aisle.tokens"] = tokens or Tokens(JwksKeys(settings.users_url, settings.service_secret))
    client = ServiceClient("users", settings.users_url, settings.service_secret)
    app.extensions["aisle.sessions"] = Sessions(
        sessions or RemoteSessions(client), settings.session_check_seconds
    )
    app.extensions["aisle.service_secret"] = settings.service_secret
    app.extensions["aisle.dependencies"] = dependencies
    app.extensions["aisle.sent_answers"] = SentAnswers(MAX_BYTES)
    app.extensions["aisle.audit"] = audit
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # as Flask's documentation wraps it
            app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops
        )
    register_problems(app)
    api = app.extensions["aisle.api"] = make_api(app, title)
    for blueprint in (*blueprints, *([audit_blueprint()] if audit else [])):
        api.register_blueprint(blueprint)
    app.register_blueprint(docs_blueprint(api))
    app.register_blueprint(health_blueprint({**ready, "redis": redis.ping}))
    app.add_url_rule("/metrics", "metrics", metrics_answer)
    return app
