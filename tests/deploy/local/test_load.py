"""Loading the sample shop: what it says when it cannot."""

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


@contextmanager
def busy_users(*answers: tuple[int, str]) -> Iterator[tuple[str, list[str]]]:
    """A users service that answers these to log-ins, one after the other: statuses with their Retry-After. Its address, and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, wait = answers[len(asked)]
            asked.append(self.path)
            self.send_response(status)
            if wait:
                self.send_header("Retry-After", wait)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([(503, "0"), (503, "0"), (401, "")], "write it into"),
        ([(503, "")], "answered 503"),
        ([(503, "3600")], "answered 503"),
        ([(500, "0")], "answered 500"),
    ],
)
def test_a_busy_shop_is_asked_again_when_it_says(
    tmp_path: Path, answers: list[tuple[int, str]], said: str
) -> None:
    (tmp_path / "admin-password").write_text("a password")
    with busy_users(*answers) as (url, asked):
        environment = {
            "AISLE_STATE": str(tmp_path),
            "MEDIA_DIR": str(tmp_path / "media"),
            "USERS_URL": url,
            "ADMIN_EMAIL": "admin@example.com",
            "ADMIN_PASSWORD_FILE": str(tmp_path / "admin-password"),
        }
        with pytest.raises(NotLoaded, match=said):
            load(environment, print)
    assert asked == ["/v1/sessions"] * len(answers)
