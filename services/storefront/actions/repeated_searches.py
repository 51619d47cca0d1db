"""Searches that are answered from kept pages: the products service, which counts what customers search for, hears of them a second later."""

import atexit
import logging
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from services.storefront.clients.products import Products
from shared.errors import AisleError

SEND_SECONDS, MAX_BUFFERED = 1.0, 1000
SEARCH_PATH, MAX_QUERY = "/search", 200

log = logging.getLogger(__name__)


class RepeatedSearches:
    """Counted in memory until they are sent, at most MAX_BUFFERED a second; what cannot be sent is not counted."""

    def __init__(self, products: Products) -> None:
        self._products = products
        self._buffer: list[dict[str, str]] = []
        self._lock = threading.Lock()
        atexit.register(self._send)

    def note(self, environ: Mapping[str, Any]) -> None:
        """A request that a kept page answered; counted if it is a search by words alone, as the products service counts them."""
        if environ["PATH_INFO"] != SEARCH_PATH or environ["REQUEST_METHOD"] != "GET":
            return
        asked = parse_qs(environ["QUERY_STRING"], keep_blank_values=False)
        text = asked.get("q", [""])[0]
        if asked.keys() != {"q"} or not 1 <= len(text.strip()) <= MAX_QUERY:
            return
        with self._lock:
            first = not self._buffer
            if len(self._buffer) < MAX_BUFFERED:
                self._buffer.append({"q": text, "address": environ.get("REMOTE_ADDR", "")[:100]})
        if first:
            timer = threading.Timer(SEND_SECONDS, self._send)
            timer.daemon = True
            timer.start()

    def _send(self) -> None:
        with self._lock:
            searches, self._buffer = self._buffer, []
        if not searches:
            return
        try:
            self._products.count_searches(searches)
        except AisleError as error:
            log.warning("%s searches cannot be counted: %s", len(searches), error)
