"""What every visitor sees alike: the category menu, and the goods in the window."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent import futures
from functools import partial
from typing import Any, NamedTuple

from services.storefront.clients import Orders, Products
from services.storefront.rules import taxonomy
from shared.background import Background
from shared.cache_tags import TERMS, CacheTags, is_settled
from shared.errors import AisleError, Unavailable
from shared.types import Json

log = logging.getLogger(__name__)

MENU_DEPTH = 6
SHIPPING_SECONDS = 4.0
WINDOW = {"sort": "rating", "limit": 100}
WINDOW_SIZE = 10
MAX_GROUP_WINDOWS = 50
RETRY_SECONDS = 3.0
WAIT_SECONDS = 0.5
"""A page waits so long for an answer that something has changed, then shows the last one."""
PAUSE, MAX_PAUSE = 9, 1.0
"""Times as long as an answer took, and seconds."""


class CachedAnswer:
    """An answer that many pages show: asked for again every `seconds` in the background of the pages, which show the last one meanwhile.

    While its service is away the last answer stays, and is asked for again soon, like an empty one (a shop that is just
    being filled). Raises only when there never was an answer.
    """

    def __init__(self, fetch: Callable[[], Any], seconds: float, background: Background) -> None:
        self._fetch, self._seconds, self._background = fetch, seconds, background
        self._answer: Any = None
        self._error: AisleError | None = None
        self._until, self._invalidated = 0.0, False
        self._pause_until = 0.0
        self._lock = threading.Lock()

    def get(self) -> Any:
        first = self._answer is None and self._error is None
        if time.monotonic() >= self._until and self._lock.acquire(blocking=first):
            if time.monotonic() < self._until:
                self._lock.release()
            elif self._answer is None:
                self._renew()
            else:
                wait = WAIT_SECONDS if self._invalidated else 0
                futures.wait([self._background.run(self._renew)], timeout=wait)
        if self._answer is None:
            raise Unavailable("The shop cannot show its catalogue just now.", retry_after=3) from self._error
        return self._answer

    def invalidate(self) -> None:
        """Ask again before the next page, which waits WAIT_SECONDS at most."""
        self._until, self._invalidated = 0.0, True

    def outdated(self) -> None:
        """The same, but while much is changing, only a tenth of the time is spent with asking."""
        self._until, self._invalidated = self._pause_until, True

    def _renew(self) -> None:
        """Called with the lock held; releases it."""
        began = time.monotonic()
        try:
            self._invalidated = False
            answer, self._error = self._fetch(), None
            if (
                answer != self._answer
            ):  # the same answer stays the same object: what was drawn from it is still good
                self._answer = answer
        except AisleError as error:
            log.warning("showing the last answer known: %s", error)
            self._error = error
        finally:
            good = self._answer and self._error is None
            ended = time.monotonic()
            self._pause_until = ended + min(PAUSE * (ended - began), MAX_PAUSE)
            again = ended + (self._seconds if good else RETRY_SECONDS)
            self._until = self._pause_until if self._invalidated else again
            self._lock.release()


class AnswerOfTerms:
    """What orders answers of the terms of sale: asked for again after a change of them."""

    def __init__(self, fetch: Callable[[], Json], cache_tags: CacheTags, background: Background) -> None:
        self._answer = CachedAnswer(fetch, SHIPPING_SECONDS, background)
        self._cache_tags = cache_tags
        self._versions: tuple[str, ...] | None = None

    def get(self, otherwise: Json) -> Json:
        """`otherwise` while orders has never answered."""
        versions = self._cache_tags.versions((TERMS,))
        if versions is None or versions != self._versions or not is_settled(versions):
            self._versions = versions
            self._answer.outdated()
        try:
            found: Json = self._answer.get()
            return found
        except AisleError:
            return otherwise


class ShippingMethods:
    """How the shop delivers, as pages show it before checkout."""

    def __init__(self, orders: Orders, cache_tags: CacheTags, background: Background) -> None:
        self._answer = AnswerOfTerms(orders.shipping_methods, cache_tags, background)

    def get(self) -> Json:
        """{country, countries, items}; nothing is known while orders has never answered."""
        return self._answer.get({"country": "", "countries": [], "items": []})


class AutomaticPromotions:
    """Whether anything lowers prices by itself, so that a basket asks what."""

    def __init__(self, orders: Orders, cache_tags: CacheTags, background: Background) -> None:
        self._answer = AnswerOfTerms(orders.automatic_promotions, cache_tags, background)

    def exist(self) -> bool:
        """False while orders has never answered."""
        return bool(self._answer.get({"items": []})["items"])


class WindowPlace(NamedTuple):
    """For whom goods are shown in the window: in a currency, to a customer group, in a language."""

    currency: str
    group: str
    language: str


class CatalogueCache:
    """What every visitor sees alike: the category menu, and the goods in the window."""

    def __init__(
        self,
        products: Products,
        seconds: float,
        background: Background,
        currencies: Sequence[str] = (),
        translations: Sequence[str] = (),
    ) -> None:
        """`translations`: the languages of the shop besides its own."""
        languages = ("", *translations)

        def fetch_menus() -> dict[str, taxonomy.Menu]:
            return {each: taxonomy.menu(products.categories(MENU_DEPTH, each)) for each in languages}

        def fetch(place: WindowPlace) -> list[Json]:
            params = WINDOW | ({"currency": place.currency} if place.currency else {})
            found = products.search(params, place.group, place.language)
            return taxonomy.deduplicate(found["items"], WINDOW_SIZE)

        def window(place: WindowPlace) -> CachedAnswer:
            return CachedAnswer(partial(fetch, place), seconds, background)

        self._menus = CachedAnswer(fetch_menus, seconds, background)
        self._new_window, self._lock = window, threading.Lock()
        places = [WindowPlace(each, "", language) for each in currencies or ("",) for language in languages]
        self._windows = {place: window(place) for place in places}
        self._group_windows: OrderedDict[WindowPlace, CachedAnswer] = OrderedDict()
        self._version = ""

    def menus(self) -> dict[str, taxonomy.Menu]:
        """The departments by language, "" being the shop's own; none while products has never answered, since every page shows them."""
        try:
            found: dict[str, taxonomy.Menu] = self._menus.get()
            return found
        except AisleError:
            return {}

    def menu(self, language: str = "") -> taxonomy.Menu:
        """The departments, labelled in a language."""
        return self.menus().get(language) or taxonomy.Menu()

    def window(self, currency: str = "", group: str = "", language: str = "") -> list[Json]:
        """The best of each department, as far as it is sold in one of the shop's currencies, at the prices of a customer group.
        Raises Unavailable."""
        found: list[Json] = self._window(WindowPlace(currency, group, language)).get()
        return found

    def _window(self, place: WindowPlace) -> CachedAnswer:
        if not place.group:
            return self._windows[place]
        with self._lock:
            found = self._group_windows.get(place)
            if found is None:
                found = self._group_windows[place] = self._new_window(place)
                if len(self._group_windows) > MAX_GROUP_WINDOWS:
                    self._group_windows.popitem(last=False)
            self._group_windows.move_to_end(place)
        return found

    def _all_windows(self) -> list[CachedAnswer]:
        with self._lock:
            return [*self._windows.values(), *self._group_windows.values()]

    def invalidate(self) -> None:
        self._menus.invalidate()
        for window in self._all_windows():
            window.invalidate()

    def follow(self, version: str) -> None:
        """The catalogue's version as it is now: with another one than before both are asked for again."""
        if version != self._version:
            self._version = version
            self._menus.outdated()
            for window in self._all_windows():
                window.outdated()
