"""What the actions work with, made once in `app.py` (or by the command line and the worker)."""

from dataclasses import dataclass

from redis import Redis

from services.users.clients import Orders, Products
from services.users.keys import RefreshTokens, SigningKeys
from services.users.limits import Limits
from services.users.passwords import Passwords
from services.users.settings import Settings
from services.users.store import Store
from shared.mail import Mailer


@dataclass(frozen=True)
class Tools:
    """The store, the secrets' keepers, and the ways out of this service."""

    settings: Settings
    store: Store
    passwords: Passwords
    keys: SigningKeys
    refresh_tokens: RefreshTokens
    limits: Limits
    redis: Redis
    mailer: Mailer
    products: Products
    orders: Orders
