"""The HTTP side of the users service: parse, act, answer."""

from services.users.resources.accounts import accounts
from services.users.resources.addresses import addresses
from services.users.resources.basket import basket
from services.users.resources.extras import extras
from services.users.resources.internal import internal
from services.users.resources.sessions import sessions
from services.users.resources.staff import staff

BLUEPRINTS = (accounts, sessions, addresses, basket, extras, staff, internal)

__all__ = ["BLUEPRINTS"]
