"""The HTTP side of the orders service: parse, act, answer."""

from services.orders.resources.admin import admin
from services.orders.resources.internal import internal
from services.orders.resources.orders import orders
from services.orders.resources.reports import reports
from services.orders.resources.webhooks import webhooks

BLUEPRINTS = (orders, admin, reports, webhooks, internal)

__all__ = ["BLUEPRINTS"]
