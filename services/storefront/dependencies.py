"""What every page works with: the services, the menu, the settings: made by `app.py`."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.storefront.actions.catalogue_cache import AutomaticPromotions, CatalogueCache, ShippingMethods
from services.storefront.actions.checkout import Checkouts
from services.storefront.actions.repeated_searches import RepeatedSearches
from services.storefront.actions.saved_forms import SavedForms
from services.storefront.actions.sessions import Refresher
from services.storefront.caches.coalescing import Coalescing
from services.storefront.caches.fragments import Fragments
from services.storefront.caches.page_cache import PublicPages
from services.storefront.clients import Services
from services.storefront.settings import Settings
from services.storefront.store import Mailbox
from services.storefront.translation import Language
from shared.cache_tags import CacheTags
from shared.waiting import Marks, Waiting


@dataclass(frozen=True)
class Dependencies:
    settings: Settings
    services: Services
    catalogue: CatalogueCache
    shipping_methods: ShippingMethods
    automatic_promotions: AutomaticPromotions
    refresher: Refresher
    mailbox: Mailbox | None
    fragments: Fragments
    public_pages: PublicPages
    cache_tags: CacheTags
    coalescing: Coalescing
    repeated_searches: RepeatedSearches
    saved_forms: SavedForms
    checkouts: Checkouts
    languages: Mapping[str, Language]
    marks: Marks
    """Of what customers change, by userid: their other devices wait for it."""
    waiting: Waiting
    waiting_for_categories: Waiting
    """By the categories' cache tags, which the products service changes."""
