"""Mango's refusals; all are CouchErrors with the texts of mango_error.erl."""

from typing import Any

from ..errors import CouchError
from .terms import erlang, json_text


def refusal(error: str, reason: str, status: int = 400) -> CouchError:
    return CouchError(status, error, reason)


def bad_arg(operator: str, argument: Any) -> CouchError:
    return refusal("bad_arg", f"Bad argument for operator {operator}: {erlang(argument)}")


def invalid_field_name(field: str) -> CouchError:
    return refusal("invalid_field_name", f"Invalid field name: {field}")


def invalid_bookmark(bookmark: str) -> CouchError:
    return refusal("invalid_bookmark", f"Invalid bookmark value: {json_text(bookmark)}")
