"""Finished pages that are the same for everybody, each with the answers that it was drawn from."""

import threading
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


@dataclass(frozen=True)
class PublicPage:
    """A page as it is sent, with the ETag of its text."""

    body: bytes
    etag: str
    encoding: str | None

    def response(self) -> Response:
        response = Response(self.body, mimetype="text/html")
        response.headers["ETag"] = self.etag
        if self.encoding is not None:
            response.headers["Content-Encoding"] = self.encoding
        return response


@dataclass(frozen=True)
class _Stored:
    """A page that is not encoded for its browser is kept compressed: most of it repeats."""

    answers: tuple[object, ...]
    page: PublicPage
    compressed: bool

    @classmethod
    def of(cls, answers: tuple[object, ...], page: PublicPage) -> "_Stored":
        if page.encoding is not None:
            return cls(answers, page, compressed=False)
        return cls(answers, replace(page, body=zlib.compress(page.body, 1)), compressed=True)

    def opened(self) -> PublicPage:
        return replace(self.page, body=zlib.decompress(self.page.body)) if self.compressed else self.page

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

    def get(self, menu: object, address: PublicAddress, answers: tuple[object, ...]) -> PublicPage | None:
        """The page drawn with this menu and from these answers: equal bytes, and the very same objects."""
        with self._lock:
            found = self._stored.get(address) if menu is self._menu else None
            if found is None or not _same(found.answers, answers):
                return None
            self._stored.move_to_end(address)
        return found.opened()

    def put(
        self, menu: object, address: PublicAddress, answers: tuple[object, ...], page: PublicPage
    ) -> None:
        if len(address.path) + len(address.query) + len(address.site) > MAX_ADDRESS:
            return
        stored = _Stored.of(answers, page)
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
