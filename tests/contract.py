"""Asks a running service what its OpenAPI page allows (and what it does not), and holds it to its word."""

from collections.abc import Callable
from contextlib import suppress

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode, checks
from schemathesis.checks import load_all_checks

load_all_checks()
PROMISED = [
    checks.not_a_server_error,
    checks.CHECKS.get_one("status_code_conformance"),
    checks.CHECKS.get_one("content_type_conformance"),
    checks.CHECKS.get_one("response_headers_conformance"),
    checks.CHECKS.get_one("response_schema_conformance"),
]
"""No 5xx, and no answer that its schema does not allow."""
HOP_BY_HOP = (
    "connection",
    "content-length",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
)


def keep_contract(
    url: str, headers_for: Callable[[Case], dict[str, str]], *, examples: int = 15, skip: tuple[str, ...] = ()
) -> int:
    """Sends `examples` valid and as many invalid requests to every operation but those labelled in `skip`; how many operations.

    `headers_for(case)` gives the credentials of a request. Raises what a check found, with the request as curl.
    """
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    asked = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.label in skip:
            continue
        asked += 1
        _ask(operation.as_strategy(generation_mode=GenerationMode.POSITIVE), headers_for, examples)
        with suppress(Unsatisfiable):  # an operation that takes nothing can be sent nothing wrong
            _ask(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE), headers_for, examples)
    return asked


def _ask(strategy, headers_for: Callable[[Case], dict[str, str]], examples: int) -> None:
    @seed(1)
    @settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=strategy)
    def ask(case: Case) -> None:
        for name in [name for name in case.headers or {} if name.lower() in HOP_BY_HOP]:
            del case.headers[name]  # these speak to the HTTP server, not to the service
        response = case.call(headers=headers_for(case), timeout=20)
        if (
            "x-request-id" in response.headers
        ):  # otherwise the HTTP server refused it and the service never saw it
            case.validate_response(response, checks=PROMISED)

    ask()
