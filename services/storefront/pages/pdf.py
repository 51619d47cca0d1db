"""Documents for print, passed on from the orders service."""

from flask import Response

from shared.client import Answer


def pdf_response(answer: Answer) -> Response:
    """With the name under which it is saved; nobody else keeps it."""
    response = Response(answer.body, answer.status)
    for header in ("Content-Type", "Content-Disposition"):
        response.headers[header] = answer.headers[header]
    response.headers["Cache-Control"] = "private, no-store"
    return response
