"""Around every page: security headers, template helpers, errors as pages."""

import logging
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from flask import (
    Flask,
    Response,
    flash,
    g,
    get_flashed_messages,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from gunicorn.http.errors import ParseException
from markupsafe import Markup
from redis.exceptions import RedisError
from werkzeug import Response as BaseResponse
from werkzeug.exceptions import HTTPException

from services.storefront.actions.sessions import ENDED
from services.storefront.address_forms import region_text
from services.storefront.forms import error_text
from services.storefront.pages import saved_forms
from services.storefront.pages.assets import asset, files
from services.storefront.pages.cards import cards, earlier_titles
from services.storefront.pages.context import dependencies, enhanced
from services.storefront.pages.csrf import BadToken, csrf_of_session, csrf_token, sent_owner
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.filter_options import filter_options, price_bands
from services.storefront.pages.language import shown_languages, shown_menu
from services.storefront.pages.picture_tags import all_shown_first, gallery, product_picture, shown_first
from services.storefront.pages.visitor import basket_count, here, leave, logged_in, login_url
from services.storefront.rules import attributes, backorders, customs, prices, progress, taxonomy
from services.storefront.rules.payments import paid_with
from services.storefront.rules.service_texts import service_text
from services.storefront.rules.stall import OVERSOLD_OUTCOMES
from services.storefront.rules.variants import options_text
from services.storefront.rules.wording import days_text
from services.storefront.settings import Settings
from services.storefront.translation import (
    active_language,
    day_text,
    isolated_markup,
    join_words,
    moment_text,
    number_text,
)
from services.storefront.translation import gettext as _
from shared.errors import AisleError, Unauthorized, Unavailable
from shared.request_id import request_id

log = logging.getLogger(__name__)


@files.get("/robots.txt")
def robots() -> Response:
    return Response(
        "User-agent: *\nDisallow: /admin\nDisallow: /account\nDisallow: /basket\nDisallow: /checkout\n",
        mimetype="text/plain",
    )


def register_layout(app: Flask) -> None:
    app.register_blueprint(files)
    app.after_request(add_headers)
    app.register_error_handler(AisleError, error_page)
    app.register_error_handler(HTTPException, http_error_page)
    app.register_error_handler(RedisError, unavailable_page)
    app.register_error_handler(ParseException, broken_body_page)
    app.register_error_handler(Exception, unexpected_page)
    app.jinja_env.filters |= {
        "price": prices.shown,
        "plain": prices.plain,
        "day": day,
        "moment": moment,
        "category_href": taxonomy.href,
        "options_text": options_text,
        "days_text": days_text,
        "paid_with": paid_with,
        "path": taxonomy.path_of,
        "opening": opening,
        "attribute": attributes.shown,
        "number": number_text,
        "service_text": service_text,
        "join_words": join_words,
        "backorder_note": backorders.note,
        "bdi": isolated_markup,
        "region": region_text,
        "orderable": backorders.orderable,
        "sent_from": backorders.sent_from,
        "waiting_note": backorders.waiting_note,
        "join_quoted": join_quoted,
        "customs_form": customs.form_name,
    }
    app.jinja_env.globals |= {
        "absolute": absolute,
        "department_links": department_links,
        "asset": asset,
        "cards": product_cards,
        "category_label": category_label,
        "crumbs": crumbs,
        "earlier_titles": earlier_titles,
        "csrf_of_session": csrf_of_session,
        "csrf_token": csrf_token,
        "filter_options": filter_options,
        "gallery": gallery,
        "here": here,
        "here_without": here_without,
        "may_show": may_show,
        "product_picture": product_picture,
        "new_key": new_key,
        "price_bands": price_bands,
        "status_style": progress.style,
        "status_label": progress.label,
        "oversold_outcomes": OVERSOLD_OUTCOMES,
        "with_query": with_query,
    }
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.context_processor(page_context)


def page_context() -> dict[str, Any]:
    """What every page shows around its content. The messages are read only when the template asks for them."""
    saved_forms.announce_restored()
    return {
        "visitor": logged_in(),
        "basket_count": basket_count(),
        "menu": shown_menu(),
        "flashes": lambda: get_flashed_messages(with_categories=True),
        "mailbox": dependencies().mailbox is not None,
        "currencies": dependencies().settings.currencies,
        "chosen_currency": chosen_currency(),
        "language": active_language(),
        "languages": shown_languages(),
    }


def absolute(path: str) -> str:
    """A path of this site as search engines want it: with the name that the browser asked for."""
    return request.host_url.rstrip("/") + path


def crumbs(path: str) -> list[tuple[str, str]]:
    """(label, href) of a category and all above it, topmost first."""
    return shown_menu().crumbs(path)


def category_label(path: str) -> str:
    """What customers read for a category."""
    return shown_menu().label(path)


def department_links(current: str) -> Markup:
    """The departments in the head of every page; `current` is the path of the one shown, or the page's own."""
    menu = shown_menu()
    known = current if current == "/departments" or menu.find(current) else ""
    return Markup(
        dependencies().fragments.get(
            f"departments {known}",
            (menu, active_language()),
            lambda: render_template("parts/department_links.html", menu=menu, current=known),
        )
    )


def product_cards(products: list[dict[str, Any]], level: str) -> Markup:
    return cards(products, all_shown_first(products), level, here(), csrf_of_session())


def may_show(image: str) -> bool:
    """Whether pages show a picture that is kept at this address."""
    return shown_first({"image": image}) is not None


def new_key(action: str = "") -> str:
    """What makes a form that is sent twice happen once: good for one browser. `action`: where a form goes that may be shown again."""
    g.one_time_key_shown = True
    return saved_forms.restored_key(action) or secrets.token_urlsafe(18)


def here_without(name: str) -> str:
    """This page's address without one of its query's parameters; the shop's first page for one that cannot be opened again."""
    if request.method != "GET":
        return "/"
    kept = [(each, value) for each, value in request.args.items(multi=True) if each != name]
    return quote(request.path, safe="/") + (f"?{urlencode(kept)}" if kept else "")


def join_quoted(words: Iterable[str]) -> str:
    """“Red”, “green” and “blue”."""
    return join_words(_("“%(query)s”", query=word) for word in words)


def with_query(**changes: str) -> str:
    """This page's query string with `changes` made."""
    return f"?{urlencode({**request.args, **changes})}"


def opening(text: str, length: int = 600) -> tuple[str, str]:
    """A long text cut in two, between words; the second part is "" for a short one."""
    if len(text) <= length * 1.3:
        return text, ""
    cut = text.rfind(" ", 0, length)
    cut = cut if cut > 0 else length
    return text[:cut], text[cut:].strip()


def day(text: str | None) -> str:
    """2026-11-20T23:11:00.000Z -> 20 November 2026"""
    return day_text(_read_time(text)) if text else ""


def moment(text: str | None) -> str:
    """2026-11-20T23:11:00.000Z -> 20 Nov 2026, 23:11 UTC"""
    return moment_text(_read_time(text)) if text else ""


def _read_time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def add_headers(response: Response) -> Response:
    """No foreign code, no inline code, no frames."""
    policy = "Content-Security-Policy"
    if targets := g.get("form_targets"):
        response.headers[policy] = content_policy(dependencies().settings, targets)
    kept = {policy} if policy in response.headers else set()
    response.headers.extend(
        [each for each in security_headers(dependencies().settings) if each[0] not in kept]
    )
    return response


@cache
def content_policy(settings: Settings, form_targets: tuple[str, ...] = ()) -> str:
    pictures = " ".join(["'self'", "data:", *settings.image_origins.split()])
    forms = " ".join(["'self'", *form_targets])
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src {pictures}; connect-src 'self'; manifest-src 'self'; "
        f"form-action {forms}; base-uri 'none'; frame-ancestors 'none'"
    )


