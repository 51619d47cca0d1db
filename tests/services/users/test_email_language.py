"""E-mails in the language of the page or of the account: text with HTML beside it."""

import email
from email.message import EmailMessage
from email.policy import default as POLICY
from pathlib import Path

import pytest
import requests

from services.users.documents import DESIGN
from tests.people import PASSWORD
from tests.waiting import eventually


@pytest.fixture(scope="module")
def users(prepared, service, environment: dict[str, str]) -> str:
    prepared(DESIGN)
    environment.update({"LANGUAGES": "en,de", "SHOP_NAME": "Buch & Lampe", "ARGON2_MEMORY_KIB": "64"})
    return service("users")


@pytest.fixture
def mail(environment: dict[str, str]) -> Path:
    return Path(environment["MAIL_DIR"])


def messages(mail: Path, to: str) -> list[EmailMessage]:
    """To somebody, the oldest first."""
    found = (
        email.message_from_bytes(path.read_bytes(), policy=POLICY)
        for path in sorted((mail / "new").iterdir())
    )
    return [message for message in found if message["To"] == to]


def register(users: str, address: str, language: str) -> None:
    body = {"name": "Berta <b>", "email": address, "password": PASSWORD}
    answer = requests.post(f"{users}/v1/users", json=body, headers={"Accept-Language": language}, timeout=60)
    assert answer.status_code == 201, answer.text


def parts(message: EmailMessage) -> tuple[str, str]:
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    text, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    return text.get_content(), html.get_content()


def test_an_e_mail_is_in_the_language_of_the_request(users: str, mail: Path) -> None:
    register(users, "berta@example.com", "de-DE,de;q=0.9")
    register(users, "bob@example.com", "fr")
    [german], [english] = messages(mail, "berta@example.com"), messages(mail, "bob@example.com")
    assert german["Subject"] == "Bestätigen Sie Ihre E-Mail-Adresse"
    assert english["Subject"] == "Confirm your e-mail address"
    text, html = parts(german)
    assert text.startswith("Guten Tag,")
    assert '<html lang="de" dir="ltr">' in html
    assert "Buch &amp; Lampe" in html
    assert "Bestätigen</a>" in html.replace("&#228;", "ä")
    assert "Buch & Lampe" in str(german["From"])


def test_later_e_mails_are_in_the_language_of_the_account(users: str, mail: Path) -> None:
    """Whatever the browser says that asks for a new password."""
    address = "ludwig@example.com"
    register(users, address, "de")
    requests.post(f"{users}/v1/password-resets", json={"email": address}, timeout=60)
    reset = eventually(lambda: messages(mail, address)[1:])[0]
    text, html = parts(reset)
    assert reset["Subject"] == "Neues Passwort setzen"
    assert "Guten Tag Berta <b>," in text
    assert "<b>" not in html
    assert "Berta &lt;b&gt;" in html


def test_a_preference_changes_the_language_of_e_mails(users: str, mail: Path) -> None:
    address = "petra@example.com"
    register(users, address, "de")
    [first] = messages(mail, address)
    token = parts(first)[0].partition("token=")[2].split()[0]
    assert requests.post(f"{users}/v1/users/verify", json={"token": token}, timeout=60).status_code == 200
    login = {"email": address, "password": PASSWORD}
    access = requests.post(f"{users}/v1/sessions", json=login, timeout=60).json()["access_token"]
    headers = {"Authorization": f"Bearer {access}"}
    changed = requests.patch(
        f"{users}/v1/users/me/preferences", json={"language": "en-GB"}, headers=headers, timeout=60
    )
    assert changed.status_code == 200, changed.text
    requests.post(
        f"{users}/v1/password-resets", json={"email": address}, headers={"Accept-Language": "de"}, timeout=60
    )
    reset = eventually(lambda: messages(mail, address)[1:])[0]
    assert reset["Subject"] == "Set a new password"
