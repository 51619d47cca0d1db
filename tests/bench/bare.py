"""The yardsticks: Flask with nothing in it, under gunicorn as it comes, and Flask making the same database calls, served as the shop is."""

import os
from typing import Any

import orjson
import requests
from flask import Flask, Response, request
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant.cloudant_v1 import CloudantV1

from shared.couch import Server
from shared.errors import Unavailable

NOUVEAU = "nouveau"
"""A search by Nouveau: the operation that only our client has."""


def create_app() -> Flask:
    """`/hello` answers JSON; `/ours` and `/sdk` answer what the last of the posted calls, each {operation, arguments}, gives. What the
    database does not answer in time is a 503, as it is of the shop.

    The database is what BARE_COUCH_URL, _USERNAME and _PASSWORD name. `/ours` makes the calls through shared/couch, `/sdk` through ibmcloudant as it comes.
    """
    app = Flask(__name__)
    if url := os.environ.get("BARE_COUCH_URL"):
        user, password = os.environ["BARE_COUCH_USERNAME"], os.environ["BARE_COUCH_PASSWORD"]
        ours = Server(url, username=user, password=password).client
        sdk = CloudantV1(authenticator=BasicAuthenticator(user, password))
        sdk.set_service_url(url)

    @app.get("/hello")
    def hello() -> dict[str, str]:
        return {"hello": "world"}

    def by_ours(operation: str, arguments: dict[str, Any]) -> object:
        return ours.nouveau(**arguments) if operation == NOUVEAU else ours.call(operation, **arguments)

    def by_sdk(operation: str, arguments: dict[str, Any]) -> object:
        return getattr(sdk, operation)(**arguments).get_result()

    @app.post("/ours")
    def by_shared_couch() -> Response:
        return _json([by_ours(**call) for call in orjson.loads(request.data)][-1])

    @app.post("/sdk")
    def by_ibmcloudant() -> Response:
        return _json([by_sdk(**call) for call in orjson.loads(request.data)][-1])

    @app.errorhandler(Unavailable)
    @app.errorhandler(ApiException)
    @app.errorhandler(requests.RequestException)
    def refuse(error: Unavailable | ApiException | requests.RequestException) -> tuple[str, int]:
        """A refusal for another reason than that the database is away or busy is a fault of the bench."""
        is_ours = isinstance(error, ApiException) and error.status_code < 500 and error.status_code != 429
        return str(error), 500 if is_ours else 503

    return app


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), mimetype="application/json")
