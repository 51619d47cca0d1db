"""What the page at hand works with, and how it was asked for."""

from flask import request

from services.storefront.clients import Services
from services.storefront.dependencies import Dependencies
from shared.web import current_dependencies


def dependencies() -> Dependencies:
    return current_dependencies(Dependencies)


def services() -> Services:
    return dependencies().services


def enhanced() -> bool:
    """Whether htmx asks for a part of a page."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
