"""Product types: which attributes a kind of products has."""

from typing import Any

from flask import Response

from services.products.actions import product_types as act
from services.products.product_types import PRODUCT_TYPE_FIELDS
from services.products.resources.context import dependencies
from services.products.schemas import answers, requests
from shared.clock import timestamp
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    check_if_match,
    document_answer,
    etag_of,
    idempotent,
    if_match_header,
    is_repeatable,
    json_answer,
    require_role,
    short_list_answer,
)

product_types = Blueprint(
    "product types",
    __name__,
    url_prefix="/v1/admin/product-types",
    description="Kinds of products and the attributes that each has",
)


@product_types.get("")
@require_role("admin", "staff")
@product_types.arguments(PageArgs, location="query")
@product_types.response(200, answers.ProductTypes)
@product_types.alt_response(400, "BAD_REQUEST")
def types(args: dict[str, Any]) -> Response:
    """All product types, by code"""
    items = [PRODUCT_TYPE_FIELDS.shown(doc) for doc in act.all_types(dependencies())]
    return json_answer(short_list_answer(items, args, "code", "product-types"))


@product_types.post("")
@require_role("admin")
@idempotent
@product_types.arguments(requests.ProductTypeContent)
@product_types.response(201, answers.ProductType)
@product_types.alt_response(409, "CONFLICT")
@audited("add product type", "code")
def add(content: dict[str, Any]) -> Response:
    """A new product type"""
    doc = act.add(dependencies(), content, timestamp(), repeatable=is_repeatable())
    return document_answer(
        PRODUCT_TYPE_FIELDS, doc, 201, {"Location": f"/v1/admin/product-types/{doc['code']}"}
    )


@product_types.get("/<code>")
@require_role("admin", "staff")
@product_types.response(200, answers.ProductType)
@product_types.alt_response(404, "NOT_FOUND")
def read(code: str) -> Response:
    """A product type"""
    return document_answer(PRODUCT_TYPE_FIELDS, act.get(dependencies(), code))


@product_types.put("/<code>")
@require_role("admin")
@product_types.arguments(requests.ProductTypeContent)
@product_types.response(200, answers.ProductType)
@product_types.alt_response(404, "NOT_FOUND")
@product_types.alt_response(409, "CONFLICT")
@product_types.alt_response(412, "PRECONDITION_FAILED")
@product_types.doc(parameters=[if_match_header()])
@audited("change product type", "code")
def replace(content: dict[str, Any], code: str) -> Response:
    """New attributes; products keep what they have until they are written again"""
    before = act.get(dependencies(), code)
    check_if_match(etag_of(before["_rev"]))
    return document_answer(PRODUCT_TYPE_FIELDS, act.replace(dependencies(), before, content, timestamp()))
