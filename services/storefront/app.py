"""The storefront, wired."""

import os
from datetime import timedelta
from pathlib import Path

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from services.storefront.actions.catalogue_cache import AutomaticPromotions, CatalogueCache, ShippingMethods
from services.storefront.actions.checkout import Checkouts
from services.storefront.actions.repeated_searches import RepeatedSearches
from services.storefront.actions.saved_forms import SavedForms
from services.storefront.actions.sessions import Refresher
from services.storefront.caches.coalescing import Coalescing
from services.storefront.caches.fragments import Fragments
from services.storefront.caches.page_cache import PublicPages
from services.storefront.clients import CountedClient, Orders, Products, Services, Users, counting
from services.storefront.dependencies import Dependencies
from services.storefront.pages import BLUEPRINTS
from services.storefront.pages.caching import register_caching
from services.storefront.pages.compression import register_compression
from services.storefront.pages.desk.uploads import allow_large_files
from services.storefront.pages.device import register_device
from services.storefront.pages.kept_answers import Storefront
from services.storefront.pages.language import register_language
from services.storefront.pages.layout import register_layout
from services.storefront.pages.visitor import Sessions, register_visitor
from services.storefront.settings import Settings
from services.storefront.store import Mailbox
from services.storefront.translation import read_languages
from shared.background import Background
from shared.cache_tags import CacheTags
from shared.client import ServiceClient
from shared.logs import log_as_json
from shared.redis import open_redis
from shared.sessions import RemoteSessions
from shared.sessions import Sessions as LiveSessions
from shared.settings import load, log_warnings
from shared.waiting import Marks, Waiting
from shared.web.health import Checks, health_blueprint
from shared.web.metrics import metrics_answer

DEVICES_WAITING = 500
"""In a process, for the next change of their customer's data, and as many for one of a category they keep; more are told to come again."""


def create_app(settings: Settings | None = None) -> Flask:
    """The WSGI application. Nothing is connected to yet."""
    settings = settings or load(Settings, os.environ)
    redis = open_redis(settings.redis_url)
    services, cache_tags, background = open_services(settings), CacheTags(redis), Background()
    marks = Marks(redis, "storefront")
    app = Storefront("storefront", settings, counting)
    log_as_json("storefront", settings.log_level)
    log_warnings(settings)
    app.session_interface = Sessions()
    app.config.update(
        SESSION_COOKIE_NAME="aisle_visit",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure_cookies,
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=timedelta(days=settings.session_days),
    )
    app.extensions["aisle.dependencies"] = Dependencies(
        settings=settings,
        services=services,
        catalogue=CatalogueCache(
            services.products,
            settings.menu_seconds,
            background,
            settings.currencies,
            settings.languages[1:],
        ),
        shipping_methods=ShippingMethods(services.orders, cache_tags, background),
        automatic_promotions=AutomaticPromotions(services.orders, cache_tags, background),
        refresher=Refresher(
            services.users, redis, LiveSessions(open_session_source(settings), settings.session_check_seconds)
        ),
        mailbox=Mailbox(Path(settings.mail_dir)) if settings.local and settings.mail_dir else None,
        fragments=Fragments(),
        public_pages=PublicPages(settings.page_cache_bytes),
        cache_tags=cache_tags,
        coalescing=Coalescing(),
        repeated_searches=RepeatedSearches(services.products),
        checkouts=Checkouts(services.orders, redis),
        languages=read_languages(settings.languages, settings.catalogues),
        saved_forms=SavedForms(redis, settings.secret_key),
        marks=marks,
        waiting=Waiting(marks, DEVICES_WAITING),
        waiting_for_categories=Waiting(cache_tags, DEVICES_WAITING),
    )
    register_language(app)
    app.before_request(allow_large_files)
    register_compression(app)  # what is registered first has the last word on an answer
    register_caching(app)
    register_visitor(app)
    register_layout(app)
    register_device(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    checks: Checks = {
        "users": services.users.ready,
        "products": services.products.ready,
        "orders": services.orders.ready,
        "redis": redis.ping,
    }
    app.register_blueprint(health_blueprint(checks))
    app.add_url_rule("/metrics", "metrics", metrics_answer)
    hops = settings.proxy_hops
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]  # as Flask's documentation wraps it
    return app


def open_session_source(settings: Settings) -> RemoteSessions:
    """CallCounts of background work, which counts for no page."""
    return RemoteSessions(ServiceClient("users", settings.users_url, settings.service_secret))


def open_services(settings: Settings) -> Services:
    """Clients of the three services; what they ask for nobody or for a customer's token is said with each call."""
    return Services(
        Users(CountedClient("users", settings.users_url, settings.service_secret)),
        Products(CountedClient("products", settings.products_url, settings.service_secret)),
        Orders(CountedClient("orders", settings.orders_url, settings.service_secret)),
    )
