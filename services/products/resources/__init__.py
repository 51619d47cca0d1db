"""The HTTP side of the products service: parse, act, answer."""

from services.products.resources.admin import admin
from services.products.resources.browse import browse
from services.products.resources.files import files
from services.products.resources.internal import internal
from services.products.resources.pictures import pictures
from services.products.resources.reviews import reviews

BLUEPRINTS = (browse, reviews, admin, files, pictures, internal)

__all__ = ["BLUEPRINTS"]
