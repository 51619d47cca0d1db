"""What the storefront reads from its environment."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.storefront.translation import FOLDER, SOURCE_LANGUAGE, available_languages
from shared.money import CURRENCIES
from shared.settings import WebSettings, setting


@dataclass(frozen=True, kw_only=True)
class Settings(WebSettings):
    products_url: str = setting(
        "PRODUCTS_URL", help="the products service", local_default="http://127.0.0.1:8002"
    )
    orders_url: str = setting("ORDERS_URL", help="the orders service", local_default="http://127.0.0.1:8003")
    currencies: tuple[str, ...] = setting(
        "CURRENCIES",
        (),
        "the same as the products service has: pages are in the first until a visitor chooses another",
        choices=sorted(CURRENCIES),
    )
    languages: tuple[str, ...] = setting(
        "LANGUAGES",
        (SOURCE_LANGUAGE,),
        "what the pages are in, with commas (`en,de`): the first for browsers that prefer none of them",
    )
    translations_dir: str = setting(
        "TRANSLATIONS_DIR",
        "",
        "folder of catalogues of your own, `LANGUAGE/LC_MESSAGES/messages.po`; empty: those that come with the storefront",
    )
    secure_cookies: bool = setting("SECURE_COOKIES", True, "cookies over HTTPS only", local_default=False)
    session_days: int = setting("SESSION_DAYS", 30, "how long a browser stays logged in")
    proxy_hops: int = setting(
        "PROXY_HOPS", 0, "reverse proxies in front whose X-Forwarded headers are believed"
    )
    image_origins: str = setting(
        "IMAGE_ORIGINS", "", "other origins pictures may come from, separated by spaces"
    )
    picture_bytes: int = setting(
        "PICTURE_BYTES",
        5_000_000,
        "the largest picture uploaded at the desk; what the products service takes",
    )
    kept_picture_bytes: int = setting(
        "KEPT_PICTURE_BYTES",
        20_000_000,
        "how much of the pictures of kept departments a customer's device fetches ahead; 0: none",
    )
    media_dir: str = setting("MEDIA_DIR", "", "folder behind `/media`, the sample shop's pictures")
    mail_dir: str = setting("MAIL_DIR", "", "Maildir shown at `/mailbox` (local mode only)")
    menu_seconds: float = setting(
        "STOREFRONT_MENU_SECONDS",
        10.0,
        "after so long the menu and the home page's goods are asked for again",
    )
    page_seconds: int = setting(
        "PAGE_CACHE_SECONDS",
        5,
        "how long a CDN may keep a page that is the same for everybody; 0: not at all, nor does the storefront",
    )
    redraw_seconds: int = setting(
        "PAGE_REDRAW_SECONDS",
        30,
        "how long the storefront sends such a page again while nothing that it shows changes",
    )
    page_cache_bytes: int = setting(
        "PAGE_CACHE_BYTES",
        8_000_000,
        "memory for finished pages that are the same for everybody, in each process",
    )
    payment_providers: tuple[str, ...] = setting(
        "PAYMENT_PROVIDERS", help="the same as the orders service has", local_default=("sandbox",)
    )
    payment_provider: str = setting(
        "PAYMENT_PROVIDER",
        "",
        help="the one of them that checkout pays with; empty: the first",
        choices=("sandbox", "stripe", "paypal"),
    )
    label_provider: str = setting(
        "LABEL_PROVIDER",
        "",
        "the same as the orders service has: with one the desk offers to buy labels",
        choices=("", "easypost"),
    )
    payment_page_origins: str = setting(
        "PAYMENT_PAGE_ORIGINS",
        "",
        "where the provider's payment page is, if not at its own address (a domain of yours there); separated by spaces",
    )

    @property
    def pays_with(self) -> str:
        """The provider of the checkout page."""
        return self.payment_provider or self.payment_providers[0]

    @property
    def catalogues(self) -> Path:
        """The folder of the languages' catalogues."""
        return Path(self.translations_dir) if self.translations_dir else FOLDER

    def contradictions(self) -> Iterator[str]:
        yield from super().contradictions()
        yield from self._unknown_languages()
        if not self.payment_providers:
            yield "PAYMENT_PROVIDERS names no provider."
        elif self.pays_with not in self.payment_providers:
            yield (
                f"PAYMENT_PROVIDER is {self.payment_provider!r}, which is not among PAYMENT_PROVIDERS: "
                "checkout would pay with what the orders service does not take."
            )

    def _unknown_languages(self) -> Iterator[str]:
        known = available_languages(self.catalogues)
        if not self.languages:
            yield "LANGUAGES names no language."
        elif unknown := [code for code in self.languages if code not in known]:
            yield f"LANGUAGES names {', '.join(unknown)}: there are catalogues for {', '.join(known)} only."

    def warnings(self) -> Iterator[str]:
        if not self.local and self.pays_with == "sandbox":
            yield "PAYMENT_PROVIDER is sandbox: checkout offers test cards, and nobody pays"
