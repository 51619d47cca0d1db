"""Import with progress and export of products at the desk."""

import re
from collections.abc import Iterator
from typing import IO

from flask import Response, render_template, request

from services.storefront.actions.imports import import_products
from services.storefront.pages.dependencies import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.errors import BadRequest
from shared.types import Json

SHOWN_FAILURES = 200


@desk.get("/import")
def import_form() -> str:
    return render_template("desk/import.html", result=None)


@desk.post("/import")
@time_limit(NO_LIMIT)
def import_file() -> str:
    """The whole file at once, without JavaScript; line by line to the products service in pieces."""
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        return render_template("desk/import.html", result=None, problem="Choose a file first.")
    result = import_products(services().products, token(), lines_of(sent.stream))
    dependencies().catalogue.invalidate()
    return render_template("desk/import.html", result=result, shown=SHOWN_FAILURES)


@desk.post("/import/piece")
def import_piece() -> Json:
    """Some lines of a file that the page reads itself, so that it can show how far it is. Body: NDJSON."""
    first = request.headers.get("X-First-Line", "1")
    if not re.fullmatch("[0-9]{1,9}", first):
        raise BadRequest("X-First-Line is a line number.")
    result = import_products(
        services().products, token(), request.get_data().splitlines(keepends=True), int(first)
    )
    dependencies().catalogue.invalidate()
    return result


@desk.get("/products.ndjson")
def export_products() -> Response:
    answer = services().products.export(token())
    headers = {"Content-Disposition": 'attachment; filename="products.ndjson"'}
    return Response(answer.body, mimetype="application/x-ndjson", headers=headers)


def lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    yield from stream
