"""_session: sign in for a cookie, see who one is, sign out."""

from urllib.parse import parse_qs, quote

from ..documents.auth import UserCtx
from ..errors import CouchError, bad_request
from ..http.messages import Request, Response, json_response

CONTENT_TYPES = "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'"


def _signed_out(request: Request) -> str:
    return f"AuthSession=; {request.server.sessions.cookie_attributes()}"


def get_session(request: Request) -> Response:
    user: UserCtx = request.user
    info: dict[str, object] = {"authentication_handlers": ["cookie", "default"]}
    if user.handler is not None:
        info["authenticated"] = user.handler
    if request.server.config.changed("chttpd_auth", "authentication_db"):
        info["authentication_db"] = request.server.config.users_db
    if request.query.get("basic") == "true" and user.name is None:
        raise CouchError(401, "unauthorized", "Please login.")
    return json_response(
        {"ok": True, "userCtx": {"name": user.name, "roles": list(user.roles)}, "info": info}
    )


async def post_session(request: Request) -> Response:
    name, password = _credentials(request)
    place = request.query.get("next")
    if place is not None and (not place.startswith("/") or not place.isprintable()):
        raise bad_request("path must begin with a /.")
    try:
        user = await request.server.sessions.check(name, password, "cookie")
    except CouchError as error:
        request.cookie = _signed_out(request)
        raise CouchError(401, "unauthorized", error.reason) from None
    request.cookie = request.server.sessions.new_cookie(name)
    headers = [("Location", request.absolute(quote(place, safe="/?&=%#:")))] if place else None
    shown = {"ok": True, "name": user.name, "roles": list(user.roles)}
    return json_response(shown, 302 if headers else 200, headers)


def _credentials(request: Request) -> tuple[str, str]:
    kind = request.headers.get("content-type", "").split(";")[0].strip()
    if kind == "application/x-www-form-urlencoded":
        form = parse_qs(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        name, password = form.get("name", form.get("username", [""]))[0], form.get("password", [""])[0]
    elif kind == "application/json":
        body = request.json_object()
        if "name" not in body and "username" not in body:
            raise bad_request("request body must contain a username")
        name, password = body.get("name", body.get("username")), body.get("password", "")
    else:
        raise CouchError(415, "bad_content_type", CONTENT_TYPES)
    if not isinstance(name, str) or not isinstance(password, str):
        raise bad_request("name and password must be strings")
    return name, password


def delete_session(request: Request) -> Response:
    request.cookie = _signed_out(request)
    return json_response({"ok": True})


ROUTES = [
    ("GET", "/_session", get_session, "_session"),
    ("POST", "/_session", post_session, "_session"),
    ("DELETE", "/_session", delete_session, "_session"),
]
