"""A users service under gunicorn with real databases, and people who use it."""

import itertools
import re
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from services.users.dependencies import JobDependencies, open_job_dependencies
from services.users.documents import DESIGN
from services.users.settings import JobSettings
from shared.couch import Database, Server
from shared.maildir import Received
from shared.settings import load
from tests.maildir import read_mail
from tests.patience import patient
from tests.processes import ended_forked
from tests.waiting import Holds, holding

PASSWORD = "correct horse battery"
ADMIN = ("admin@example.com", "a password of the admin")
_numbers = itertools.count()


@dataclass
class Api:
    """HTTP to a service, as nobody or (with a token) as somebody."""

    base: str
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {**self.headers, **options.pop("headers", {})}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return requests.request(method, self.base + path, headers=headers, timeout=30, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> requests.Response:
        return self.call("POST", path, json=body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> requests.Response:
        return self.call("PUT", path, json=body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> requests.Response:
        return self.call("PATCH", path, json=body, **options)

    def delete(self, path: str, **options: Any) -> requests.Response:
        return self.call("DELETE", path, **options)


@dataclass
class Person(Api):
    """Somebody with an account."""

    userid: str = ""
    email: str = ""
    refresh_token: str = ""


@pytest.fixture(scope="module")
def users_settings() -> dict[str, str]:
    """Settings that a module's service differs in; override it in a module."""
    return {}


@pytest.fixture(scope="module")
def users_url(prepared: Callable, service: Callable, users_settings: dict[str, str]) -> str:
    prepared(DESIGN)
    cheap = {"ARGON2_MEMORY_KIB": "64", "ARGON2_PASSES": "1", "MAILS_PER_HOUR": "100"}
    return service("users", **{**cheap, **users_settings})


@pytest.fixture
def nobody(users_url: str) -> Api:
    """The service without a token."""
    return Api(users_url)


@pytest.fixture(scope="module")
def database(server: Server, users_url: str) -> Database:
    """The users database itself, to look at what was stored."""
    return server.open(DESIGN)


@pytest.fixture(scope="module")
def mail(environment: dict[str, str]) -> Callable[[str], str]:
    """mail(email) -> the token in the newest e-mail to that address, waiting for it."""
    folder = Path(environment["MAIL_DIR"])

    def newest_token(email: str, after: int = 0) -> str:
        for _ in range(600):
            emails = emails_with_token(folder, email)
            if len(emails) > after:
                found = re.search(r"token=([\w.%-]+)", emails[0].text)
                assert found
                assert f"token={found[1]}" in emails[0].html
                return found[1]
            time.sleep(0.05)
        raise AssertionError(f"no e-mail with a token reached {email}")

    return newest_token


def emails_with_token(folder: Path, email: str) -> list[Received]:
    return [email for email in read_mail(folder, email) if "token=" in email.text]


def new_email() -> str:
    return f"person{next(_numbers)}.{secrets.token_hex(3)}@example.com"


@pytest.fixture
def email() -> str:
    """An address that nobody has used."""
    return new_email()


@pytest.fixture
def person(users_url: str, mail: Callable[..., str], environment: dict[str, str]) -> Callable[..., Person]:
    """person() registers, verifies and logs somebody in."""

    def make(email: str | None = None, name: str = "Ann") -> Person:
        email = email or new_email()
        before = len(emails_with_token(Path(environment["MAIL_DIR"]), email))
        api = Api(users_url)
        made(api, "/v1/users", {"name": name, "email": email, "password": PASSWORD})
        token = mail(email, after=before)
        assert patient(lambda: api.post("/v1/users/verify", {"token": token})).status_code == 200
        return log_in(api, email)

    return make


def made(api: Api, path: str, body: Any) -> requests.Response:
    """What is made with a POST, under one key however busy the database is."""
    key = {"Idempotency-Key": secrets.token_hex(8)}
    answer = patient(lambda: api.post(path, body, headers=key))
    assert answer.status_code == 201, answer.text
    return answer


def log_in(api: Api, email: str, password: str = PASSWORD) -> Person:
    answer = patient(lambda: api.post("/v1/sessions", {"email": email, "password": password}))
    assert answer.status_code == 200, answer.text
    tokens = answer.json()
    return Person(
        api.base, tokens["access_token"], {}, tokens["user"]["userid"], email, tokens["refresh_token"]
    )


def calls(answer: requests.Response) -> dict[str, int]:
    """The database calls of a request, as its Server-Timing says."""
    parts = re.findall(r'(\w+);dur=[^;]+;desc="(\d+)"', answer.headers["Server-Timing"])
    return {kind: int(number) for kind, number in parts}


@pytest.fixture(scope="module")
def one_list(deps: JobDependencies) -> dict[str, int]:
    """The database calls of a request that lists what there is of a person who has just written something: on a cluster, where a list is one
    node's copy, that is read as well."""
    return {"partition": 1, "global": 0, "read": 0 if deps.store.database.has_one_copy else 1, "write": 0}


@pytest.fixture(scope="module")
def holds(deps: JobDependencies) -> Holds:
    """holds(look) checks: at once where each document has one copy; on a cluster, where a list is one node's copy, within a minute."""
    return holding(at_once=deps.store.database.has_one_copy)


@pytest.fixture(scope="module")
def deps(environment: dict[str, str], users_url: str) -> JobDependencies:
    """What jobs work with, as the worker has it."""
    return open_job_dependencies(load(JobSettings, environment))


@pytest.fixture(scope="module")
def create_admin(
    environment: dict[str, str], users_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[int, str]]:
    """create_admin(**environment) runs the command: its exit code, and what it printed."""
    folder, runs = tmp_path_factory.mktemp("admin"), itertools.count()
    file = folder / "password"
    file.write_text(ADMIN[1] + "\n")
    env = {**environment, "ADMIN_EMAIL": ADMIN[0], "ADMIN_PASSWORD_FILE": str(file)}
    command = [sys.executable, "-m", "services.users", "create-admin"]
    return lambda **other: ended_forked(command, folder / f"log-{next(runs)}", env | other)


@pytest.fixture(scope="module")
def admin(create_admin, users_url):
    code, printed = create_admin()
    assert code == 0, printed
    return log_in(Api(users_url), *ADMIN)
