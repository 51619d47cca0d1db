"""What admins say of categories: labels, order, pictures, texts, and where they have moved to."""

from collections.abc import Iterator
from typing import Any

import orjson
from flask import Response, request

from services.products.actions import categories as act
from services.products.category_documents import CATEGORY_FIELDS
from services.products.resources.context import dependencies
from services.products.schemas import categories as schemas
from shared.clock import timestamp
from shared.errors import BadRequest, Invalid
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    check_if_match,
    check_preconditions,
    current_user,
    document_answer,
    etag_of,
    if_match_header,
    json_answer,
    lines_of,
    nothing,
    require_role,
    short_list_answer,
    text_content,
)

categories = Blueprint(
    "categories", __name__, url_prefix="/v1/admin/categories", description="How categories are shown"
)

MAX_LINE = 64 * 1024
LINES = ("application/x-ndjson", "text/plain")
_BODY = {"required": True, "content": text_content(*LINES)}


class BrokenLine(Invalid):
    code, title = "malformed_json", "The line is not JSON"


class WrongMedium(BadRequest):
    status, code, title = 415, "unsupported_media_type", "This is not an import file"


@categories.get("")
@require_role("admin", "staff")
@categories.arguments(PageArgs, location="query")
@categories.response(200, schemas.DescribedCategories)
@categories.alt_response(400, "BAD_REQUEST")
def listed(args: dict[str, Any]) -> Response:
    """All categories of which something is said, by path"""
    items = [CATEGORY_FIELDS.shown(doc) for doc in act.all_categories(dependencies())]
    return json_answer(short_list_answer(items, args, "path", "categories"))


@categories.post("")
@require_role("admin")
@categories.response(200, schemas.CategoriesImported)
@categories.alt_response(415, "UNSUPPORTED_MEDIA_TYPE")
@categories.doc(requestBody=_BODY)
@audited("import categories")
def import_categories() -> Response:
    """Categories as NDJSON, a line each, as the list answers them; each replaces what is said of its category"""
    if request.mimetype not in LINES:
        raise WrongMedium(f"Send the lines as {LINES[0]}.")
    outcome = act.import_lines(dependencies(), _lines(), actor=current_user().userid, date=timestamp())
    return json_answer({"written": outcome.written, "unchanged": outcome.unchanged, "failed": outcome.failed})


@categories.get("/<path:path>")
@require_role("admin", "staff")
@categories.response(200, schemas.DescribedCategory)
@categories.alt_response(404, "NOT_FOUND")
def read(path: str) -> Response:
    """What is said of a category"""
    return document_answer(CATEGORY_FIELDS, act.get(dependencies(), path))


@categories.put("/<path:path>")
@require_role("admin")
@categories.arguments(schemas.CategoryContent)
@categories.response(200, schemas.DescribedCategory)
@categories.alt_response(201, schema=schemas.DescribedCategory)
@categories.alt_response(409, "CONFLICT")
@categories.alt_response(412, "PRECONDITION_FAILED")
@categories.doc(parameters=[if_match_header()])
@audited("change category", "path")
def write(content: dict[str, Any], path: str) -> Response:
    """Say something of a category, also of one that no product is in (yet, or any more)"""
    if content["path"] != path:
        raise Invalid("The path cannot change.", errors={"path": [f"Must be {path}, as in the address."]})
    before = dependencies().category_documents.get(path)
    check_preconditions(etag_of(before["_rev"]) if before else None)
    doc = act.put(dependencies(), content, before, actor=current_user().userid, date=timestamp())
    return document_answer(CATEGORY_FIELDS, doc, 200 if before else 201)


@categories.delete("/<path:path>")
@require_role("admin")
@categories.response(204)
@categories.alt_response(404, "NOT_FOUND")
@categories.alt_response(409, "CONFLICT")
@categories.alt_response(412, "PRECONDITION_FAILED")
@categories.doc(parameters=[if_match_header()])
@audited("remove category", "path")
def remove(path: str) -> Response:
    """Forget what is said of a category: it is shown by its name again"""
    doc = act.get(dependencies(), path)
    check_if_match(etag_of(doc["_rev"]))
    act.remove(dependencies(), doc)
    return nothing()


def _lines() -> Iterator[tuple[int, Any]]:
    """(number, what is on it or what is wrong with it) of each line that is not empty."""
    for number, text in lines_of(request.stream, MAX_LINE):
        if text is None:
            yield number, BrokenLine(f"A line has at most {MAX_LINE} bytes.")
        elif text.strip():
            try:
                yield number, orjson.loads(text)
            except orjson.JSONDecodeError as error:
                yield number, BrokenLine(str(error))
