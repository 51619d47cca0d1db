"""Settings of the products service, one line per environment variable; its jobs read the same ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from shared.couch import LANGUAGES
from shared.customer_groups import MAX_PRICED_GROUPS, problems_of_groups
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES
from shared.settings import DatabaseSettings, setting

MIN_STOCK_HISTORY_DAYS = 120


@dataclass(frozen=True, kw_only=True)
class Settings(DatabaseSettings):
    """What the products service and its jobs read."""

    orders_url: str = setting(
        "ORDERS_URL", help="the orders service (who bought what)", local_default="http://127.0.0.1:8003"
    )
    currencies: tuple[str, ...] = setting(
        "CURRENCIES",
        (),
        "what the shop sells in, with commas: prices are shown in the first unless another is asked for (`GBP,EUR`); empty: each "
        "product's price in its own currency",
        choices=sorted(CURRENCIES),
    )
    low_stock: int = setting("LOW_STOCK", 5, "a product with at most so many left is on the low-stock list")
    backorders: bool = setting(
        "BACKORDERS",
        False,
        "sell goods beyond their stock, and send them when they are here again, where a product or variant says nothing else",
    )
    stock_history_days: int = setting(
        "STOCK_HISTORY_DAYS",
        400,
        "stock movements older than this become one total for each thousand, and what was reserved with them goes; 0: never. For the worker",
    )
    menu_seconds: int = setting(
        "MENU_SECONDS", 300, "the category menu is counted anew after so many seconds at the latest"
    )
    languages: tuple[str, ...] = setting(
        "LANGUAGES",
        (),
        "what names and descriptions are in, with commas (`en,de`): the shop's own first, then those that products are translated into. Words are "
        f"searched by the rules of {', '.join(LANGUAGES)}, in other languages as they are. For `services.prepare`, the worker and the storefront too; empty: SEARCH_LANGUAGE alone",
    )
    customer_groups: tuple[str, ...] = setting(
        "CUSTOMER_GROUPS",
        (),
        f"the customer groups, with commas, {MAX_PRICED_GROUPS} at most, by whose prices lists are sorted, filtered and counted for their members (`trade`); members of others "
        "see their prices in lists that are in everybody's order. For `services.prepare` and the worker too",
    )
    search_language: str = setting(
        "SEARCH_LANGUAGE",
        "en",
        f"the language of names and descriptions ({', '.join(LANGUAGES)}) of a shop in one language, for `services.prepare` and the worker too",
        choices=tuple(LANGUAGES),
    )
    searches_shown_from: int = setting(
        "SEARCHES_SHOWN_FROM",
        3,
        "a query is suggested to others, and listed at the desk, when so many people searched for it",
    )
    sync_wait_seconds: int = setting(
        "SYNC_WAIT_SECONDS",
        20,
        "so long a device's question what changed waits for something, without a thread",
    )
    sync_waiting: int = setting(
        "SYNC_WAITING", 500, "devices that wait so per process; more are told to come again (503)"
    )
    picture_networks: str = setting(
        "PICTURE_NETWORKS",
        "",
        "private networks (such as 10.1.0.0/16, several with spaces) from which an import may fetch pictures; else only public addresses are asked",
    )
    picture_bytes: int = setting("PICTURE_BYTES", 5_000_000, "the largest picture taken")

    def contradictions(self) -> Iterator[str]:
        yield from super().contradictions()
        if wrong := [each for each in self.languages if not re.fullmatch(LANGUAGE, each)]:
            yield f"LANGUAGES has {wrong[0]!r}, which is no language's code such as de or pt-BR."

        yield from problems_of_groups(self.customer_groups)
        if 0 < self.stock_history_days < MIN_STOCK_HISTORY_DAYS:
            yield f"STOCK_HISTORY_DAYS is {self.stock_history_days}: give 0 or at least {MIN_STOCK_HISTORY_DAYS}, orders of that age are still looked after."

    @property
    def priced_groups(self) -> tuple[str, ...]:
        """The customer groups by whose prices lists are sorted."""
        return tuple(dict.fromkeys(self.customer_groups))

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The languages of the shop, its own first."""
        return tuple(dict.fromkeys(self.languages)) or (self.search_language,)
