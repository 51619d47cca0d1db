"""The shopkeeper's desk: sales, orders, products, what went wrong, who works here."""

from flask import Blueprint

from services.storefront.pages.visitor import needs_staff

desk = Blueprint("desk", __name__, url_prefix="/admin")
desk.before_request(needs_staff)
