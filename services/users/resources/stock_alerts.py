"""E-mails when a product is in stock again, for guests too."""

from flask import Response

from services.users.actions import stock_alerts as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import Blueprint, client_address, json_answer, nothing, optional_user

stock_alerts = Blueprint(
    "stock-alerts",
    __name__,
    url_prefix="/v1/users/stock-alerts",
    description="E-mails when a product is in stock again",
)


@stock_alerts.post("")
@stock_alerts.arguments(requests.StockAlert)
@stock_alerts.response(202)
@stock_alerts.alt_response(404, "NOT_FOUND")
@stock_alerts.alt_response(409, "CONFLICT")
@stock_alerts.alt_response(429, "TOO_MANY_REQUESTS")
def ask(body: dict[str, str]) -> Response:
    """Ask for one e-mail when a sold-out product or variant is back; without `email` to the address of who is logged in"""
    user = optional_user()
    act.request(dependencies(), body["sku"], body["email"], user.userid if user else None, client_address())
    return json_answer({}, 202)


@stock_alerts.post("/confirmation")
@stock_alerts.arguments(requests.StockAlertToken)
@stock_alerts.response(200, answers.StockAlert)
@stock_alerts.alt_response(400, "BAD_REQUEST")
def confirm(body: dict[str, str]) -> Response:
    """Confirm with the token that was sent to the address"""
    return json_answer({"sku": act.confirm(dependencies(), body["token"])})


@stock_alerts.post("/cancellation")
@stock_alerts.arguments(requests.StockAlertToken)
@stock_alerts.response(204)
@stock_alerts.alt_response(400, "BAD_REQUEST")
def cancel(body: dict[str, str]) -> Response:
    """End it with the token of the e-mail; may be repeated"""
    act.cancel(dependencies(), body["token"])
    return nothing()
