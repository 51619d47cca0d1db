"""The yardsticks: Flask with nothing in it, under gunicorn as it comes, and Flask making one database call, served as the shop is."""

import os

import orjson
from flask import Flask, Response, request
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant.cloudant_v1 import CloudantV1

from shared.couch import Server


def create_app() -> Flask:
    """`/hello` answers JSON; `/ours` and `/sdk` answer what the posted call {operation, arguments} gives.

    The database is what BARE_COUCH_URL, _USERNAME and _PASSWORD name. `/ours` makes the call through shared/couch, `/sdk` through ibmcloudant as it comes.
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

    @app.post("/ours")
    def by_shared_couch() -> Response:
        wanted = orjson.loads(request.data)
        return _json(ours.call(wanted["operation"], **wanted["arguments"]))

    @app.post("/sdk")
    def by_ibmcloudant() -> Response:
        wanted = orjson.loads(request.data)
        return _json(getattr(sdk, wanted["operation"])(**wanted["arguments"]).get_result())

    return app


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), mimetype="application/json")
