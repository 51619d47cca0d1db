"""Counting stock at a stall, for staff."""

from collections.abc import Mapping
from typing import Any

from flask import Response

from services.products.actions.stall_counts import Counted, take_counts
from services.products.resources.context import dependencies
from services.products.schemas import stall as schemas
from shared.clock import timestamp
from shared.couch.deadline import time_limit
from shared.web import Blueprint, audited, json_answer, require_role

SECONDS = 60

stall = Blueprint("stall", __name__, url_prefix="/v1/admin/stall", description="Counting at a market stall")


def _skus(sent: Mapping[str, Any]) -> list[str]:
    return [str(each["sku"]) for each in sent["items"]]


@stall.post("/counts")
@require_role("admin", "staff")
@stall.arguments(schemas.StallCounts)
@stall.response(200, schemas.StallCountReport)
@time_limit(SECONDS)
@audited("count stock at stall", _skus, "items", "stall")
def count(body: dict[str, Any]) -> Response:
    """What was counted, perhaps some time ago: booked as the difference to what the stock said then; the same `id` again books nothing twice"""
    counts = [Counted(**each) for each in body["items"]]
    reason = f"Counted at {body['stall']}"
    return json_answer(take_counts(dependencies(), counts, body["id"], reason, timestamp()).answer())
