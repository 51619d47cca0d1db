"""flask-smorest as Aisle uses it: strict JSON in, problem+json documented, OpenAPI 3.1."""

import http
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import marshmallow as ma
import orjson
from flask import Flask, Request, Response, request
from flask_smorest import Api as SmorestApi
from flask_smorest import Blueprint as SmorestBlueprint
from flask_smorest.spec.plugins import FlaskPlugin
from flask_smorest.utils import prepare_response
from webargs import missing
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import UnsupportedMediaType

from shared.errors import BadRequest, Invalid
from shared.web.quick_checks import QuickChecks, Unsuited

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Decorator(Protocol):
    """What leaves a handler's type as it is."""

    def __call__(self, handler: Handler, /) -> Handler: ...


def copy_documentation(decorated: Any) -> dict[str, Any]:
    """What flask-smorest knows of a handler, copied for the decorator around it to add to."""
    decorated._apidoc = deepcopy(getattr(decorated, "_apidoc", {}))
    documentation: dict[str, Any] = decorated._apidoc
    return documentation


def text_content(*media: str) -> dict[str, Any]:
    """What OpenAPI says of a text, such as a CSV file, in each of these media types."""
    return {kind: {"schema": {"type": "string"}} for kind in media}


_NEED_A_BODY = frozenset({"PATCH", "PUT"})
PROBLEM_TYPE = "application/problem+json"
SECURITY = {
    "user": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An access token of POST /v1/sessions",
    },
    "service": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`Service <secret>`",
    },
}


class BrokenJson(BadRequest):
    code, title = "malformed_json", "The body is not JSON"


class Shape(ma.Schema):
    """Base of every request and response schema: a field that is not declared is refused."""

    _quick: tuple[Any, QuickChecks] | None = None

    class Meta:
        unknown = ma.RAISE
        ordered = True

    def _deserialize(
        self,
        data: Any,
        *,
        error_store: Any,
        many: bool = False,
        partial: Any = None,
        unknown: Any = ma.RAISE,
        index: int | None = None,
    ) -> Any:
        """A body that is as it should be is read quickly; marshmallow says what is wrong with any other."""
        if type(data) is dict and not many and not partial and unknown == ma.RAISE:
            with suppress(Unsuited):
                return self._quick_checks().load(data)
        return super()._deserialize(
            data, error_store=error_store, many=many, partial=partial, unknown=unknown, index=index
        )

    def load_query(self, args: Mapping[str, str]) -> dict[str, Any]:
        """`load` of a query that is as it should be. Raises Unsuited."""
        return self._quick_checks().load_query(args)

    def _quick_checks(self) -> QuickChecks:
        """Of the fields as they are: a copy of a schema may have others."""
        if self._quick is None or self._quick[0] is not self.load_fields:
            self._quick = self.load_fields, QuickChecks(self)
        return self._quick[1]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Shape":
        """Itself, for none is changed: flask-smorest copies what it knows of a handler with each decorator, schemas included."""
        return self


class ProblemSchema(ma.Schema):
    """RFC 9457, with our `code` and, for 422, `errors` per field."""

    class Meta:
        unknown = ma.INCLUDE

    type = ma.fields.String(required=True)
    title = ma.fields.String(required=True)
    status = ma.fields.Integer(required=True)
    detail = ma.fields.String(required=True)
    instance = ma.fields.String(required=True)
    code = ma.fields.String(required=True, metadata={"description": "stable, for programs"})
    errors = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.List(ma.fields.String()),
        metadata={"description": "messages per field"},
    )


class StrictParser(FlaskParser):
    """Reads JSON bodies with orjson: another media type is 415, broken JSON (NaN included) is 400."""

    def parse(self, argmap: Any, req: Request | None = None, **options: Any) -> Any:
        """A query that is as it should be is read quickly; webargs reads all else, and says what is wrong with it."""
        if options.get("location") == "query" and isinstance(argmap, Shape):
            with suppress(Unsuited):
                return argmap.load_query(request.args)
        return super().parse(argmap, req, **options)

    def load_json(self, req: Request, schema: Any) -> Any:
        body = req.get_data(cache=True)
        if not body:
            return missing
        if not req.is_json:
            raise UnsupportedMediaType("Send the body as application/json.")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise BrokenJson(
                f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
            ) from None


