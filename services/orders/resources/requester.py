"""Who sent a request, which order it is about, and the order as the answer: what several handlers of this service share."""

from flask import Response

from services.orders.actions import reading
from services.orders.actions.reading import Reader
from services.orders.resources.context import dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.order_answers import shown_return
from services.orders.rules.order_returns import OrderReturn
from shared.web import add_log_fields, current_user, json_answer, optional_user


def reader(token: str = "") -> Reader:
    """The user of the request, or the holder of a guest's token."""
    user = optional_user()
    return Reader(user.userid, user.roles, token) if user else Reader(token=token)


def actor() -> str:
    """The user of the request, as documents name who did something."""
    return f"user {current_user().userid}"


def requested_order(headers: dict[str, str], orderid: str, *, from_archive: bool = False) -> OrderDocuments:
    """The order of the path, if the user or the guest's token may see it; the log line names it. `from_archive`: it is only looked at.
    Raises NoSuchOrder, OrderArchived."""
    found = reading.read_order(dependencies(), orderid, reader(headers["token"]), from_archive=from_archive)
    add_log_fields(orderid=orderid)
    return found


def order_response(found: OrderDocuments, status: int = 200) -> Response:
    return json_answer(reading.order_answer(dependencies(), found, for_staff=reader().is_staff), status)


def return_response(found: OrderDocuments, back: OrderReturn) -> Response:
    """A return with the order that it belongs to."""
    return json_answer(
        {**shown_return(found, back, for_staff=reader().is_staff), "orderid": found.order["orderid"]}, 201
    )
