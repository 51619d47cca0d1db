"""Finished pages that are the same for everybody, each with the answers that it was drawn from."""

import threading
import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from flask import Response

ENTRY_BYTES: Final = 1000
"""About what an entry takes besides its page."""
MAX_ADDRESS: Final = 2000


class PublicAddress(NamedTuple):
    """What a page for everybody may depend on, of all that a request holds. See `public_address`."""

    site: str
    path: str
    query: bytes
    encoding: str | None


class Freshness(NamedTuple):
    """The versions of what a page shows (see `shared.cache_tags`), read at this moment, before anything was asked for it."""

    versions: tuple[str, ...]
    read_at: float


@dataclass(frozen=True)
class PublicPage:
    """A page as it is sent, with the ETag of its text; `age` in seconds when it is sent without asking anybody."""

    body: bytes
    etag: str
    encoding: str | None
    age: int | None = None

    def response(self) -> Response:
        response = Response(self.body, mimetype="text/html")
        response.headers["ETag"] = self.etag
        if self.encoding is not None:
            response.headers["Content-Encoding"] = self.encoding
        if self.age is not None:
            response.headers["Age"] = str(self.age)
        return response


@dataclass
class _Stored:
    """A page that is not encoded for its browser is kept compressed: most of it repeats."""

    answers: tuple[object, ...]
    page: PublicPage
    compressed: bool
    freshness: Freshness | None = None

    @classmethod
    def of(cls, answers: tuple[object, ...], page: PublicPage) -> "_Stored":
        if page.encoding is not None:
            return cls(answers, page, compressed=False)
        return cls(answers, replace(page, body=zlib.compress(page.body, 1)), compressed=True)

    def opened(self, age: int | None = None) -> PublicPage:
        body = zlib.decompress(self.page.body) if self.compressed else self.page.body
        return replace(self.page, body=body, age=age)

    @property
    def size(self) -> int:
        return len(self.page.body) + ENTRY_BYTES


class PublicPages:
    """One page for each address, `max_bytes` in all; the least recently used ones go first.

    All are drawn with the same `menu`: with another one nothing that is here can be shown again.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._menu: object = None
        self._stored: OrderedDict[PublicAddress, _Stored] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self,
        menu: object,
        address: PublicAddress,
        answers: tuple[object, ...],
        freshness: Freshness | None = None,
    ) -> PublicPage | None:
        """The page drawn with this menu and from these answers, equal bytes and the very same objects; it is as fresh as they are."""
        with self._lock:
            found = self._stored.get(address) if menu is self._menu else None
            if found is None or not _same(found.answers, answers):
                return None
            found.freshness = freshness
            self._stored.move_to_end(address)
        return found.opened()

    def get_fresh(
        self, menu: object, address: PublicAddress, versions: tuple[str, ...], seconds: float
    ) -> PublicPage | None:
        """The page drawn with this menu that is not older than `seconds`, and shows nothing that has changed since."""
        with self._lock:
            found = self._stored.get(address) if menu is self._menu else None
            if found is None or found.freshness is None or found.freshness.versions != versions:
                return None
            age = time.monotonic() - found.freshness.read_at
            if age >= seconds:
                return None
            self._stored.move_to_end(address)
        return found.opened(int(age))

    def put(
        self,
        menu: object,
        address: PublicAddress,
        answers: tuple[object, ...],
        page: PublicPage,
        freshness: Freshness | None = None,
    ) -> None:
        if len(address.path) + len(address.query) + len(address.site) > MAX_ADDRESS:
            return
        stored = _Stored.of(answers, page)
        stored.freshness = freshness
        with self._lock:
            if menu is not self._menu:
                self._stored.clear()
                self._menu, self._bytes = menu, 0
            before = self._stored.pop(address, None)
            self._bytes += stored.size - (before.size if before else 0)
            self._stored[address] = stored
            while self._bytes > self._max_bytes:
                self._bytes -= self._stored.popitem(last=False)[1].size


def _same(ones: tuple[object, ...], others: tuple[object, ...]) -> bool:
    return len(ones) == len(others) and all(
        one is other or (isinstance(one, bytes) and one == other)
        for one, other in zip(ones, others, strict=True)
    )