@cache
def security_headers(settings: Settings) -> tuple[tuple[str, str], ...]:
    policy = content_policy(settings)
    secure = (("Strict-Transport-Security", "max-age=31536000"),) if settings.secure_cookies else ()
    return (
        ("Content-Security-Policy", policy),
        ("Referrer-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        *secure,
    )


def error_page(error: AisleError) -> BaseResponse:
    """An error in words a customer can use; who must log in is sent there."""
    if isinstance(error, BadToken) and session and saved_forms.is_own_form():
        return stale_form_page()
    if isinstance(error, Unauthorized):
        return login_first_page(error)
    if error.status >= 500:
        log.warning("page answered %s: %s", error.status, error.__cause__ or error.detail)
        if (
            request.blueprint == "desk"
            and saved_forms.is_own_form()
            and (kept := saved_forms.keep_unanswered())
        ):
            return kept
    return _answer(
        error.status, service_text(error.title), error_text(error), getattr(error, "retry_after", None)
    )


def stale_form_page() -> BaseResponse:
    """A form of ours whose token is out of date: its page was open while its user logged in or out, or for too long."""
    if request.endpoint == "auth.logout" and logged_in() is None:
        return redirect(url_for("shop.home"), 303)
    sender = _sender()
    return saved_forms.resume(sender, login=bool(sender) and logged_in() is None)


def login_first_page(error: Unauthorized) -> BaseResponse:
    """Who must log in is sent there and back; the old session is forgotten, a form that was sent is kept."""
    found = logged_in()
    if found is not None:
        leave(forget=error.code in ENDED)
    if saved_forms.is_own_form() and (found is not None or session):
        return saved_forms.resume(found.owner if found else _sender(), login=True)
    if found is not None:
        flash(_("Your session has ended. Log in again to go on."), "warn")
    if enhanced():
        return Response(status=401, headers={"HX-Redirect": login_url()})
    return redirect(login_url())


def _sender() -> str:
    return sent_owner() if saved_forms.is_short() else ""


def http_error_page(error: HTTPException) -> BaseResponse:
    if error.code is not None and error.code < 400 or error.response is not None:
        return error.get_response()
    words = {
        404: _("There is nothing at this address."),
        405: _("This address takes no such request."),
        413: _("That is more than we take at once."),
    }
    return _answer(
        error.code or 500, service_text(error.name), words.get(error.code or 500, error.description or "")
    )


def unavailable_page(error: RedisError) -> BaseResponse:
    log.warning("redis is away: %s", error)
    return error_page(Unavailable(retry_after=2))


def broken_body_page(error: ParseException) -> Response:
    """Chunks that are none, and a form that comes too slowly, are found when it is read; the connection is closed after it."""
    if getattr(error, "status", 400) == 408:
        return _answer(
            408, _("This took too long"), _("The form did not arrive in time. Please send it again.")
        )
    return _answer(
        400, _("This cannot be read"), _("Go back, load the page again and send the form once more.")
    )


def unexpected_page(error: Exception) -> Response:
    log.error("unexpected error", exc_info=error)
    return _answer(
        500, _("Something broke on our side"), _("It has been noted. Please try again in a moment.")
    )


def _answer(status: int, title: str, detail: str, retry_after: int | None = None) -> Response:
    template = "parts/problem.html" if enhanced() else "error.html"
    kept = saved_forms.announce_kept() if status == 503 and request.method == "GET" else ""
    detail = f"{detail} {kept}".strip()
    response = Response(
        render_template(template, status=status, title=title, detail=detail, reference=request_id()), status
    )
    if retry_after is not None:
        response.headers["Retry-After"] = str(max(1, int(retry_after)))
    return response
