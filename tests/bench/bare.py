"""The yardsticks: Flask with nothing in it, and Flask making one database call through the same SDK, served as the shop is."""

import os

import orjson
from flask import Flask, Response

from shared.couch import DatabaseDesign, Server


def create_app() -> Flask:
    """`/hello` answers JSON; `/partition/<key>` and `/read/<id>` answer what one database call gives."""
    app = Flask(__name__)
    if "COUCH_URL" in os.environ:
        server = Server(os.environ["COUCH_URL"], prefix=os.environ.get("DATABASE_PREFIX", ""))
        databases = {name: server.open(DatabaseDesign(name, ())) for name in ("users", "products", "orders")}

    @app.get("/hello")
    def hello() -> dict[str, str]:
        return {"hello": "world"}

    @app.get("/<database>/partition/<path:key>")
    def partition(database: str, key: str) -> Response:
        return _json(databases[database].partition(key).all())

    @app.get("/<database>/read/<path:docid>")
    def read(database: str, docid: str) -> Response:
        return _json(databases[database].get(docid))

    return app


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), mimetype="application/json")
