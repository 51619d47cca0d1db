"""A node of a cluster whose lists are behind."""

from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from tests.forwarding import Forward, Response, as_one_of_three, forwarding


@contextmanager
def listing_none_of(*orderids: str, couch_url: str) -> Iterator[str]:
    """The database at a node whose lists lack these orders."""

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        content = as_one_of_three(method, path, content)
        if any(f"/_partition/order{orderid}/" in path for orderid in orderids):
            content = orjson.dumps({**orjson.loads(content), "rows": []})
        return status, headers, content

    with forwarding(couch_url, answer) as url:
        yield url
