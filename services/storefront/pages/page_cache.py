"""Finished pages that are the same for everybody, each with the answers that it was drawn from."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
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
class _Kept:
    answers: tuple[object, ...]
    page: PublicPage

    @property
    def size(self) -> int:
        return len(self.page.body) + ENTRY_BYTES


class PublicPages:
    """One page for each address, `max_bytes` in all; the least recently used ones go first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._kept: OrderedDict[PublicAddress, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, address: PublicAddress, answers: tuple[object, ...]) -> PublicPage | None:
        """The page drawn from these answers: equal bytes, and the very same objects."""
        with self._lock:
            found = self._kept.get(address)
            if found is None or not _same(found.answers, answers):
                return None
            self._kept.move_to_end(address)
            return found.page

    def put(self, address: PublicAddress, answers: tuple[object, ...], page: PublicPage) -> None:
        kept = _Kept(answers, page)
        if len(address.path) + len(address.query) + len(address.site) > MAX_ADDRESS:
            return
        with self._lock:
            before = self._kept.pop(address, None)
            self._bytes += kept.size - (before.size if before else 0)
            self._kept[address] = kept
            while self._bytes > self._max_bytes:
                self._bytes -= self._kept.popitem(last=False)[1].size


def _same(ones: tuple[object, ...], others: tuple[object, ...]) -> bool:
    return len(ones) == len(others) and all(
        one is other or (isinstance(one, bytes) and one == other)
        for one, other in zip(ones, others, strict=True)
    )
