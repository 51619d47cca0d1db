"""How the shop delivers, for pages that show it before anything is ordered."""

from flask import Response

from services.orders.actions.shipping import offered_methods
from services.orders.resources.context import dependencies
from services.orders.schemas import offers
from shared.web import Blueprint, json_answer

shipping = Blueprint(
    "shipping", __name__, url_prefix="/v1/shipping-methods", description="How the shop delivers"
)


@shipping.get("")
@shipping.response(200, offers.OfferedMethods)
def methods() -> Response:
    """Every shipping method with where it goes and what it costs at least: no database call"""
    return json_answer(offered_methods(dependencies().terms))
