"""The mailbox page over five thousand e-mails: it opens the ones it shows, and each has an address of its own."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shared.mail import Email, MaildirMailer, compose
from shared.maildir import deliver, read_page
from tests.services.storefront.visitor import Visitor

EMAILS = 5000
PER_PAGE = 20


@pytest.fixture(scope="module")
def maildir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five thousand e-mails, oldest first, every hundredth to ada. They need not outlast the machine's power."""
    directory = tmp_path_factory.mktemp("mailbox") / "mail"
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "fsync", lambda descriptor: None)
    mail = compose(Email("to@example.com", "Email 0", "Hello.")).as_bytes()
    for number in range(EMAILS):
        to = "ada@example.com" if number % 100 == 0 else f"person{number}@example.com"
        own = mail.replace(b"Email 0", f"Email {number}".encode()).replace(b"to@example.com", to.encode())
        deliver(directory, own, to)
    patch.undo()
    return directory


@pytest.fixture
def opened(maildir: Path) -> Iterator[list[str]]:
    """The files in `maildir` that were opened, by anything in this process."""
    found: list[str] = []
    watching = True

    def watch(event: str, args: tuple[object, ...]) -> None:
        if watching and event == "open" and str(args[0]).startswith(str(maildir)):
            found.append(str(args[0]))

    sys.addaudithook(watch)
    yield found
    watching = False


def test_a_page_opens_what_it_shows(maildir: Path, opened: list[str]) -> None:
    page = read_page(maildir, limit=PER_PAGE)
    assert [each.subject for each in page.items] == [
        f"Email {number}" for number in range(EMAILS - 1, EMAILS - 1 - PER_PAGE, -1)
    ]
    assert len(opened) == PER_PAGE
    second = read_page(maildir, after=page.next, limit=PER_PAGE)
    assert second.items[0].subject == f"Email {EMAILS - 1 - PER_PAGE}"
    assert len(opened) == 2 * PER_PAGE


def test_email_to_one_person_are_found_without_opening_the_others(maildir: Path, opened: list[str]) -> None:
    page = read_page(maildir, to="ADA@example.com", limit=PER_PAGE)
    assert [each.to for each in page.items] == ["ada@example.com"] * PER_PAGE
    assert len(opened) == PER_PAGE
    rest = read_page(maildir, to="ada@example.com", after=page.next, limit=PER_PAGE * 5)
    assert len(page.items) + len(rest.items) == EMAILS / 100
    assert rest.next is None
    assert read_page(maildir, to="nobody@example.com").items == []
    assert len(opened) == EMAILS / 100


def test_email_that_another_program_delivered_are_read_too(tmp_path: Path) -> None:
    MaildirMailer(tmp_path).send(Email("ann@example.com", "Ours", "Hello."))
    (tmp_path / "cur").mkdir(exist_ok=True)
    for name, subject in (("1600000000.M1P2Q3.host:2,S", "Read"), ("foreign", "Foreign")):
        (tmp_path / "cur" / name).write_text(f"To: ann@example.com\nSubject: {subject}\n\nHello.\n")
    found = read_page(tmp_path, to="ann@example.com")
    assert [each.subject for each in found.items] == ["Ours", "Read", "Foreign"]
    first = read_page(tmp_path, limit=1)
    second = read_page(tmp_path, after=first.next, limit=1)
    assert second.items[0].subject == "Read"
    assert read_page(tmp_path, after=second.next).items[0].subject == "Foreign"


@pytest.fixture(scope="module")
def reader(service: Callable[..., str], maildir: Path, tmp_path_factory: pytest.TempPathFactory) -> Visitor:
    """The page over the same e-mails, of which only the newest forty and ada's can be opened: the others lead nowhere."""
    partly = tmp_path_factory.mktemp("partly") / "mail"
    (partly / "new").mkdir(parents=True)
    newest = sorted((maildir / "new").iterdir(), key=lambda path: path.name, reverse=True)
    for place, path in enumerate(newest):
        readable = place < 2 * PER_PAGE or (EMAILS - 1 - place) % 100 == 0
        (partly / "new" / path.name).symlink_to(path if readable else partly / "nothing")
    return Visitor(service("storefront", MAIL_DIR=str(partly), WEB_WORKERS="1"))


def test_the_page_shows_the_newest_and_leads_to_older_ones(reader: Visitor) -> None:
    page = reader.get("/mailbox")
    assert page.status == 200
    assert f"Email {EMAILS - 1} " in page.text
    assert f"Email {EMAILS - PER_PAGE} " in page.text
    assert f"Email {EMAILS - 1 - PER_PAGE} " not in page.text
    older = reader.get(page.link("Older e-mails"))
    assert f"Email {EMAILS - 1 - PER_PAGE} " in older.text
    assert f"Email {EMAILS - 1} " in reader.get(older.link("Newest e-mails")).text


def test_a_persons_email_are_a_list_of_their_own(reader: Visitor) -> None:
    page = reader.get("/mailbox?to=ada@example.com")
    assert page.text.count("to ada@example.com,") == PER_PAGE
    assert "Email 4900" in page.text
    older = reader.get(page.link("Older e-mails"))
    assert older.text.count("to ada@example.com,") == PER_PAGE
    assert "No e-mails to nobody@example.com" in reader.get("/mailbox?to=nobody@example.com").text


def test_an_email_has_an_address_of_its_own(reader: Visitor) -> None:
    address = reader.get("/mailbox").link("Open this e-mail")
    page = reader.get(address)
    assert page.status == 200
    assert "Hello." in page.text
    assert page.text.count("person4999@example.com") == 2
    for unknown in ("1.M1P1Q1.host", "%2e%2e%2fmail", "nothing"):
        assert reader.get(f"/mailbox/{unknown}").status == 404
