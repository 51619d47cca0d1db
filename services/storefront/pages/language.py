"""The language of the pages: named by the address, else chosen by the visitor and kept in a cookie, else the browser's, else the shop's first."""

import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Flask, Response, redirect, request, url_for
from markupsafe import Markup, escape
from werkzeug import Response as BaseResponse
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header, parse_cookie

from services.storefront.pages.compression import add_vary
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.visitor import logged_in, own_path, token
from services.storefront.rules.taxonomy import Menu
from services.storefront.translation import (
    activate,
    gettext,
    template_gettext,
    template_ngettext,
    template_pgettext,
)
from shared.errors import AisleError, Invalid

log = logging.getLogger(__name__)

LANGUAGE_COOKIE = "aisle_language"
COOKIE_DAYS = 365
_ASKED = re.compile("(?:^|&)language=([A-Za-z-]+)(?=&|$)")

language = Blueprint("language", __name__)


def register_language(app: Flask) -> None:
    """Before all that writes a text."""
    app.before_request(activate_language)
    app.after_request(vary_by_language)
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.newstyle_gettext = True  # type: ignore[attr-defined]  # the extension's: variables are given to the functions
    app.jinja_env.globals |= {
        "_": template_gettext,
        "gettext": template_gettext,
        "ngettext": template_ngettext,
        "pgettext": template_pgettext,
    }
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.filters["gettext"] = gettext
    app.jinja_env.globals["language_links"] = language_links


def chosen_language() -> str:
    """Of this request."""
    return language_of(request.environ, tuple(dependencies().languages))


def goods_language() -> str:
    """What the services are asked to name products and departments in: "" for the shop's own, the first of its languages."""
    chosen = chosen_language()
    return "" if chosen == dependencies().settings.languages[0] else chosen


def shown_menu() -> Menu:
    """The departments as this request's page names them."""
    return dependencies().catalogue.menu(goods_language())


def language_of(environ: Mapping[str, Any], known: tuple[str, ...]) -> str:
    """What the address names of the shop's languages, else what the visitor or the browser prefers."""
    if len(known) == 1:
        return known[0]
    asked = _ASKED.search(environ.get("QUERY_STRING", ""))
    if asked and asked[1] in known:
        return asked[1]
    cookies = environ.get("HTTP_COOKIE", "")
    chosen = parse_cookie(cookies).get(LANGUAGE_COOKIE, "") if LANGUAGE_COOKIE in cookies else ""
    return chosen if chosen in known else _preferred(environ.get("HTTP_ACCEPT_LANGUAGE", ""), known)


@lru_cache(1024)
def _preferred(header: str, known: tuple[str, ...]) -> str:
    return parse_accept_header(header[:500], LanguageAccept).best_match(known) or known[0]


def activate_language() -> None:
    activate(dependencies().languages[chosen_language()])


def vary_by_language(response: Response) -> Response:
    """Where no cookie decides the browser does: whoever keeps pages keeps one for each."""
    if response.mimetype == "text/html" and len(dependencies().languages) > 1:
        add_vary(response, "Accept-Language")
    return response


def language_links(path: str) -> Markup:
    """For search engines: which address a public page goes by, and the same page in each of the shop's languages."""
    known, address = dependencies().languages, request.host_url.rstrip("/") + path
    asked = request.args.get("language", "")
    own = f"{address}?language={quote(asked)}" if asked in known else address
    links = [f'<link rel="canonical" href="{escape(own)}">']
    if len(known) > 1:
        alternates = {code: f"{address}?language={quote(code)}" for code in known} | {"x-default": address}
        links += [
            f'<link rel="alternate" hreflang="{escape(code)}" href="{escape(href)}">'
            for code, href in alternates.items()
        ]
    return Markup("\n".join(links))


def shown_languages() -> dict[str, str]:
    """The names of the shop's languages by their codes."""
    return {code: each.name for code, each in dependencies().languages.items()}


@language.post("/language")
def choose() -> BaseResponse:
    """The same page again in this language."""
    deps = dependencies()
    chosen = request.form.get("language", "")
    if chosen not in deps.languages:
        raise Invalid(gettext("The shop has no pages in this language."))
    _keep_preference(chosen)
    response = redirect(own_path(request.form.get("back", ""), url_for("shop.home")), 303)
    response.set_cookie(
        LANGUAGE_COOKIE,
        chosen,
        max_age=COOKIE_DAYS * 86400,
        secure=deps.settings.secure_cookies,
        httponly=True,
        samesite="Lax",
    )
    return response


def _keep_preference(chosen: str) -> None:
    """Of who is logged in: e-mails are in it from now on. The page is in it even while that cannot be kept."""
    if logged_in() is None:
        return
    try:
        services().users.prefer(token(), language=chosen)
    except AisleError as error:
        log.warning("the language %s could not be kept with an account: %s", chosen, error)
