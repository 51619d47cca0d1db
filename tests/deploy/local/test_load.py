"""Loading the sample shop: what it says when it cannot."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from deploy.local.shop.load import NotLoaded, load
from services.users.documents import DESIGN


def test_a_database_whose_admin_has_another_password_is_told_what_to_do(
    prepared: Callable, service: Callable[..., str], tmp_path: Path
) -> None:
    """As after a restore, or with somebody else's COUCH_URL."""
    prepared(DESIGN)
    file = tmp_path / "admin-password"
    file.write_text("not the password there")
    environment = {
        "AISLE_STATE": str(tmp_path),
        "MEDIA_DIR": str(tmp_path / "media"),
        "USERS_URL": service("users"),
        "ADMIN_EMAIL": "admin@example.com",
        "ADMIN_PASSWORD_FILE": str(file),
    }
    with pytest.raises(NotLoaded, match=rf"write it into {file}.*SAMPLE_SHOP=false"):
        load(environment, print)


Answer = tuple[int, str]
"""A status, and its Retry-After if any."""
LOADED = {"access_token": "token", "items": [], "pictures": [], "failed": [], "written": 1}


@contextmanager
def busy_shop(answer: Callable[[list[str]], Answer]) -> Iterator[tuple[str, list[str]]]:
    """All services at one address; `answer` says what the last request that was asked gets. Its address, and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(f"{self.command} {self.path.partition('?')[0]}")
            status, wait = answer(asked)
            body = json.dumps(LOADED if status == 200 else {}).encode()
            self.send_response(status)
            if wait:
                self.send_header("Retry-After", wait)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def environment_of(folder: Path, url: str) -> dict[str, str]:
    (folder / "admin-password").write_text("a password")
    return {
        "AISLE_STATE": str(folder),
        "MEDIA_DIR": str(folder / "media"),
        **{f"{name}_URL": url for name in ("USERS", "PRODUCTS", "ORDERS")},
        "ADMIN_EMAIL": "admin@example.com",
        "ADMIN_PASSWORD_FILE": str(folder / "admin-password"),
    }


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([(503, "0"), (503, "0"), (401, "")], "write it into"),
        ([(503, "")], "answered 503"),
        ([(503, "3600")], "answered 503"),
        ([(500, "0")], "answered 500"),
    ],
)
def test_a_busy_shop_is_asked_again_when_it_says(tmp_path: Path, answers: list[Answer], said: str) -> None:
    with (
        busy_shop(lambda asked: answers[len(asked) - 1]) as (url, asked),
        pytest.raises(NotLoaded, match=said),
    ):
        load(environment_of(tmp_path, url), print)
    assert asked == ["POST /v1/sessions"] * len(answers)


def test_a_shop_that_refuses_everything_once_is_loaded(tmp_path: Path) -> None:
    """As under the rates of a small plan: nothing that is set or asked for is given up at the first 503."""

    def once(asked: list[str]) -> Answer:
        return (503, "0") if asked.count(asked[-1]) == 1 else (200, "")

    with busy_shop(once) as (url, asked):
        load(environment_of(tmp_path, url), print)
    assert min(map(asked.count, asked)) > 1
    assert {"PUT", "GET", "POST"} == {each.partition(" ")[0] for each in asked}
