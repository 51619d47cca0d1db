"""What the actions act with: stores, other services, payment providers, the courier, the mail, the shop's terms."""

from dataclasses import dataclass

from services.orders.clients.couriers import SANDBOX, SandboxCourier
from services.orders.clients.payments import Provider
from services.orders.clients.sandbox import SandboxProvider
from services.orders.clients.services import Products, Users
from services.orders.clients.stripe import StripeProvider
from services.orders.rules.pricing import Terms
from services.orders.rules.steps import Policy
from services.orders.settings import Settings
from services.orders.store import (
    TIMEOUT,
    DeadLetterStore,
    OrderStore,
    RecentOrders,
    ReportStore,
    Stores,
    open_stores,
)
from shared.client import ServiceClient
from shared.errors import Conflict
from shared.limits import Limits
from shared.mail import Mailer, open_mailer
from shared.redis import open_redis


class ProviderNotConnected(Conflict):
    code, title = "provider_not_connected", "This payment provider is not connected"


@dataclass(frozen=True)
class Shop:
    """Handed to every action."""

    settings: Settings
    stores: Stores
    users: Users
    products: Products
    providers: dict[str, Provider]
    courier: SandboxCourier
    mailer: Mailer
    limits: Limits
    recent: RecentOrders
    terms: Terms
    policy: Policy

    @property
    def orders(self) -> OrderStore:
        return self.stores.orders

    @property
    def reports(self) -> ReportStore:
        return self.stores.reports

    @property
    def deadletters(self) -> DeadLetterStore:
        return self.stores.deadletters

    def provider(self, name: str) -> Provider:
        """Raises ProviderNotConnected, for instance for a payment that came with an imported order."""
        if name not in self.providers:
            raise ProviderNotConnected(f"{name!r} is not among {', '.join(self.providers)}.")
        return self.providers[name]


def open_shop(settings: Settings, timeout: float = TIMEOUT) -> Shop:
    """Builds everything from the settings; nothing is connected to. `timeout`: seconds that a database call may take."""
    stores, redis = open_stores(settings, timeout), open_redis(settings.redis_url)
    return Shop(
        settings=settings,
        stores=stores,
        users=Users(ServiceClient("users", settings.users_url, settings.service_secret)),
        products=Products(ServiceClient("products", settings.products_url, settings.service_secret)),
        providers=_providers(settings, stores),
        courier=SandboxCourier(),
        mailer=open_mailer(settings.mail_dir, settings.smtp_url),
        limits=Limits(redis),
        recent=RecentOrders(redis),
        terms=Terms(
            settings.delivery_per, settings.free_delivery_from,
            settings.tax_name, settings.tax_basis_points, settings.tax_included,
        ),
        policy=Policy(
            settings.attempt_seconds, settings.courier == SANDBOX,
            settings.courier_dispatch_seconds, settings.courier_delivery_seconds,
        ),
    )  # fmt: skip


def _providers(settings: Settings, stores: Stores) -> dict[str, Provider]:
    tolerance = settings.webhook_tolerance_seconds
    found: dict[str, Provider] = {}
    for name in settings.payment_providers:
        if name == SANDBOX:
            found[name] = SandboxProvider(stores.ledger, settings.sandbox_webhook_secret, tolerance)
        else:
            found[name] = StripeProvider(
                settings.stripe_url, settings.stripe_api_key, settings.stripe_webhook_secret, tolerance
            )
    return found