class Blueprint(SmorestBlueprint):  # type: ignore[misc]  # the library has no types
    """A flask-smorest blueprint with the strict parser, whose decorators keep their handlers' types.

    A POST or DELETE needs no body when none of its members is required; a PATCH or PUT without one is refused.
    """

    ARGUMENTS_PARSER = StrictParser()

    if TYPE_CHECKING:

        def route(self, rule: str, **options: Any) -> Decorator: ...
        def get(self, rule: str, **options: Any) -> Decorator: ...
        def post(self, rule: str, **options: Any) -> Decorator: ...
        def put(self, rule: str, **options: Any) -> Decorator: ...
        def patch(self, rule: str, **options: Any) -> Decorator: ...
        def delete(self, rule: str, **options: Any) -> Decorator: ...
        def arguments(self, schema: type[ma.Schema], *, location: str = ..., **options: Any) -> Decorator: ...
        def response(self, status: int, schema: Any = ..., **options: Any) -> Decorator: ...
        def alt_response(self, status: int, response: str = ..., **options: Any) -> Decorator: ...
        def doc(self, **members: Any) -> Decorator: ...

    else:

        def arguments(self, schema, *, location="json", required=True, **options):
            # of a class, webargs would make an instance for each request
            once = schema() if isinstance(schema, type) else schema
            decorate = super().arguments(once, location=location, required=required, **options)
            needs_body = location == "json" and required
            return lambda handler: decorate(_refuse_no_body(handler) if needs_body else handler)

        def response(self, *args, **options):
            return partial(_answering, super().response(*args, **options))

        def alt_response(self, *args, **options):
            return partial(_documenting, super().alt_response(*args, **options))

        @staticmethod
        def doc(**members):
            return partial(_documenting, SmorestBlueprint.doc(**members))

    def add_endpoint(self, method: str, path: str, handler: Handler, summary: str) -> None:
        """A route for a handler that is made by a function, for one of several kinds of documents; `summary` is what OpenAPI says of it."""
        handler.__doc__ = summary
        self.add_url_rule(path, re.sub(r"\W+", "_", f"{method.lower()}_{path}"), handler, methods=[method])

    def register_views_in_doc(self, api: "Api", *args: Any, **options: Any) -> None:
        api.describe_later(partial(super().register_views_in_doc, api, *args, **options))

    def _prepare_arguments_doc(
        self, doc: dict[str, Any], doc_info: dict[str, Any], *, method: str, **options: Any
    ) -> dict[str, Any]:
        prepared: dict[str, Any] = super()._prepare_arguments_doc(doc, doc_info, method=method, **options)
        body = prepared.get("requestBody", {})
        schemas = [content["schema"] for content in body.get("content", {}).values() if "schema" in content]
        if body.get("required") and method.upper() not in _NEED_A_BODY and all(map(_may_be_empty, schemas)):
            body["required"] = False
        return prepared


def _documenting(decorate: Callable[[Any], Any], handler: Handler) -> Handler:
    """The handler with the documentation that `decorate` adds, and nothing around it in a request."""
    documented: Any = handler
    documented._apidoc = decorate(handler)._apidoc
    return handler


def _answering(decorate: Callable[[Any], Any], handler: Handler) -> Handler:
    """A handler whose ready answers go out as they are; what else it returns is dumped with the declared schema."""
    dump = decorate(lambda returned: returned)

    @wraps(handler)
    def answering(*args: Any, **kwargs: Any) -> Any:
        returned = handler(*args, **kwargs)
        return returned if isinstance(returned, Response) else dump(returned)

    documented: Any = answering
    documented._apidoc = decorate(handler)._apidoc
    return cast(Handler, answering)


def _refuse_no_body(handler: Handler) -> Handler:
    """Runs after validation, so that missing members are named first."""

    @wraps(handler)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if request.method in _NEED_A_BODY and not request.get_data(cache=True):
            raise Invalid("Send a JSON body.", errors={"_schema": ["There is no body."]})
        return handler(*args, **kwargs)

    return cast(Handler, checked)


def _may_be_empty(schema: Any) -> bool:
    shape = schema() if isinstance(schema, type) else schema
    return isinstance(shape, ma.Schema) and not any(field.required for field in shape.load_fields.values())


class Api(SmorestApi):  # type: ignore[misc]  # the library has no types
    """Documents every error as a problem; errors themselves are answered by `shared.web.problems`."""

    ERROR_SCHEMA = ProblemSchema

    def __init__(self, app: Flask, **options: Any) -> None:
        self._descriptions: deque[Callable[[], None]] = deque()
        super().__init__(app, **options)

    def describe_later(self, describe: Callable[[], None]) -> None:
        """Adds to the description when somebody asks for it: to describe everything takes half of a service's start."""
        self._descriptions.append(describe)

    def description(self) -> dict[str, Any]:
        """The OpenAPI document."""
        while self._descriptions:
            self._descriptions.popleft()()
        described: dict[str, Any] = self.spec.to_dict()
        return described

    def _register_error_handlers(self) -> None:
        """Nothing: `register_problems` answers."""

    def _register_responses(self) -> None:
        named: dict[str, tuple[int | None, str]] = {
            status.name: (status, status.phrase) for status in http.HTTPStatus
        }
        named["DEFAULT_ERROR"] = (None, "A problem")
        for name, (status, phrase) in named.items():
            response: dict[str, Any] = {"description": phrase}
            if status is None or status >= 400:
                response["schema"] = self.ERROR_SCHEMA
            prepare_response(response, self.spec, PROBLEM_TYPE)
            self.spec.components.response(name, response, lazy=True)


class RulesAndPaths(FlaskPlugin):  # type: ignore[misc]  # the library has no types
    """Paths of routes; one that is described by hand (`replication_docs`) is taken as it is."""

    def path_helper(self, rule: Any = None, **described: Any) -> str | None:
        return super().path_helper(rule, **described) if rule is not None else None


def make_api(app: Flask, title: str, version: str = "1") -> Api:
    """The OpenAPI side of a service."""
    app.config.update(API_TITLE=title, API_VERSION=version, OPENAPI_VERSION="3.1.0")
    api = Api(app, spec_kwargs={"flask_plugin": RulesAndPaths()})
    for name, scheme in SECURITY.items():
        api.spec.components.security_scheme(name, scheme)
    return api
