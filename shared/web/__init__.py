"""Flask plumbing that every service shares: factory, problems, auth, paging, idempotency, ETags."""

from shared.web.answers import json_answer, json_bytes, nothing
from shared.web.api import Blueprint, ProblemSchema, Shape
from shared.web.auth import (
    JwksKeys,
    Tokens,
    asked_by_service,
    client_address,
    current_user,
    optional_user,
    require_role,
    require_service,
    require_user,
    sessions,
)
from shared.web.context import current_dependencies, note
from shared.web.declared import page_schema, request_fields, request_schema, response_schema
from shared.web.etag import check_if_match, etag_of, not_modified
from shared.web.factory import create_service
from shared.web.idempotency import idempotent, idempotent_id
from shared.web.lines import lines_of
from shared.web.paging import PageArgs, list_answer, short_list_answer, sign, unsign
from shared.web.problems import problem

__all__ = [
    "Blueprint",
    "JwksKeys",
    "PageArgs",
    "ProblemSchema",
    "Shape",
    "Tokens",
    "asked_by_service",
    "check_if_match",
    "client_address",
    "create_service",
    "current_user",
    "etag_of",
    "idempotent",
    "idempotent_id",
    "json_answer",
    "json_bytes",
    "lines_of",
    "list_answer",
    "not_modified",
    "note",
    "nothing",
    "optional_user",
    "page_schema",
    "problem",
    "current_dependencies",
    "request_fields",
    "request_schema",
    "require_role",
    "require_service",
    "require_user",
    "response_schema",
    "sessions",
    "short_list_answer",
    "sign",
    "unsign",
]
