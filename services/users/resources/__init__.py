"""The HTTP side of the users service: parse, act, answer."""

from services.users.resources.accounts import accounts
from services.users.resources.addresses import addresses
from services.users.resources.sessions import sessions

BLUEPRINTS = (accounts, sessions, addresses)

__all__ = ["BLUEPRINTS"]
