"""Flask plumbing that every service shares: factory, problems, auth, paging, idempotency, ETags."""

from shared.web.answers import json_answer, json_bytes, nothing
from shared.web.api import Blueprint, ProblemSchema, Shape, text_content
from shared.web.audit import audited
from shared.web.auth import (
    JwksKeys,
    Tokens,
    client_address,
    current_user,
    is_service_call,
    optional_user,
    require_role,
    require_service,
    require_user,
    sessions,
)
from shared.web.context import add_log_fields, current_dependencies
from shared.web.declared import (
    document_answer,
    page_schema,
    request_fields,
    request_schema,
    response_schema,
)
from shared.web.etag import (
    IF_NONE_MATCH,
    check_if_match,
    check_preconditions,
    etag_of,
    if_match_header,
    not_modified,
)
from shared.web.factory import create_service
from shared.web.idempotency import idempotent, idempotent_id, is_repeatable, kept_id
from shared.web.language import requested_language
from shared.web.lines import lines_of
from shared.web.paging import PageArgs, list_answer, short_list_answer, sign, unsign
from shared.web.problems import problem
from shared.web.sent_again import depends_on_more, sent_again

__all__ = [
    "Blueprint",
    "IF_NONE_MATCH",
    "JwksKeys",
    "PageArgs",
    "ProblemSchema",
    "Shape",
    "Tokens",
    "is_service_call",
    "check_if_match",
    "check_preconditions",
    "client_address",
    "create_service",
    "current_user",
    "document_answer",
    "etag_of",
    "idempotent",
    "if_match_header",
    "idempotent_id",
    "is_repeatable",
    "kept_id",
    "json_answer",
    "json_bytes",
    "lines_of",
    "list_answer",
    "not_modified",
    "add_log_fields",
    "audited",
    "nothing",
    "optional_user",
    "page_schema",
    "problem",
    "current_dependencies",
    "depends_on_more",
    "request_fields",
    "request_schema",
    "requested_language",
    "require_role",
    "require_service",
    "require_user",
    "response_schema",
    "sent_again",
    "sessions",
    "short_list_answer",
    "sign",
    "text_content",
    "unsign",
]
