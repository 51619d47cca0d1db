"""The HTTP side of the orders service: parse, act, answer."""

from services.orders.resources.admin import admin
from services.orders.resources.archives import archives
from services.orders.resources.drafts import drafts
from services.orders.resources.emails import emails
from services.orders.resources.gift_cards import gift_cards
from services.orders.resources.guests import guests
from services.orders.resources.internal import internal
from services.orders.resources.invoices import invoices
from services.orders.resources.labels import labels
from services.orders.resources.notes import notes
from services.orders.resources.orders import orders
from services.orders.resources.promotions import promotions
from services.orders.resources.reports import reports
from services.orders.resources.returns import returns
from services.orders.resources.sandbox_payments import sandbox_payments
from services.orders.resources.shipping import shipping
from services.orders.resources.shop_settings import shop_settings
from services.orders.resources.stall import stall
from services.orders.resources.webhooks import webhooks

BLUEPRINTS = (
    orders,
    sandbox_payments,
    shipping,
    gift_cards,
    promotions,
    admin,
    drafts,
    stall,
    returns,
    labels,
    invoices,
    emails,
    notes,
    guests,
    reports,
    archives,
    shop_settings,
    webhooks,
    internal,
)

__all__ = ["BLUEPRINTS"]
