"""Settings of the users service, one line per environment variable."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shared.settings import DatabaseSettings, setting
from shared.translation import SOURCE_LANGUAGE


@dataclass(frozen=True, kw_only=True)
class JobSettings(DatabaseSettings):
    """What the jobs read: no key and no password parameter."""

    products_url: str = setting(
        "PRODUCTS_URL", help="the products service", local_default="http://127.0.0.1:8002"
    )
    orders_url: str = setting("ORDERS_URL", help="the orders service", local_default="http://127.0.0.1:8003")
    storefront_url: str = setting(
        "STOREFRONT_URL", help="where links in mails lead", local_default="http://127.0.0.1:8000"
    )
    smtp_url: str = setting(
        "SMTP_URL", "", "`smtp://user:password@host:587` or `smtps://...`; wins over MAIL_DIR", secret=True
    )
    mail_dir: str = setting("MAIL_DIR", "", "Maildir that mail is written to instead of being sent")
    shop_name: str = setting(
        "SHOP_NAME", "Aisle", "the shop's name in e-mails while the orders service does not say it"
    )
    languages: tuple[str, ...] = setting(
        "LANGUAGES",
        (SOURCE_LANGUAGE,),
        "what e-mails are in, with commas (`en,de`), as the storefront's pages: the first unless the account or the page is in another",
    )
    mail_sender: str = setting("MAIL_SENDER", "shop@aisle.example", "the shop's own address")

    def contradictions(self) -> Iterator[str]:
        yield from super().contradictions()
        if not self.smtp_url and not self.mail_dir:
            yield "Neither SMTP_URL nor MAIL_DIR is set: the shop must be able to send e-mail."


@dataclass(frozen=True, kw_only=True)
class Settings(JobSettings):
    """What the users service and its command line read."""

    jwt_private_key_file: Path = setting(
        "JWT_PRIVATE_KEY_FILE", help="PEM file of the Ed25519 key that signs access tokens"
    )
    jwt_other_key_files: str = setting(
        "JWT_OTHER_KEY_FILES",
        "",
        "PEM files (comma-separated) of keys also accepted: the next one, the last one",
    )
    access_token_seconds: int = setting("ACCESS_TOKEN_SECONDS", 600, "how long an access token is good")
    refresh_token_days: int = setting(
        "REFRESH_TOKEN_DAYS", 30, "how long a session lives without a new login"
    )
    verify_token_hours: int = setting(
        "VERIFY_TOKEN_HOURS", 48, "how long an e-mail verification link is good"
    )
    reset_token_minutes: int = setting("RESET_TOKEN_MINUTES", 60, "how long a password-reset link is good")
    argon2_memory_kib: int = setting("ARGON2_MEMORY_KIB", 19456, "memory of one password hash")
    argon2_passes: int = setting("ARGON2_PASSES", 2, "passes over that memory")
    argon2_at_once: int = setting("ARGON2_AT_ONCE", 2, "hashes at the same time per process; others wait")
    login_window_seconds: int = setting("LOGIN_WINDOW_SECONDS", 900, "failed logins are counted over so long")
    login_tries_per_account: int = setting(
        "LOGIN_TRIES_PER_ACCOUNT",
        10,
        "failed logins of one account from one network or known device before 429",
    )
    login_tries_anywhere: int = setting(
        "LOGIN_TRIES_ANYWHERE",
        100,
        "failed logins of one account from everywhere before 429 for all but known devices",
    )
    login_tries_per_address: int = setting(
        "LOGIN_TRIES_PER_ADDRESS", 100, "failed logins from one network (IPv6: /56) before 429"
    )
    registrations_per_hour: int = setting(
        "REGISTRATIONS_PER_HOUR", 100, "registrations from one address before 429", local_default=100_000
    )
    sync_wait_seconds: int = setting(
        "SYNC_WAIT_SECONDS",
        20,
        "so long a device's question what changed waits for something, without a thread",
    )
    sync_waiting: int = setting(
        "SYNC_WAITING", 500, "devices that wait so per process; more are told to come again (503)"
    )
    mails_per_hour: int = setting(
        "MAILS_PER_HOUR", 5, "mails that one e-mail address can be made to get in an hour"
    )
