"""Product types: which attributes a kind of products has."""

from typing import Any

from flask import Response

from services.products.actions import product_types as act
from services.products.product_types import PRODUCT_TYPE_FIELDS, ProductType
from services.products.resources.context import dependencies
from services.products.schemas import answers, parameters, requests
from shared.clock import timestamp
from shared.web import (
    Blueprint,
    PageArgs,
    check_if_match,
    etag_of,
    idempotent,
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
def add(content: dict[str, Any]) -> Response:
    """A new product type"""
    doc = act.add(dependencies(), content, timestamp())
    return _answer(doc, 201, {"Location": f"/v1/admin/product-types/{doc['code']}"})


@product_types.get("/<code>")
@require_role("admin", "staff")
@product_types.response(200, answers.ProductType)
@product_types.alt_response(404, "NOT_FOUND")
def read(code: str) -> Response:
    """A product type"""
    return _answer(act.get(dependencies(), code))


@product_types.put("/<code>")
@require_role("admin")
@product_types.arguments(requests.ProductTypeContent)
@product_types.response(200, answers.ProductType)
@product_types.alt_response(404, "NOT_FOUND")
@product_types.alt_response(409, "CONFLICT")
@product_types.alt_response(412, "PRECONDITION_FAILED")
@product_types.doc(parameters=[parameters.if_match()])
def replace(content: dict[str, Any], code: str) -> Response:
    """New attributes; products keep what they have until they are written again"""
    before = act.get(dependencies(), code)
    check_if_match(etag_of(before["_rev"]))
    return _answer(act.replace(dependencies(), before, content, timestamp()))


def _answer(doc: ProductType, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return json_answer(PRODUCT_TYPE_FIELDS.shown(doc), status, etag=etag_of(doc["_rev"]), headers=headers)
