"""Asks a running service what its OpenAPI page allows (and what it does not), and holds it to its word."""

import re
import time
from collections.abc import Callable
from contextlib import suppress

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis import Case, GenerationMode, checks
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import FailureGroup

load_all_checks()
CHECKS = [
    checks.not_a_server_error,
    *(
        checks.CHECKS.get_one(name)
        for name in (
            "status_code_conformance",
            "content_type_conformance",
            "response_headers_conformance",
            "response_schema_conformance",
            "negative_data_rejection",
            "positive_data_acceptance",
            "missing_required_header",
            "unsupported_method",
            "ignored_auth",
        )
    ),
]
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
Findings = dict[tuple[str, str], str]
REFUSALS = [
    "400",
    "401",
    "402",
    "403",
    "404",
    "405",
    "406",
    "409",
    "412",
    "413",
    "414",
    "415",
    "422",
    "428",
    "429",
    "431",
]
ANSWERS_TO_VALID = ["2xx", "3xx", "401", "402", "403", "404", "409", "412"]
HARMLESS = re.compile(
    r"query: violates `additionalProperties`"
    r"|header: violates `required` \(was Authorization\)"
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def keep_contract(
    url: str,
    headers_for: Callable[[Case], dict[str, str]],
    *,
    examples: int = 15,
    skip: tuple[str, ...] = (),
    stricter: dict[str, str] | None = None,
    free_text: tuple[str, ...] = (),
    busy_seconds: float = 0,
) -> int:
    """Sends `examples` valid and as many invalid requests to every operation but those labelled in `skip`; how many operations.

    `headers_for(case)` gives the credentials of a request. `stricter` names the operations that may refuse what their
    schema allows, and the rule that no schema can say; `free_text` those that read any text line by line and answer what
    was wrong with each. An honest 503 is asked again for `busy_seconds`, where a database node may be behind. Raises AssertionError with all that the checks found.
    """
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    schema.config.checks.negative_data_rejection.expected_statuses = REFUSALS
    schema.config.checks.positive_data_acceptance.expected_statuses = ANSWERS_TO_VALID
    findings: Findings = {}
    _check_methods(url, schema.raw_schema["paths"], findings)
    asked = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.label in skip:
            continue
        asked += 1
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable):  # an operation that takes nothing can be sent nothing wrong
                strategy = operation.as_strategy(generation_mode=mode)
                _ask(strategy, headers_for, examples, busy_seconds, findings)
    for label in (*(stricter or {}), *free_text):
        findings.pop((label, "RejectedPositiveData"), None)
    for label in free_text:
        findings.pop((label, "AcceptedNegativeData"), None)
    assert not findings, "\n\n".join(f"{label}: {title}\n{text}" for (label, title), text in findings.items())
    return asked


def _ask(
    strategy: SearchStrategy[Case],
    headers_for: Callable[[Case], dict[str, str]],
    examples: int,
    busy_seconds: float,
    findings: Findings,
) -> None:
    @seed(1)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def ask(case: Case) -> None:
        for name in [name for name in case.headers or {} if name.lower() in HOP_BY_HOP]:
            del case.headers[name]  # these speak to the HTTP server, not to the service
        if case.meta and case.meta.generation.mode.is_positive:
            (case.query or {}).pop("cursor", None)  # only one that was given out is good
        ends = time.monotonic() + busy_seconds
        response = case.call(headers=headers_for(case), timeout=20)
        while response.status_code == 503 and "retry-after" in response.headers and time.monotonic() < ends:
            time.sleep(1)
            response = case.call(headers=headers_for(case), timeout=20)
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                if _concerns_the_test(str(failure)):
                    continue
                text = f"{failure}\n{case.as_curl_command()}\n{response.status_code} {response.text[:500]}"
                findings.setdefault((case.operation.label, type(failure).__name__), text)

    ask()


def _check_methods(url: str, paths: dict[str, dict[str, object]], findings: Findings) -> None:
    """`Allow` says on OPTIONS and 405 what the page says, and HEAD goes wherever GET does."""
    for path, operations in paths.items():
        address = url + re.sub(r"\{[^}]+\}", "x", path)
        allowed = {method.upper() for method in operations if method.upper() in METHODS} | {"OPTIONS"}
        allowed |= {"HEAD"} if "GET" in allowed else set()
        asked = [
            ("OPTIONS", 200),
            *((method, 405) for method in ("TRACE", "HEAD", *METHODS) if method not in allowed),
        ]
        for method, status in asked:
            answer = requests.request(method, address, timeout=20)
            listed = {name.strip() for name in answer.headers.get("Allow", "").split(",")}
            if (answer.status_code, listed) != (status, allowed):
                findings[f"{method} {path}", "Allow"] = (
                    f"{answer.status_code} {sorted(listed)}, not {status} {sorted(allowed)}"
                )


def _concerns_the_test(failure: str) -> bool:
    """Whether all that was wrong with a request is what the test put right (its credentials) or what nobody refuses (unknown parameters)."""
    wrong = re.findall(r"^  - (.+)$", failure, re.MULTILINE)
    return bool(wrong) and all(HARMLESS.fullmatch(each) for each in wrong)
