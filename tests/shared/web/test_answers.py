"""Ready JSON goes out as werkzeug would send it."""

import pytest
from flask import Flask, Response

from shared.web import json_bytes

BODY = b'{"name":"lamp"}'


def sent(response: Response, method: str) -> tuple[bytes, str, dict[str, str]]:
    """Body, status and headers as a server gets them."""
    app, begun = Flask("answers"), []
    with app.test_request_context("/lamp", method=method) as context:
        answer = response(context.request.environ, lambda status, headers: begun.append((status, headers)))
        body = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
    status, headers = begun[0]
    return body, status, dict(headers)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("status", [200, 201, 204])
def test_it_is_what_werkzeug_sends(method: str, status: int) -> None:
    headers = {"Location": "/lämpchen", "Content-Language": "en"} if status == 201 else {"Vary": "Cookie"}
    ready = json_bytes(BODY, status, etag='"1"', headers=headers)
    plain = Response(BODY, status, {"ETag": '"1"', **headers}, content_type="application/json")
    assert sent(ready, method) == sent(plain, method)


def test_what_waits_for_its_end_is_called() -> None:
    ended: list[str] = []
    ready = json_bytes(BODY)
    ready.call_on_close(lambda: ended.append("closed"))
    assert sent(ready, "GET")[0] == BODY
    assert ended == ["closed"]
