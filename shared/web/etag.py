"""ETags from revisions: If-None-Match on reads, If-Match on updates of one document."""

import hashlib
from typing import Any, Final

from flask import Response, request

from shared.errors import Invalid, PreconditionFailed

IF_NONE_MATCH: Final[dict[str, Any]] = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string", "enum": ["*"]},
    "description": "only if there is none yet",
}
"""The header of a write that must create, for OpenAPI."""


def if_match_header(description: str = "the ETag that was read") -> dict[str, Any]:
    """The header of a write that must not replace a later one, for OpenAPI."""
    return {"in": "header", "name": "If-Match", "schema": {"type": "string"}, "description": description}


def etag_of(*revisions: str) -> str:
    """The strong ETag of an answer made of documents with these revisions."""
    if len(revisions) == 1:
        return f'"{revisions[0]}"'
    return f'"{hashlib.sha1("".join(revisions).encode(), usedforsecurity=False).hexdigest()}"'


def not_modified(etag: str) -> Response | None:
    """A 304 when the caller has this version already, else None."""
    sent: str = request.environ.get("HTTP_IF_NONE_MATCH", "")
    if sent and (sent.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in sent.split(","))):
        response = Response(status=304)
        response.headers["ETag"] = etag
        return response
    return None


def check_if_match(etag: str) -> bool:
    """Whether the caller wants this very version changed, so that a write must not go over a later one.

    Raises PreconditionFailed when If-Match names another; without the header all is well.
    """
    sent = request.headers.get("If-Match")
    if not sent or sent.strip() == "*":
        return False
    if etag not in (tag.strip() for tag in sent.split(",")):
        raise PreconditionFailed(
            "It changed since you read it: read it again, then repeat the change.", etag=etag
        )
    return True


def check_preconditions(etag: str | None) -> bool:
    """`check_if_match` for what a PUT may create: `etag` is None where there is nothing. Takes `If-None-Match: *` too.

    Raises PreconditionFailed, Invalid.
    """
    only_new = request.headers.get("If-None-Match")
    if only_new is not None and only_new.strip() != "*":
        raise Invalid(
            "A write takes * in If-None-Match, nothing else.", errors={"If-None-Match": ["Must be *."]}
        )
    if only_new:
        if etag is not None:
            raise PreconditionFailed("There is one already.", etag=etag)
        return True
    if etag is not None:
        return check_if_match(etag)
    if request.headers.get("If-Match"):
        raise PreconditionFailed("There is none: it was removed since you read it, or never written.")
    return False
