"""What the actions work with: made once by `app.py` or the worker."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.orders.clients.couriers import COURIERS, Courier
from services.orders.clients.labels import LABEL_PROVIDERS, LabelProvider
from services.orders.clients.payments import HostedProvider, Provider
from services.orders.clients.providers import PROVIDERS
from services.orders.clients.rates import RATE_PROVIDERS, RateProvider
from services.orders.clients.services import Products, Users
from services.orders.clients.taxes import TAX_PROVIDERS, TaxProvider
from services.orders.declarations.order import Order
from services.orders.printing import Printer
from services.orders.rules.payment_pages import page_lifetime
from services.orders.rules.pricing import ReturnTerms, ShopIdentity, Terms, address_lines, initial_terms
from services.orders.rules.steps import Policy
from services.orders.settings import PARTS, Settings
from services.orders.store import (
    ArchiveStore,
    CreditStore,
    DeadLetterStore,
    DraftStore,
    InvoiceNumbers,
    OldRecords,
    OrderNumbers,
    OrderStore,
    PromotionStore,
    ProviderAnswers,
    ReportStore,
    SettingsStore,
    StallStore,
    Stores,
    SummaryStore,
    TermsCache,
    open_stores,
    terms_cache,
)
from shared.background import Background
from shared.cache_tags import CacheTags
from shared.client import ServiceClient
from shared.database import TIMEOUT
from shared.email_writer import EmailWriter, letterhead_of
from shared.errors import Conflict
from shared.limits import Limits
from shared.locks import Locks
from shared.mail import Mailer, open_mailer
from shared.mail_html import Letterhead
from shared.recent import Recent
from shared.redis import open_redis
from shared.translation import Language, translated_languages
from shared.waiting import Marks, marks_of_people

TRANSLATIONS: Final = Path(__file__).parent / "translations"


class ProviderNotConnected(Conflict):
    code, title = "provider_not_connected", "This payment provider is not connected"


@dataclass(frozen=True)
class Dependencies:
    """Passed to every action: stores, other services, payment, rate and tax providers, the courier, e-mail, the terms of sale."""

    settings: Settings
    stores: Stores
    users: Users
    products: Products
    providers: dict[str, Provider]
    rate_providers: dict[str, RateProvider]
    label_provider: LabelProvider | None
    tax_provider: TaxProvider | None
    courier: Courier
    mailer: Mailer
    limits: Limits
    recent: Recent
    """Orders that customers have just placed."""
    provider_answers: ProviderAnswers
    locks: Locks
    terms_cache: TermsCache
    cache_tags: CacheTags
    marks: Marks
    """Of people, whose devices wait for what becomes of their orders."""
    policy: Policy
    languages: dict[str, Language]
    printer: Printer

    @property
    def orders(self) -> OrderStore:
        return self.stores.orders

    @property
    def order_numbers(self) -> OrderNumbers:
        return self.stores.numbers

    @property
    def invoice_numbers(self) -> InvoiceNumbers:
        return self.stores.invoice_numbers

    @property
    def reports(self) -> ReportStore:
        return self.stores.reports

    @property
    def credits(self) -> CreditStore:
        return self.stores.credits

    @property
    def dead_letters(self) -> DeadLetterStore:
        return self.stores.dead_letters

    @property
    def drafts(self) -> DraftStore:
        return self.stores.drafts

    @property
    def old_records(self) -> OldRecords:
        return self.stores.old_records

    @property
    def archive(self) -> ArchiveStore:
        return self.stores.archive

    @property
    def stall(self) -> StallStore:
        return self.stores.stall

    @property
    def shop_settings(self) -> SettingsStore:
        return self.stores.settings

    @property
    def promotions(self) -> PromotionStore:
        return self.stores.promotions

    @property
    def summaries(self) -> SummaryStore:
        return self.stores.summaries

    @property
    def terms(self) -> Terms:
        """The terms of sale as they are now. No database call, but the first time in a process."""
        return self.terms_cache.required()

    @property
    def buys_labels(self) -> bool:
        """Whether a label is bought for each return that is approved."""
        return self.label_provider is not None and self.terms.returns.buys_labels

    def language(self, code: str) -> Language:
        """A language with what it calls things; one without a catalogue reads as the shop's first."""
        return self.languages.get(code) or next(iter(self.languages.values()))

    def language_of(self, order: Order) -> Language:
        """What the customer ordered in, else the shop's first."""
        return self.language(order.get("language") or "")

    @property
    def email(self) -> EmailWriter:
        """Writes e-mails of the shop as it is now."""
        return EmailWriter(self.settings.storefront_url, self._letterhead)

    def _letterhead(self) -> Letterhead:
        shop = self.terms.shop
        return letterhead_of(shop.name, shop.address, shop.logo, self.settings.storefront_url)

    def provider(self, name: str) -> Provider:
        """Raises ProviderNotConnected, for instance for a payment that came with an imported order."""
        if name not in self.providers:
            raise ProviderNotConnected(f"{name!r} is not among {', '.join(self.providers)}.")
        return self.providers[name]

    def hosted(self, name: str) -> HostedProvider:
        """The payment pages of a provider. Raises ProviderNotConnected for one that has none."""
        pages = self.provider(name).hosted
        if pages is None:
            raise ProviderNotConnected(f"{name!r} has no payment page: send a token.")
        return pages


