"""A WSGI application without a framework: says what it was sent; `/wait/NAME` answers when the file NAME is in FOLDER, `/hang` never."""

import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    body = environ["wsgi.input"].read()
    if path == "/exit":
        raise SystemExit(3)
    if path == "/hang":
        re.match("(a+)+b", "a" * 60)  # holds the interpreter's lock for years
    if path.startswith("/wait/"):
        folder = Path(os.environ["FOLDER"])
        (folder / f"{path[6:]}-waits").touch()
        while not (folder / path[6:]).exists():
            time.sleep(0.01)
    answer = f"{environ['REQUEST_METHOD']} {path} {len(body)}".encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(answer)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer]
