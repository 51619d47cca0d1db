"""One local shop's layout: its ports, addresses, secrets and folders, and the environment its processes get."""

import hashlib
import os
import socket
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local import keys
from deploy.local.permissions import private_folder, write_private
from deploy.local.settings import Settings
from deploy.local.state import find_state

SERVICES = ("storefront", "users", "products", "orders")
SECRETS = ("secret-key", "service-secret", "sandbox-webhook-secret", "courier-webhook-secret")
ADMIN_EMAIL = "admin@example.com"
SAMPLE_CURRENCIES = "GBP,EUR"
"""What the sample shop's goods are priced in."""
SAMPLE_LANGUAGES = "en,de"
"""What they are named in."""
SAMPLE_GROUPS = "trade"
"""Who pays less for some of them."""
# Threads that share one interpreter need no heap of their own; what is large (a password hash, an import's body) is
# given back when it is done with, which glibc otherwise stops doing after the first such piece.
MALLOC_SETTINGS = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "262144",
    "MALLOC_TRIM_THRESHOLD_": "262144",
}


class Layout:
    """Reads what a first start left in the state folder, or makes it."""

    def __init__(self, settings: Settings, state: Path | None = None) -> None:
        """`state` is the folder that the caller holds; without one it is the folder of the shop that runs."""
        self.settings = settings
        self.state = state or find_state(settings)
        self.ports = {name: settings.port + offset for offset, name in enumerate(SERVICES)}
        self.own_couch = not settings.couch_url
        self.own_redis = not settings.redis_url

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[service]}"

    @cached_property
    def couch_url(self) -> str:
        secret = self._secret("couch-password")
        return self.settings.couch_url or f"http://aisle:{secret}@127.0.0.1:{self.settings.couch_port}"

    @cached_property
    def redis_port(self) -> int:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port: int = free.getsockname()[1]
            return port

    @cached_property
    def redis_url(self) -> str:
        secret = self._secret("redis-password")
        return self.settings.redis_url or f"redis://:{secret}@127.0.0.1:{self.redis_port}/0"

    @property
    def admin_password_file(self) -> Path:
        return self.state / "admin-password"

    def stamp(self, name: str) -> Path:
        """The file that says `name` was done against these very databases."""
        server = urlsplit(self.couch_url)
        where = "own" if self.own_couch else f"{server.hostname}:{server.port}"
        where += os.environ.get("DATABASE_PREFIX", "")
        return self.state / "done" / f"{name}-{hashlib.sha256(where.encode()).hexdigest()[:12]}"

    def environment(self) -> dict[str, str]:
        """What every process gets. A variable that is already set outside stays as it is."""
        urls = {f"{name.upper()}_URL": self.url(name) for name in SERVICES}
        secret = {name.upper().replace("-", "_"): self._secret(name) for name in SECRETS}
        keys.kept(self.state / "secrets" / "jwt.pem", _signing_key)
        keys.kept(self.admin_password_file, keys.password)
        ours = {
            "AISLE_ENV": "local",
            "PYTHONUNBUFFERED": "1",
            "ACCESS_LOG": "false",
            **MALLOC_SETTINGS,
            "MAIL_DIR": str(self.state / "mail"),
            "MEDIA_DIR": str(self.state / "media"),
            "ARCHIVE_DIR": str(self.state / "archive"),
            "JWT_PRIVATE_KEY_FILE": str(self.state / "secrets" / "jwt.pem"),
            "ADMIN_EMAIL": ADMIN_EMAIL,
            "ADMIN_PASSWORD_FILE": str(self.admin_password_file),
            "COURIER_DISPATCH_SECONDS": "2",
            "COURIER_DELIVERY_SECONDS": "3",
            **secret,
        }
        if self.settings.sample_shop:
            ours |= {
                "CURRENCIES": SAMPLE_CURRENCIES,
                "LANGUAGES": SAMPLE_LANGUAGES,
                "CUSTOMER_GROUPS": SAMPLE_GROUPS,
            }
        if self.own_couch:
            ours["MINICOUCH_ADMIN"] = f"aisle:{self._secret('couch-password')}"
        fixed = {
            **urls,
            "COUCH_URL": self.couch_url,
            "REDIS_URL": self.redis_url,
            "AISLE_STATE": str(self.state),
        }
        inherited = {name: value for name, value in os.environ.items() if name != "PORT"}
        return {**ours, **inherited, **fixed, "PORT": str(self.settings.port)}

    def redis_conf(self) -> Path:
        """Redis's configuration, with the append-only file on and the password out of the process list."""
        folder = private_folder(self.state / "redis")
        conf = folder / "redis.conf"
        write_private(
            conf,
            f"bind 127.0.0.1\nport {self.redis_port}\nrequirepass {self._secret('redis-password')}\n"
            f'dir "{folder}"\nappendonly yes\nappendfsync everysec\nsave ""\nloglevel warning\n',
        )
        return conf

    def _secret(self, name: str) -> str:
        return keys.kept(self.state / "secrets" / name, keys.token)


def _signing_key() -> str:
    from deploy.signing_key import signing_key  # a first start alone needs the library for it

    return signing_key()
