"""The shop's letterhead for e-mails, which the orders service knows: asked for once a minute."""

import logging
import time
from threading import Lock
from typing import Final

from services.users.clients.services import Orders
from shared.email_writer import letterhead_of
from shared.errors import Unavailable
from shared.mail_html import Letterhead

log = logging.getLogger(__name__)
MAX_AGE_SECONDS: Final = 60.0


class ShopLetterhead:
    """Callable from any thread. While the orders service is away, e-mails go out under what was known last, at first the name alone."""

    def __init__(self, orders: Orders, name: str, storefront_url: str) -> None:
        self._orders, self._storefront_url = orders, storefront_url
        self._known = Letterhead(name)
        self._ends = 0.0
        self._lock = Lock()

    def __call__(self) -> Letterhead:
        with self._lock:
            if time.monotonic() >= self._ends:
                self._ends = time.monotonic() + MAX_AGE_SECONDS
                self._known = self._asked()
            return self._known

    def _asked(self) -> Letterhead:
        try:
            shop = self._orders.shop()
        except Unavailable as error:
            log.warning("e-mails have no new letterhead: %s", error)
            return self._known
        return letterhead_of(shop["name"], shop["lines"], shop["logo"], self._storefront_url)
