"""Mail the shop sends: text and HTML, by SMTP in production, into a Maildir on a laptop (which can be read back)."""

import atexit
import logging
import smtplib
import ssl
import time
from dataclasses import dataclass
from email.header import Header
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.policy import Compat32
from email.utils import formataddr, formatdate, make_msgid, parseaddr
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from shared.errors import Unavailable
from shared.mail_html import Content, Letterhead, html_of
from shared.maildir import deliver
from shared.translation import SOURCE_LANGUAGE

log = logging.getLogger(__name__)

DOMAIN = "aisle.example"
SENDER = f"shop@{DOMAIN}"
LINE: Final = 78
FIRST_SUBJECT_LINE: Final = 67


class LeanPolicy(Compat32):
    """The newer policies parse every header again as it is set and written, which costs more than all else that is done for an e-mail;
    and what fits into one line needs nobody who looks where it can be broken."""

    def fold_binary(self, name: str, value: str) -> bytes:
        fits = isinstance(value, str) and len(name) + len(value) + 2 <= LINE
        if fits and value.isascii() and value.isprintable():
            return f"{name}: {value}{self.linesep}".encode()
        return super().fold_binary(name, value)


_POLICY: Final = LeanPolicy(mangle_from_=False)


@dataclass(frozen=True)
class Email:
    """A mail before it is sent. `link` becomes a button in the HTML part and a line of its own in the text; `rows` of a name and an
    amount stand between `text` and `closing`.

    An e-mail with a `key` has the same Message-ID whenever it is sent: one that goes out twice is one in most mailboxes.
    """

    to: str
    subject: str
    text: str
    link: str = ""
    link_label: str = ""
    key: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    closing: str = ""
    language: str = SOURCE_LANGUAGE
    direction: str = "ltr"
    head: Letterhead = Letterhead()

    @property
    def plain(self) -> str:
        """All of it as text."""
        rows = "\n".join(f"{name}  {amount}" for name, amount in self.rows)
        return "\n\n".join(part for part in (self.text, rows, self.closing, self.link) if part) + "\n"

    @property
    def html(self) -> str:
        content = Content(self.subject, self.text, self.rows, self.closing, self.link, self.link_label)
        return html_of(content, self.language, self.direction, self.head)


class Mailer(Protocol):
    """Sends an e-mail, or raises Unavailable."""

    def send(self, email: Email) -> None: ...


class MaildirMailer:
    """Writes each e-mail into a Maildir, where it can be read in the mailbox page."""

    def __init__(self, directory: Path, sender: str = SENDER) -> None:
        self._directory, self._sender = Path(directory), sender

    def send(self, email: Email) -> None:
        deliver(self._directory, compose(email, self._sender).as_bytes(), email.to)


class SmtpMailer:
    """Sends by SMTP: `smtp://user:password@host:587` (STARTTLS when offered) or `smtps://...:465`."""

    def __init__(self, url: str, sender: str = SENDER, *, timeout: float = 10) -> None:
        self._url, self._sender, self._timeout = urlsplit(url), sender, timeout

    def send(self, email: Email) -> None:
        try:
            with self._connect() as server:
                if self._url.username:
                    server.login(unquote(self._url.username), unquote(self._url.password or ""))
                options = ["BODY=8BITMIME"] if server.has_extn("8bitmime") else []
                server.send_message(compose(email, self._sender), mail_options=options)
        except (OSError, smtplib.SMTPException) as error:
            raise Unavailable("The mail server does not take mail just now.", retry_after=30) from error

    def _connect(self) -> smtplib.SMTP:
        host, tls = self._url.hostname or "localhost", ssl.create_default_context()
        if self._url.scheme == "smtps":
            return smtplib.SMTP_SSL(host, self._url.port or 465, timeout=self._timeout, context=tls)
        server = smtplib.SMTP(host, self._url.port or 25, timeout=self._timeout)
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=tls)
        return server


class BackgroundMailer:
    """Hands e-mails to another mailer on a thread of its own: no request waits for a mail server or tells by its time
    that an e-mail was written. An e-mail that is refused is tried again, and what is left at exit is sent before it.
    """

    def __init__(self, mailer: Mailer, *, pauses: tuple[float, ...] = (2, 10, 60)) -> None:
        self._mailer, self._pauses = mailer, pauses
        self._queue: SimpleQueue[Email | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._lock = Lock()

    def send(self, email: Email) -> None:
        self._queue.put(email)
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._work, name="mail", daemon=True)
                self._thread.start()
                atexit.register(self.close)

    def close(self, seconds: float = 1.5) -> None:
        """Sends what is waiting, for so many seconds at most."""
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        while (email := self._queue.get()) is not None:
            self._deliver(email)

    def _deliver(self, email: Email) -> None:
        for pause in (*self._pauses, None):
            try:
                return self._mailer.send(email)
            except (Unavailable, OSError) as error:
                log.warning("an e-mail was not taken: %s", error)
            if pause is not None:
                time.sleep(pause)
        log.error("an e-mail was given up; its recipient can ask for another")


def open_mailer(mail_dir: Path | str = "", smtp_url: str = "", sender: str = SENDER) -> Mailer:
    """The mailer the settings ask for; `smtp_url` wins. Raises ValueError when neither is set."""
    if smtp_url:
        return SmtpMailer(smtp_url, sender)
    if mail_dir:
        return MaildirMailer(Path(mail_dir), sender)
    raise ValueError("Set SMTP_URL (or MAIL_DIR on a laptop): the shop must be able to send mail.")


def compose(email: Email, sender: str = SENDER) -> Message:
    """The MIME message of an e-mail: text first, HTML as its alternative. Raises ValueError for a recipient that is no address."""
    message = MIMEMultipart("alternative", uuid4().hex, policy=_POLICY)
    message["From"] = _from(sender, email.head.name)
    message["To"] = _address(email.to)
    message["Subject"] = _one_line(email.subject)
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = f"<{email.key}@{DOMAIN}>" if email.key else make_msgid(domain=DOMAIN)
    if email.language != SOURCE_LANGUAGE:
        message["Content-Language"] = email.language
    message.attach(_part("plain", email.plain))
    message.attach(_part("html", email.html))
    return message


def _part(kind: str, text: str) -> Message:
    """Not encoded further: a link stays whole for grep and for people."""
    part = Message(policy=_POLICY)
    part["Content-Type"] = f'text/{kind}; charset="utf-8"'
    part["Content-Transfer-Encoding"] = "7bit" if text.isascii() else "8bit"
    part.set_payload(text.encode().decode("ascii", "surrogateescape"))
    return part


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= FIRST_SUBJECT_LINE and line.isascii():
        return line
    return Header(line, "us-ascii" if line.isascii() else "utf-8", header_name="Subject").encode()


def _address(to: str) -> str:
    if not to or not to.isascii() or not to.isprintable() or set(to) & set(" ,;<>"):
        raise ValueError("An e-mail goes to one address, like name@example.com.")
    return to


@lru_cache(64)
def _from(sender: str, shop: str) -> str:
    """The shop's address with its name, unless the address has one already."""
    name, address = parseaddr(sender)
    return formataddr((" ".join(shop.split()), address)) if shop and address and not name else sender
