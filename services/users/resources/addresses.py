"""Delivery addresses of one's own; another user's is 404 because only the user's own partition is read."""

from typing import Any

from flask import Response

from services.users.actions import addresses as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import (
    Blueprint,
    PageArgs,
    check_if_match,
    current_user,
    etag_of,
    idempotent,
    idempotent_id,
    json_answer,
    nothing,
    require_user,
    short_list_answer,
)

addresses = Blueprint(
    "addresses", __name__, url_prefix="/v1/users/me/addresses", description="Delivery addresses"
)


@addresses.get("")
@require_user
@addresses.arguments(PageArgs, location="query")
@addresses.response(200, answers.Addresses)
def list_addresses(args: dict[str, Any]) -> Response:
    """Addresses, oldest first; exactly one of them is the default"""
    userid = current_user().userid
    items = act.list_addresses(dependencies(), userid)
    return json_answer(short_list_answer(items, args, "id", ["addresses", userid]))


@addresses.post("")
@require_user
@idempotent
@addresses.arguments(requests.Address)
@addresses.response(201, answers.Address)
def add_address(values: dict[str, Any]) -> Response:
    """Add an address; the first one is the default"""
    shape, doc = act.add_address(dependencies(), current_user().userid, values, idempotent_id(26))
    return json_answer(
        shape, 201, etag=etag_of(doc["_rev"]), headers={"Location": f"/v1/users/me/addresses/{shape['id']}"}
    )


@addresses.get("/default")
@require_user
@addresses.response(200, answers.Address)
def default_address() -> Response:
    """The default address"""
    shape, doc = act.get_default(dependencies(), current_user().userid)
    return json_answer(shape, etag=etag_of(doc["_rev"]))


@addresses.get("/<string:key>")
@require_user
@addresses.response(200, answers.Address)
def get_address(key: str) -> Response:
    """One address"""
    shape, doc = act.get_address(dependencies(), current_user().userid, key)
    return json_answer(shape, etag=etag_of(doc["_rev"]))


@addresses.patch("/<string:key>")
@require_user
@addresses.arguments(requests.AddressChange)
@addresses.response(200, answers.Address)
def change_address(changes: dict[str, Any], key: str) -> Response:
    """Change an address, or make it the default"""
    shape, doc = act.get_address(dependencies(), current_user().userid, key)
    only = check_if_match(etag_of(doc["_rev"]))
    shape, doc = act.change_address(dependencies(), doc, shape["default"], changes, only=only)
    return json_answer(shape, etag=etag_of(doc["_rev"]))


@addresses.delete("/<string:key>")
@require_user
@addresses.response(204)
def remove_address(key: str) -> Response:
    """Remove an address; if it was the default, another becomes it"""
    _, doc = act.get_address(dependencies(), current_user().userid, key)
    check_if_match(etag_of(doc["_rev"]))
    act.remove_address(dependencies(), doc)
    return nothing()
