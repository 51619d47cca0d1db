"""Reviews of a product."""

from typing import Any

from flask import Response

from services.products.actions import reviews as act
from services.products.resources.context import dependencies
from services.products.schemas import answers, requests
from shared.clock import timestamp
from shared.web import (
    Blueprint,
    PageArgs,
    current_user,
    idempotent,
    idempotent_id,
    json_answer,
    list_answer,
    require_user,
    unsign,
)

reviews = Blueprint("reviews", __name__, description="What buyers say")


@reviews.get("/v1/products/<productid>/reviews")
@reviews.arguments(PageArgs, location="query")
@reviews.response(200, answers.ReviewList)
@reviews.alt_response(400, "BAD_REQUEST")
@reviews.alt_response(404, "NOT_FOUND")
def newest(page: dict[str, Any], productid: str) -> Response:
    """Reviews, the newest first"""
    bound = ["reviews", productid]
    found = act.newest(dependencies(), productid, page["limit"], unsign(page["cursor"], bound))
    return json_answer(list_answer(found.items, found.next, bound))


@reviews.get("/v1/products/<productid>/reviews/eligibility")
@require_user
@reviews.response(200, answers.ReviewEligibility)
@reviews.alt_response(404, "NOT_FOUND")
def eligibility(productid: str) -> Response:
    """Whether you may review this product, and why not"""
    return json_answer(act.eligibility(dependencies(), productid, current_user().userid))


@reviews.post("/v1/products/<productid>/reviews")
@require_user
@idempotent
@reviews.arguments(requests.ReviewContent)
@reviews.response(201, answers.Review)
@reviews.alt_response(403, "FORBIDDEN")
@reviews.alt_response(404, "NOT_FOUND")
@reviews.alt_response(409, "CONFLICT")
def add(review: dict[str, Any], productid: str) -> Response:
    """Review a product you bought, once"""
    userid = current_user().userid
    request = idempotent_id()
    return json_answer(act.add(dependencies(), productid, userid, review, timestamp(), request), 201)
