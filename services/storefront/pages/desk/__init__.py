"""The shopkeeper's desk: sales, orders, products, what went wrong, who works here.

Who may enter is decided in `visitor.check_access`, before a body is read.
"""

from flask import Blueprint

desk = Blueprint("desk", __name__, url_prefix="/admin")
