"""E-mails, into a Maildir and over SMTP to a server that speaks the protocol."""

import cProfile as profile
import email
import pstats
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import replace
from email.policy import compat32
from email.policy import default as POLICY

import pytest

from shared.errors import Unavailable
from shared.mail import BackgroundMailer, Email, MaildirMailer, SmtpMailer, compose, open_mailer
from shared.mail_html import Letterhead
from tests.maildir import read_mail
from tests.processes import free_port

EMAIL = Email(
    "ann@example.com",
    "Grüße & <more>",
    "Hello Zoë,\n\n1 < 2 & so on.",
    "https://shop.example/verify?token=a.B_c-d&x=1",
    "Confirm",
)


class MailServer(socketserver.ThreadingTCPServer):
    """Takes mail as a small real server does; refuses the first `refuse` e-mails for the moment."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, refuse: int = 0) -> None:
        self.emails: list[bytes] = []
        self.refuse = refuse
        super().__init__(("127.0.0.1", 0), Conversation)
        self.url = f"smtp://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"EHLO":
                self._say("250-here\r\n250 8BITMIME")
            elif verb == b"MAIL" and self.server.refuse > 0:
                self.server.refuse -= 1
                self._say("451 later")
            elif verb == b"DATA":
                self._say("354 go on")
                self.server.emails.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                self._say("250 taken")
            elif verb == b"QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        yield server
        server.shutdown()


def check(message: email.message.EmailMessage) -> None:
    assert (message["To"], message["Subject"]) == (EMAIL.to, EMAIL.subject)
    text, html = (message.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert "Hello Zoë," in text
    assert EMAIL.link in text
    assert f'<a href="{EMAIL.link.replace("&", "&amp;")}">Confirm</a>' in html
    assert "1 &lt; 2 &amp; so on." in html


def test_a_email_over_smtp(mail_server):
    SmtpMailer(mail_server.url).send(EMAIL)
    check(email.message_from_bytes(mail_server.emails[0], policy=POLICY))


def test_a_email_in_a_maildir(tmp_path):
    mailer = MaildirMailer(tmp_path / "deep" / "mail")
    mailer.send(EMAIL)
    mailer.send(Email("bob@example.com", "Another", "text"))
    [received] = read_mail(tmp_path / "deep" / "mail", "ANN@example.com")
    assert (received.to, received.subject) == (EMAIL.to, EMAIL.subject)
    assert EMAIL.link in received.text
    [file] = [path for path in (tmp_path / "deep" / "mail" / "new").iterdir() if b"ann@" in path.read_bytes()]
    assert EMAIL.link in file.read_text(), "whole in the file, for grep"
    assert len(read_mail(tmp_path / "deep" / "mail")) == 2
    assert read_mail(tmp_path / "nothing") == []


def test_a_email_with_a_key_that_goes_out_twice_is_the_same_mail():
    email = Email(to="ada@example.com", subject="Paid", text="Thanks.", key="order.42.payment")
    first, again = (compose(email)["Message-ID"] for _ in range(2))
    assert first == again == "<order.42.payment@aisle.example>"
    assert compose(replace(email, key=""))["Message-ID"] != compose(replace(email, key=""))["Message-ID"]


def test_a_subject_cannot_add_headers(tmp_path):
    MaildirMailer(tmp_path).send(Email("ann@example.com", "Hello\r\nBcc: eve@example.com", "text"))
    message = email.message_from_bytes(next((tmp_path / "new").iterdir()).read_bytes(), policy=POLICY)
    assert message["Bcc"] is None
    assert message["Subject"] == "Hello Bcc: eve@example.com"


def test_a_shop_name_with_accents_and_commas_is_one_sender():
    head = Letterhead("Müller & Söhne, Köln")
    message = email.message_from_bytes(compose(replace(EMAIL, head=head)).as_bytes(), policy=POLICY)
    [sender] = message["From"].addresses
    assert (sender.display_name, sender.addr_spec) == (head.name, "shop@aisle.example")


@pytest.mark.parametrize(
    "to", ["", "a@example.com, b@example.com", "a@example.com\nBcc: b@example.com", "ü@x.de"]
)
def test_an_email_goes_to_one_address(to):
    with pytest.raises(ValueError, match="one address"):
        compose(replace(EMAIL, to=to))


def test_composing_an_email_takes_few_calls():
    """Of an order three are composed: more calls than this are headers that are parsed again and again."""
    short = replace(EMAIL, subject="Your order A-100042 is paid", head=Letterhead("Ann's shop"))
    for written, most in ((EMAIL, 2000), (short, 1200)):
        compose(written).as_bytes()
        calls = profile.Profile()
        calls.runcall(lambda written=written: compose(written).as_bytes())
        assert pstats.Stats(calls).total_calls < most


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"subject": "Your order A-100042 is paid"},
        {"subject": "x" * 67},
        {"subject": "x" * 68},
        {"subject": "word " * 30},
        {"subject": ""},
        {"to": "a" * 60 + "@example.com"},
        {"to": "a" * 61 + "@" + "b" * 40 + ".example.com"},
        {"head": Letterhead("Ann's shop")},
        {"head": Letterhead("Müller & Söhne, Köln")},
        {"head": Letterhead("A shop with quite a long name, " * 4)},
        {"key": "order.42.payment"},
        {"key": "order." + "4" * 80},
        {"language": "de"},
    ],
)
def test_an_email_is_written_as_the_standard_library_writes_it(changes):
    message = compose(replace(EMAIL, **changes))
    assert message.as_bytes() == message.as_bytes(policy=compat32.clone(mangle_from_=False))


def test_no_mail_server_is_unavailable():
    with pytest.raises(Unavailable):
        SmtpMailer(f"smtp://127.0.0.1:{free_port()}").send(EMAIL)


def test_nobody_waits_and_a_refused_email_is_tried_again(mail_server):
    mail_server.refuse = 2
    mailer = BackgroundMailer(SmtpMailer(mail_server.url), pauses=(0.3, 0.3))
    mailer.send(EMAIL)
    assert mail_server.emails == []
    mailer.close(60)
    assert len(mail_server.emails) == 1


def test_what_waits_at_the_end_is_sent(mail_server):
    mailer = BackgroundMailer(SmtpMailer(mail_server.url))
    for _ in range(5):
        mailer.send(EMAIL)
    mailer.close(60)
    assert len(mail_server.emails) == 5


def test_neither_smtp_nor_maildir_is_an_error():
    with pytest.raises(ValueError, match="SMTP_URL"):
        open_mailer()
