"""/_faults: the rules of --faults. Without that option the path does not exist."""

from ..documents import auth
from ..errors import not_found
from ..http.messages import Request, Response, json_response
from ..runtime.faults import Faults


def _faults(request: Request) -> Faults:
    if request.server.faults is None:
        raise not_found("Database does not exist.")
    auth.check_server_admin(request.user)
    return request.server.faults


def get_faults(request: Request) -> Response:
    return json_response(_faults(request).rules)


def put_faults(request: Request) -> Response:
    faults = _faults(request)
    faults.set(request.json())
    return json_response({"ok": True})


def delete_faults(request: Request) -> Response:
    _faults(request).set([])
    return json_response({"ok": True})


ROUTES = [
    ("GET", "/_faults", get_faults, "_faults"),
    ("PUT", "/_faults", put_faults, "_faults"),
    ("DELETE", "/_faults", delete_faults, "_faults"),
]
