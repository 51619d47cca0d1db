"""What every page works with: the services, the menu, the settings, handed over by `app.py`."""

from dataclasses import dataclass

from flask import request

from services.storefront.actions.catalogue_cache import CatalogueCache
from services.storefront.actions.checkout import Checkouts
from services.storefront.actions.saved_forms import SavedForms
from services.storefront.actions.sessions import Refresher
from services.storefront.clients import Services
from services.storefront.pages.coalescing import Coalescing
from services.storefront.pages.fragments import Fragments
from services.storefront.pages.page_cache import PublicPages
from services.storefront.settings import Settings
from services.storefront.store import Mailbox
from shared.cache_tags import CacheTags
from shared.web import current_dependencies


@dataclass(frozen=True)
class Dependencies:
    settings: Settings
    services: Services
    catalogue: CatalogueCache
    refresher: Refresher
    mailbox: Mailbox | None
    fragments: Fragments
    public_pages: PublicPages
    cache_tags: CacheTags
    coalescing: Coalescing
    saved_forms: SavedForms
    checkouts: Checkouts


def dependencies() -> Dependencies:
    return current_dependencies(Dependencies)


def services() -> Services:
    return dependencies().services


def enhanced() -> bool:
    """Whether htmx asks for a part of a page."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
