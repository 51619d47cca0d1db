"""The yardsticks: Flask with nothing in it, under gunicorn as it comes, and Flask making the same database calls, served as the shop is."""

import os
from typing import Any

import orjson
from flask import Flask, Response, request
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant.cloudant_v1 import CloudantV1

from shared.couch import Server

NOUVEAU = "nouveau"
"""A search by Nouveau: the operation that only our client has."""


def create_app() -> Flask:
    """`/hello` answers JSON; `/ours` and `/sdk` answer what the last of the posted calls, each {operation, arguments}, gives.

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

    return app


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), mimetype="application/json")
