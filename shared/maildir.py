"""A Maildir: mail is delivered into files whose names say when and for whom, so that a page of it opens only what it shows."""

import email
import hashlib
import itertools
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.policy import default as POLICY
from pathlib import Path
from typing import NamedTuple

PARTS = ("new", "cur", "tmp")
"""In the order in which they are made: where the last one is, the others are."""
_NAME = re.compile(
    r"(?P<seconds>[0-9]{1,12})\.M(?P<micros>[0-9]{1,6})P[0-9]+Q(?P<number>[0-9]+)(?:R(?P<recipient>[0-9a-f]{16}))?\."
)
_number = itertools.count(1)


@dataclass(frozen=True)
class Received:
    """A mail found in the Maildir."""

    id: str
    date: str
    to: str
    subject: str
    text: str
    html: str


class Page(NamedTuple):
    """Mails, newest first; `next` is the id that the following page comes after, None on the last one."""

    items: list[Received]
    next: str | None


def deliver(directory: Path, mail: bytes, to: str) -> None:
    """Writes a mail for `to` completely before it appears in `new`, as the Maildir specification asks."""
    seconds, nanos = divmod(time.time_ns(), 10**9)
    host = re.sub("[^A-Za-z0-9-]", "-", socket.gethostname())
    name = f"{seconds}.M{nanos // 1000:06d}P{os.getpid()}Q{next(_number)}R{_digest(to)}.{host}"
    written = directory / "tmp" / name
    try:
        _write(written, mail)
    except FileNotFoundError:
        for part in PARTS:
            (directory / part).mkdir(parents=True, exist_ok=True)
        _write(written, mail)
    written.rename(directory / "new" / name)


def read_page(directory: Path, *, to: str = "", after: str = "", limit: int = 20) -> Page:
    """Up to `limit` mails, for one recipient when `to` is given, older than the mail `after`. Opens what it returns, and
    of mails that another program delivered those before.
    """
    found: list[Received] = []
    for path in _newest_first(directory, after):
        if to and not _may_be_for(path, to):
            continue
        if len(found) == limit:
            return Page(found, found[-1].id)
        received = _received(path)
        if not to or received.to.lower() == to.lower():
            found.append(received)
    return Page(found, None)


def read_one(directory: Path, id: str) -> Received | None:
    """The mail with this id."""
    return next((_received(path) for path in _files(directory) if _id(path) == id), None)


def _write(path: Path, mail: bytes) -> None:
    with path.open("xb") as file:
        file.write(mail)
        file.flush()
        os.fsync(file.fileno())


def _files(directory: Path) -> Iterator[Path]:
    for part in ("new", "cur"):
        if (directory / part).is_dir():
            yield from (directory / part).iterdir()


def _newest_first(directory: Path, after: str) -> list[Path]:
    paths = sorted(_files(directory), key=lambda path: _order(path.name), reverse=True)
    return [path for path in paths if _order(path.name) < _order(after)] if after else paths


def _order(name: str) -> tuple[int, int, int, str]:
    """By the moment in the name; a foreign name without one is the oldest."""
    found = _NAME.match(name)
    moment = (int(found["seconds"]), int(found["micros"]), int(found["number"])) if found else (0, 0, 0)
    return (*moment, name.partition(":")[0])


def _may_be_for(path: Path, to: str) -> bool:
    found = _NAME.match(path.name)
    return found is None or found["recipient"] in (None, _digest(to))


def _digest(to: str) -> str:
    return hashlib.sha256(to.strip().lower().encode()).hexdigest()[:16]


def _id(path: Path) -> str:
    return path.name.partition(":")[0]


def _received(path: Path) -> Received:
    message = email.message_from_bytes(path.read_bytes(), policy=POLICY)
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    return Received(
        id=_id(path),
        date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(path.stat().st_mtime)),
        to=str(message["To"]),
        subject=str(message["Subject"]),
        text=text.get_content() if text else "",
        html=html.get_content() if html else "",
    )
