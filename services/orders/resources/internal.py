"""For our other services only."""

from typing import Any

from flask import Response

from services.orders.actions import privacy
from services.orders.actions.bought_together import bought_together
from services.orders.resources.context import dependencies
from services.orders.schemas import answers, requests
from services.orders.schemas import privacy as schemas
from services.orders.schemas.shop import ShopIdentity
from shared.couch.deadline import time_limit
from shared.web import Blueprint, json_answer, require_service

internal = Blueprint("internal", __name__, url_prefix="/v1/internal", description="For the other services")


@internal.get("/orders/bought")
@require_service
@internal.arguments(requests.BoughtArgs, location="query")
@internal.response(200, answers.Bought)
def bought(args: dict[str, Any]) -> Response:
    """Whether a person has paid for a product"""
    return json_answer({"bought": privacy.has_bought(dependencies(), args["userid"], args["productid"])})


@internal.get("/products/<string:productid>/bought-together")
@require_service
@internal.arguments(requests.BoughtTogetherArgs, location="query")
@internal.response(200, answers.BoughtTogether)
def bought_with(args: dict[str, Any], productid: str) -> Response:
    """Products that stand beside this one in paid orders, the most frequent first"""
    return json_answer({"items": bought_together(dependencies(), productid, args["limit"])})


@internal.get("/shop")
@require_service
@internal.response(200, ShopIdentity)
def shop() -> Response:
    """The shop's name, address and logo as they are now, for e-mails; no database call"""
    identity = dependencies().terms.shop
    return json_answer({"name": identity.name, "lines": identity.address, "logo": identity.logo})


@internal.get("/users/<string:userid>/orders")
@require_service
@internal.response(200, schemas.ExportedOrders)
@time_limit(30)
def export(userid: str) -> Response:
    """Every order of a person and their store credit, for the export of their data"""
    return json_answer(privacy.export_orders(dependencies(), userid))


@internal.post("/users/<string:userid>/anonymise")
@require_service
@internal.arguments(schemas.Anonymisation, required=False)
@internal.response(200, answers.Anonymised)
@time_limit(30)
def anonymise(body: dict[str, str], userid: str) -> Response:
    """Take a person out of their orders, and out of those that a guest made with their `email`; may be repeated"""
    return json_answer({"orders": privacy.anonymise(dependencies(), userid, body["email"])})
