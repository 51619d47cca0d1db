"""A small service with one endpoint of each kind, on a real Redis."""

import time
from collections.abc import Iterator

import marshmallow as ma
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import Flask
from flask.testing import FlaskClient

from services.users.security.keys import SigningKeys
from shared.couch import counting
from shared.errors import Conflict, Unavailable
from shared.fields import Boolean, Declaration
from shared.sessions import Revocations
from shared.settings import WebSettings
from shared.user import User
from shared.web import (
    Blueprint,
    PageArgs,
    Shape,
    Tokens,
    check_if_match,
    client_address,
    create_service,
    current_dependencies,
    current_user,
    idempotent,
    idempotent_id,
    json_answer,
    list_answer,
    nothing,
    request_fields,
    require_role,
    require_service,
    require_user,
    unsign,
)
from shared.web.fields import MoneyShape, StrictInteger, Text


class Thing(Shape):
    name = Text(1, 20, required=True)
    size = StrictInteger(0, 100, load_default=1)
    new = request_fields("Thing", Declaration({"new": Boolean(default=False)}), defaults=True)["new"]
    price = ma.fields.Nested(MoneyShape)


class Things(Shape):
    items = ma.fields.List(ma.fields.Integer(), required=True)
    next = ma.fields.String(allow_none=True, required=True)


class SoldOut(Conflict):
    code, title = "sold_out", "Sold out"


things = Blueprint("things", __name__, url_prefix="/v1/things", description="Things")


@things.get("")
@things.arguments(PageArgs, location="query")
@things.response(200, Things)
def list_things(args: dict):
    """Numbers, a page at a time"""
    start = unsign(args["cursor"], "things") or 0
    items = list(range(start, min(start + args["limit"], 45)))
    return json_answer(list_answer(items, items[-1] + 1 if items[-1] < 44 else None, "things"))


@things.post("")
@idempotent
@things.arguments(Thing)
@things.response(201, Thing)
def create(thing: dict):
    """Makes a thing; "slow" takes its time, "sold out" is refused, "broken" is our fault"""
    current_dependencies(list).append(idempotent_id() or thing["name"])
    if thing["name"] == "slow":
        time.sleep(0.3)
    if thing["name"] == "sold out":
        raise SoldOut("Come back later.", productid="p1")
    if thing["name"] == "broken":
        raise KeyError("ann@example.com")
    return thing


@things.put("/one")
@things.response(204)
def replace():
    check_if_match('"3-abc"')
    return nothing()


class Change(Shape):
    name = Text(1, 20)


@things.patch("/one")
@things.arguments(Change)
@things.response(204)
def change(_: dict):
    return nothing()


@things.post("/one/touch")
@things.arguments(Change)
@things.response(204)
def touch(_: dict):
    return nothing()


@things.delete("/<name>")
@things.response(204)
def delete(name: str):
    return nothing()


@things.get("/mine")
@require_user
@things.response(200)
def mine():
    return {"userid": current_user().userid}


@things.get("/staff")
@require_role("staff", "admin")
@things.response(200)
def for_staff():
    return {"userid": current_user().userid}


@things.get("/internal")
@require_service
@things.response(200)
def for_services():
    return {"userid": current_user().userid}


@things.get("/address")
@things.response(200)
def address():
    return {"address": client_address()}


@pytest.fixture(scope="module")
def keys() -> SigningKeys:
    return SigningKeys(Ed25519PrivateKey.generate(), [], seconds=600)


@pytest.fixture(scope="module")
def settings(redis_url: str) -> WebSettings:
    return WebSettings(
        env="local",
        redis_url=redis_url,
        secret_key="a key",
        service_secret="a service secret",
        users_url="http://127.0.0.1:9",
    )


class ListedSessions:
    """A source of sessions that a test fills: what ended, and everybody's roles at this moment."""

    def __init__(self) -> None:
        self.listed, self.roles, self.away, self.asked = Revocations(), {}, False, 0

    def revocations(self) -> Revocations:
        self.asked += 1
        if self.away:
            raise Unavailable
        return self.listed

    def roles_now(self, user: User) -> tuple[str, ...] | None:
        if self.away:
            raise Unavailable
        return self.roles.get(user.userid, user.roles)


@pytest.fixture(scope="module")
def app(settings: WebSettings, keys: SigningKeys) -> Flask:
    return create_service(
        "demo",
        settings,
        [things],
        title="Demo",
        ready={},
        tally=counting,
        tokens=Tokens(keys.public_key),
        sessions=ListedSessions(),
        dependencies=[],
    )


@pytest.fixture
def made(app: Flask) -> list[str]:
    """What handlers made during a test."""
    app.extensions["aisle.dependencies"].clear()
    return app.extensions["aisle.dependencies"]


@pytest.fixture
def client(app: Flask) -> Iterator[FlaskClient]:
    with app.test_client() as client:
        yield client


@pytest.fixture
def bearer(keys: SigningKeys):
    """bearer("staff") -> headers of a user with these roles."""
    return lambda *roles: {"Authorization": f"Bearer {keys.access_token('u1', 's1', list(roles))}"}
