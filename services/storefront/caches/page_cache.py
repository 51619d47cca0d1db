"""Finished pages that are the same for everybody, each with the answers that it was drawn from."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

import brotli
from flask import Response

ENTRY_BYTES: Final = 2000
"""About what an entry takes besides its page."""
MAX_ADDRESS: Final = 2000


class PublicAddress(NamedTuple):
    """What a page for everybody may depend on, of all that a request holds. See `public_address`."""

    site: str
    path: str
    query: str
    encoding: str | None
    currency: str = ""
    language: str = ""


class Freshness(Protocol):
    """How to tell, without asking a service, whether a page still shows what is there."""

    def is_current(self) -> bool: ...


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


class SentPage(NamedTuple):
    """An answer that was sent before, to be sent again as it is."""

    route: str
    headers: Sequence[tuple[str, str]]
    body: bytes


@dataclass
class _Stored:
    """A page that is not encoded for its browser is kept compressed: most of it repeats."""

    answers: tuple[object, ...]
    page: PublicPage
    compressed: bool
    freshness: Freshness | None = None
    route: str = ""
    headers: Sequence[tuple[str, str]] = ()
    """Those of the whole answer, once it was sent."""

    @classmethod
    def of(cls, answers: tuple[object, ...], page: PublicPage) -> "_Stored":
        if page.encoding is not None:
            return cls(answers, page, compressed=False)
        body = brotli.compress(page.body, quality=1)  # as small as by zlib, in half its time
        return cls(answers, replace(page, body=body), compressed=True)

    @property
    def body(self) -> bytes:
        return brotli.decompress(self.page.body) if self.compressed else self.page.body

    def opened(self) -> PublicPage:
        return replace(self.page, body=self.body)

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

    def get_current(self, menu: Callable[[], object], address: PublicAddress) -> PublicPage | None:
        """The page that shows what is still there; `menu` is asked for once that is known."""
        found = self._current(menu, address)
        return None if found is None else found.opened()

    def get_sent(self, menu: Callable[[], object], address: PublicAddress) -> SentPage | None:
        """The same, as it was sent."""
        found = self._current(menu, address)
        return SentPage(found.route, found.headers, found.body) if found and found.headers else None

    def note_sent(
        self, address: PublicAddress, etag: str, route: str, headers: Sequence[tuple[str, str]]
    ) -> None:
        """How the page with this ETag went out from here."""
        with self._lock:
            found = self._stored.get(address)
            if found is not None and found.page.etag == etag:
                found.route, found.headers = route, tuple(headers)

    def _current(self, menu: Callable[[], object], address: PublicAddress) -> _Stored | None:
        found = self._stored.get(address)
        freshness = found.freshness if found is not None else None
        if freshness is None or not freshness.is_current():
            return None
        shown = menu()
        with self._lock:
            if shown is not self._menu or self._stored.get(address) is not found:
                return None
            self._stored.move_to_end(address)
        return found

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
