"""What the actions work with: made once by `app.py`, the command line or the worker."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from redis import Redis

from services.users.clients.letterhead import ShopLetterhead
from services.users.clients.services import Orders, Products
from services.users.security.keys import DeviceTokens, RefreshTokens, SigningKeys, load_keys
from services.users.security.passwords import Passwords
from services.users.settings import JobSettings, Settings
from services.users.store import UserStore
from shared.audit import AuditTrail
from shared.background import Background
from shared.client import ServiceClient
from shared.database import TIMEOUT, open_server
from shared.email_writer import EmailWriter
from shared.import_progress import ImportProgress
from shared.limits import Limits
from shared.locks import Locks
from shared.mail import BackgroundMailer, Mailer, open_mailer
from shared.recent import Recent
from shared.redis import open_redis
from shared.translation import Language, active_language, translated_languages
from shared.waiting import Waiting, marks_of_people

TRANSLATIONS: Final = Path(__file__).parent / "translations"


@dataclass(frozen=True)
class JobDependencies:
    """What jobs need: the data, and the services that hold more of it."""

    store: UserStore
    locks: Locks
    products: Products
    orders: Orders
    job_settings: JobSettings
    direct_mailer: Mailer
    """For who must know that an e-mail went out."""
    languages: dict[str, Language]
    email: EmailWriter

    def language(self, code: str) -> Language:
        """What a preference means: `de` for `de-AT`; the active language where the shop has none such."""
        return self.languages.get(code) or self.languages.get(code.partition("-")[0]) or active_language()

    @property
    def audit(self) -> AuditTrail:
        """What staff did in this service."""
        return AuditTrail(self.store.database)


@dataclass(frozen=True)
class Dependencies(JobDependencies):
    """What requests need besides: keys, passwords, limits, e-mail."""

    settings: Settings
    passwords: Passwords
    keys: SigningKeys
    refresh_tokens: RefreshTokens
    device_tokens: DeviceTokens
    limits: Limits
    mailer: Mailer
    background: Background
    import_progress: ImportProgress
    """So that an answer's time does not show what it caused: one task after the other."""
    waiting: Waiting
    """Devices that wait for what changes."""


def open_job_dependencies(settings: JobSettings) -> JobDependencies:
    """Nothing is connected to yet."""
    return JobDependencies(**_for_jobs(settings, open_redis(settings.redis_url)))


def open_dependencies(settings: Settings, timeout: float = TIMEOUT) -> Dependencies:
    """Nothing is connected to yet; the key files are read. `timeout`: seconds for a database call. Raises ValueError or OSError for a bad file."""
    redis = open_redis(settings.redis_url)
    memory, passes, at_once = settings.argon2_memory_kib, settings.argon2_passes, settings.argon2_at_once
    jobs = _for_jobs(settings, redis, timeout)
    return Dependencies(
        **jobs,
        settings=settings,
        passwords=Passwords(memory_kib=memory, passes=passes, at_once=at_once),
        keys=load_keys(
            settings.jwt_private_key_file, settings.jwt_other_key_files, seconds=settings.access_token_seconds
        ),
        refresh_tokens=RefreshTokens(settings.secret_key),
        device_tokens=DeviceTokens(settings.secret_key),
        limits=Limits(redis),
        mailer=_mailer(settings),
        background=Background(threads=1),
        import_progress=ImportProgress(redis, jobs["store"].database.name),
        waiting=Waiting(marks_of_people(redis, jobs["store"].server.prefix), settings.sync_waiting),
    )


def _for_jobs(settings: JobSettings, redis: Redis, timeout: float = TIMEOUT) -> dict[str, Any]:
    server = open_server(settings, timeout)
    marks = marks_of_people(redis, server.prefix)
    store = UserStore(server, marks.change, Recent(redis, f"{server.prefix}users:written", most=30))
    orders = Orders(ServiceClient("orders", settings.orders_url, settings.service_secret))
    letterhead = ShopLetterhead(orders, settings.shop_name, settings.storefront_url)
    return {
        "store": store,
        "locks": Locks(redis, store.database.name),
        "products": Products(ServiceClient("products", settings.products_url, settings.service_secret)),
        "job_settings": settings,
        "direct_mailer": open_mailer(settings.mail_dir, settings.smtp_url, settings.mail_sender),
        "orders": orders,
        "languages": translated_languages(settings.languages, TRANSLATIONS),
        "email": EmailWriter(settings.storefront_url, letterhead),
    }


def _mailer(settings: Settings) -> Mailer:
    """A Maildir is written to at once, so that an e-mail is there before the answer; a mail server is not waited for."""
    mailer = open_mailer(settings.mail_dir, settings.smtp_url, settings.mail_sender)
    return BackgroundMailer(mailer) if settings.smtp_url else mailer
