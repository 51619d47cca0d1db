"""What applies by itself, for pages that show it before anything is ordered."""

from flask import Response

from services.orders.resources.context import dependencies
from services.orders.schemas import offers
from shared.web import Blueprint, json_answer

promotions = Blueprint(
    "promotions", __name__, url_prefix="/v1/promotions", description="What lowers prices without a code"
)


@promotions.get("")
@promotions.response(200, offers.OfferedPromotions)
def automatic() -> Response:
    """The promotions that need no code: no database call"""
    found = dependencies().terms.promotions.automatic
    return json_answer({"items": [{"id": each.id, "name": each.name} for each in found]})
