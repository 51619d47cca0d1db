"""The HTTP side of the users service: parse, act, answer."""

from services.users.resources.accounts import accounts
from services.users.resources.addresses import addresses
from services.users.resources.audit import audit
from services.users.resources.basket import basket
from services.users.resources.customer_files import customer_files
from services.users.resources.customers import customers
from services.users.resources.internal import internal
from services.users.resources.kept import kept
from services.users.resources.payment_methods import payment_methods
from services.users.resources.preferences import preferences
from services.users.resources.privacy import privacy
from services.users.resources.recently_viewed import recently_viewed
from services.users.resources.sessions import sessions
from services.users.resources.staff import staff
from services.users.resources.stock_alerts import stock_alerts
from services.users.resources.wishes import wishes

BLUEPRINTS = (
    accounts,
    sessions,
    addresses,
    basket,
    preferences,
    payment_methods,
    recently_viewed,
    wishes,
    kept,
    stock_alerts,
    privacy,
    staff,
    customer_files,
    customers,
    audit,
    internal,
)

__all__ = ["BLUEPRINTS"]
