"""The shop as an app that browsers install: its manifest, its service worker and the page that is shown without a network."""

from functools import cache

import orjson
from flask import Blueprint, Response, render_template

from services.storefront import address_forms
from services.storefront.pages.assets import STATIC, asset, release
from services.storefront.pages.context import dependencies
from services.storefront.pages.language import chosen_language
from services.storefront.rules.progress import STATUS_LABELS
from services.storefront.translation import gettext as _
from shared.errors import AisleError

installable = Blueprint("installable", __name__)

NAME = "Aisle"
BACKGROUND, THEME = "#faf8f3", "#0b5d4b"
SHELL = (
    "shop.css",
    "shop.js",
    "app.js",
    "offline.js",
    "stall.css",
    "stall-device.js",
    "stall.js",
    "icon.svg",
    "vendor/htmx/htmx.min.js",
    "vendor/figtree/figtree-latin-wght-normal.woff2",
    "vendor/bricolage-grotesque/bricolage-grotesque-latin-wght-normal.woff2",
)
"""What pages need besides their own text, of the files in `static`."""

DATABASE = "installed/pouchdb.min.js"
KEEPING = (DATABASE, "sealed.js", "device.js", "kept.js")


@installable.get("/manifest.webmanifest")
def manifest() -> Response:
    """What browsers ask for before they offer to install the shop."""
    language = chosen_language()
    return _answer(
        orjson.dumps(
            {
                "id": "/",
                "name": NAME,
                "short_name": NAME,
                "description": _("Everything in its aisle, also without a network."),
                "lang": language,
                "start_url": "/",
                "scope": "/",
                "display": "standalone",
                "background_color": BACKGROUND,
                "theme_color": THEME,
                "icons": [
                    _icon("icons/icon-192.png", "192x192"),
                    _icon("icons/icon-512.png", "512x512"),
                    _icon("icons/maskable-512.png", "512x512", "maskable"),
                    {"src": asset("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
                ],
                "shortcuts": [
                    {"name": _("Basket"), "url": "/basket"},
                    {"name": _("Your orders"), "url": "/orders"},
                ],
            }
        ),
        "application/manifest+json",
    )


@installable.get("/worker.js")
def worker() -> Response:
    """The service worker of this release in this language: other bytes are a new one to the browser."""
    language = chosen_language()
    shop = {
        "release": release(),
        "language": language,
        "shell": [asset(name) for name in shell()],
        "offline": f"/offline?language={language}",
        "stall": f"/stall?language={language}",
    }
    return _answer(
        b"const SHOP = " + orjson.dumps(shop) + b";\n" + (STATIC / "worker.js").read_bytes(),
        "text/javascript",
    )


@installable.get("/offline")
def offline() -> Response:
    """What is on the device: the worker keeps it, its script fills it."""
    try:
        countries = dependencies().shipping_methods.get()["countries"]
    except AisleError:
        countries = []  # where the shop delivers is not known now: it says so of an address
    address = address_forms.any_address_form(countries)
    statuses = orjson.dumps({status: _(label) for status, label in STATUS_LABELS.items()}).decode()
    return Response(
        render_template("offline.html", statuses=statuses, address=address),
        headers={"Cache-Control": "no-cache"},
    )


def shell() -> tuple[str, ...]:
    """Files that the worker keeps."""
    return (*SHELL, *KEEPING) if keeps_data() else SHELL


@cache
def keeps_data() -> bool:
    """Whether customers' own data is kept on their devices: PouchDB is installed beside the storefront, it is not part of the repository."""
    return (STATIC / DATABASE).is_file()


def _icon(name: str, sizes: str, purpose: str = "any") -> dict[str, str]:
    return {"src": asset(name), "sizes": sizes, "type": "image/png", "purpose": purpose}


def _answer(body: bytes, mimetype: str) -> Response:
    return Response(body, mimetype=mimetype, headers={"Cache-Control": "no-cache"})