def open_dependencies(settings: Settings, timeout: float = TIMEOUT) -> Dependencies:
    """Nothing is connected to yet. `timeout`: seconds that a database call may take."""
    stores, redis = open_stores(settings, timeout), open_redis(settings.redis_url)
    courier = COURIERS[settings.courier]
    return Dependencies(
        settings=settings,
        stores=stores,
        users=Users(ServiceClient("users", settings.users_url, settings.service_secret)),
        products=Products(ServiceClient("products", settings.products_url, settings.service_secret)),
        providers={name: PROVIDERS[name](settings, stores.ledger) for name in settings.payment_providers},
        rate_providers={name: RATE_PROVIDERS[name](settings) for name in settings.rate_providers},
        label_provider=LABEL_PROVIDERS[settings.label_provider](settings),
        tax_provider=TAX_PROVIDERS[settings.tax_provider](settings),
        courier=courier,
        mailer=open_mailer(settings.mail_dir, settings.smtp_url),
        limits=Limits(redis),
        recent=Recent(redis, "orders:placed", most=5),
        provider_answers=ProviderAnswers(redis, stores.orders.database.name),
        locks=Locks(redis, stores.orders.database.name),
        terms_cache=terms_cache(
            redis, Background(1), stores.settings, stores.orders.database.name, _initial_terms(settings)
        ),
        cache_tags=CacheTags(redis),
        marks=marks_of_people(redis, stores.server.prefix),
        policy=Policy(
            courier.name,
            settings.attempt_seconds,
            courier.books_parcels,
            courier.reports_arrival,
            settings.courier_dispatch_seconds,
            settings.courier_delivery_seconds,
            page_lifetime(settings.payment_page_seconds).total_seconds(),
            page_lifetime(settings.payment_link_seconds).total_seconds(),
            settings.backorder_dispatch == PARTS,
        ),
        languages=translated_languages(settings.languages, TRANSLATIONS),
        printer=Printer(),
    )


def _initial_terms(settings: Settings) -> Terms:
    return initial_terms(
        settings.shop_country,
        delivery_per=settings.delivery_per,
        free_delivery_from=settings.free_delivery_from,
        tax_name=settings.tax_name,
        tax_basis_points=settings.tax_basis_points,
        tax_included=settings.tax_included,
        gift_card_days=settings.gift_card_days,
        returns=ReturnTerms(settings.return_days, settings.approve_returns, settings.refund_before_receipt),
        shop=ShopIdentity(settings.shop_name, address_lines(settings.shop_address)),
    )
