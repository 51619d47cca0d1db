"""People who use a running shop in tests and measurements: an admin, and customers who registered by mail."""

import re
import secrets
from pathlib import Path

import requests

from tests.patience import patient
from tests.waiting import eventually

ADDRESS = "1 High Street\nLeeds LS1 4DY\nUnited Kingdom"
PASSWORD = "correct horse battery staple"


class Person(requests.Session):
    """A session of one person: its bearer token is sent with every request. `userid` is theirs."""

    def __init__(self, users_url: str, email: str, password: str = PASSWORD) -> None:
        super().__init__()
        login = {"email": email, "password": password}
        answer = patient(lambda: requests.post(f"{users_url}/v1/sessions", json=login, timeout=30))
        answer.raise_for_status()
        self.email, self.token = email, answer.json()["access_token"]
        self.headers["Authorization"] = f"Bearer {self.token}"
        self.userid = patient(lambda: self.get(f"{users_url}/v1/users/me", timeout=30)).json()["userid"]


def register(users_url: str, mail_dir: Path, name: str = "Ada Lovelace") -> Person:
    """A new customer, verified through the e-mail in the Maildir, logged in."""
    email = f"{secrets.token_hex(6)}@example.com"
    body = {"name": name, "email": email, "password": PASSWORD}
    key = {"Idempotency-Key": secrets.token_hex(8)}
    send_once(f"{users_url}/v1/users", body, key)
    send_once(f"{users_url}/v1/users/verify", {"token": eventually(lambda: _token_or_none(mail_dir, email))})
    return Person(users_url, email)


def send_once(url: str, body: dict[str, str], headers: dict[str, str] | None = None) -> None:
    patient(lambda: requests.post(url, json=body, headers=headers, timeout=30)).raise_for_status()


def _token_or_none(mail_dir: Path, email: str) -> str | None:
    """The e-mail is written behind the answer."""
    try:
        return token_in_mail(mail_dir, email)
    except LookupError:
        return None


def token_in_mail(mail_dir: Path, email: str) -> str:
    """The `token=` of the newest e-mail to this address. Raises LookupError without one."""
    messages = sorted(mail_dir.rglob("new/*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for message in messages:
        content = message.read_text(errors="replace").replace("=\n", "")
        if email in content and (found := re.search(r"token=(?:3D)?([\w.-]+)", content)):
            return found.group(1)
    raise LookupError(f"no e-mail with a token for {email} in {mail_dir}")


def add_address(person: Person, users_url: str) -> str:
    """A delivery address; its id."""
    body = {"name": "Home", "address": ADDRESS}
    url, key = f"{users_url}/v1/users/me/addresses", {"Idempotency-Key": secrets.token_hex(8)}
    answer = patient(lambda: person.post(url, json=body, headers=key, timeout=30))
    answer.raise_for_status()
    return answer.json()["id"]


def place(line1: str = "1 High Street") -> dict[str, str]:
    """What the pages' address forms ask for of an address in the shop's own country."""
    return {"line1": line1, "city": "Leeds", "postcode": "LS1 4DY"}
