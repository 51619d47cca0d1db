"""A form whose session is lost is not lost: kept, and shown again as it was typed once its sender is back.

`resume` answers a form that cannot be processed (nobody is logged in any more, or its CSRF token is out of date),
`keep_unanswered` one that a service did not answer; pages show what was typed with `restore(form, action)` or `restored(action)`. Nothing is done until it is sent again.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import Response, current_app, flash, g, redirect, request, session, url_for
from redis.exceptions import RedisError
from werkzeug import Response as BaseResponse
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from services.storefront.actions.saved_forms import SavedForm, savable
from services.storefront.forms import Form, key
from services.storefront.pages.context import dependencies, enhanced
from services.storefront.pages.visitor import owner
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop

log = logging.getLogger(__name__)

PARAMETER = "form"
MAX_FORMS = 3
NOT_SAVED = "none"
MAX_BYTES = 128 * 1024
UNANSWERED = gettext_noop(
    "The shop did not answer in time, so this may not have been done. What you typed is here again: "
    "look whether it was done, and send it once more if not."
)
SAVED_MESSAGE = gettext_noop("What you typed is kept: load this page again in a moment.")
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def is_own_form() -> bool:
    """Whether a page of ours sent this form: another site's is never kept."""
    if request.method != "POST" or "X-CSRF-Token" in request.headers:
        return False
    site = request.headers.get("Sec-Fetch-Site")
    return site == "same-origin" if site else urlsplit(request.referrer or "").netloc == request.host


def resume(sender: str, *, login: bool) -> BaseResponse:
    """Keeps the form and leads back to its page, by way of the log-in page when `login`."""
    target = with_saved(_page_of_form(), _save(SavedForm(request.path, {}, sender)))
    if login:
        flash(
            _(
                "Your session has ended. Log in, and you are back at the form with what you typed; nothing has been sent."
            ),
            "warn",
        )
        target = url_for("auth.login", next=target)
    return _lead_to(target, 401 if login else 403)


def keep_unanswered() -> BaseResponse | None:
    """Keeps a form that a service did not answer, and leads back to its page; None when it cannot be kept."""
    if not is_short():
        return None
    form_id = _save(SavedForm(request.path, {}, owner(), unanswered=True, key=key(request.form)))
    return None if form_id == NOT_SAVED else _lead_to(with_saved(_page_of_form(), form_id), 503)


def _lead_to(target: str, status: int) -> BaseResponse:
    """`status` is for a page's script, which is led there by a header."""
    return Response(status=status, headers={"HX-Redirect": target}) if enhanced() else redirect(target, 303)


def save_values(action: str, values: Mapping[str, str]) -> str:
    """Keeps what was typed for the form that goes to `action`; the id for `with_saved`."""
    return _remember(SavedForm(action, savable(values.items()), owner()))


def with_saved(page: str, form_id: str) -> str:
    """The address of `page` that shows a saved form again."""
    parts = urlsplit(page)
    query = [(name, value) for name, value in parse_qsl(parts.query, True) if name != PARAMETER]
    return parts._replace(query=urlencode([*query, (PARAMETER, form_id)])).geturl()


def restored(action: str) -> dict[str, str]:
    """What was typed into the form that goes to `action` (a path), when this page is shown to go on with it; else {}."""
    found = _found()
    return found.values if found is not None and found.action == action else {}


def updated(typed: Mapping[str, str]) -> None:
    """Announces nothing where a form is shown again because its sender asked for another country's or another total."""
    if "update" in typed:
        g.restored_announced = True


def restore(form: Form, action: str) -> Form:
    """`form` with what was typed into it before the session was lost."""
    if values := restored(action):
        form.restore(values)
    return form


def restored_key(action: str) -> str:
    """The key of the form that goes to `action` when it was sent before without an answer; else ""."""
    found = _found()
    return found.key if found is not None and found.action == action else ""


def announce_kept() -> str:
    """For a page that cannot be shown now: that what was typed is kept; "" when there is nothing."""
    g.restored_announced = True
    return _(SAVED_MESSAGE) if _found() is not None else ""


def announce_restored() -> None:
    """Says on the page that shows a form again what has come of it."""
    form_id = request.args.get(PARAMETER)
    if form_id is None or form_id not in session.get("forms", []) or g.get("restored_announced"):
        return
    g.restored_announced = True
    if any(category == "bad" for category, _ in session.get("_flashes", [])):
        return  # what went wrong says enough
    found = _found()
    if found is None:
        flash(_("The page had been open for too long, and what you typed could not be kept."), "warn")
    elif found.unanswered:
        flash(_(UNANSWERED), "bad")
    elif found.files:
        flash(
            _("What you typed is here again, but not the file: choose it again. Nothing has been sent yet."),
            "warn",
        )
    else:
        flash(_("What you typed is here again. Nothing has been sent yet: look it over and send it."), "warn")


def _found() -> SavedForm | None:
    """The saved form that this page goes on with, if it is this browser's and this user's."""
    if "restored_form" not in g:
        form_id = request.args.get(PARAMETER, "")
        g.restored_form = _load(form_id) if form_id in session.get("forms", []) else None
    found: SavedForm | None = g.restored_form
    return found


def _load(form_id: str) -> SavedForm | None:
    try:
        found = dependencies().saved_forms.load(form_id)
    except RedisError as error:
        log.warning("a saved form cannot be read: %s", error)
        return None
    return found if found is not None and found.owner in ("", owner()) else None


def _save(form: SavedForm) -> str:
    """Keeps this request's form as `form`, which says the rest of it."""
    if not is_short():
        return _remember(None)
    files = any(each.filename for each in request.files.values())
    return _remember(replace(form, values=savable(request.form.items()), files=files))


def _remember(form: SavedForm | None) -> str:
    """The id under which `form` is kept: this browser's, as are its last few."""
    form_id = NOT_SAVED
    try:
        if form is not None:
            form_id = dependencies().saved_forms.save(form)
    except RedisError as error:
        log.warning("a form could not be kept: %s", error)
    session["forms"] = [*session.get("forms", []), form_id][-MAX_FORMS:]
    return form_id


def is_short() -> bool:
    """Only a short form is read here, for its sender is unknown."""
    length = request.content_length
    return request.mimetype in FORM_TYPES and length is not None and length <= MAX_BYTES


def _page_of_form() -> str:
    """Where the form was shown."""
    referrer = urlsplit(request.referrer or "")
    if referrer.netloc == request.host and _can_be_read(referrer.path):
        return referrer._replace(scheme="", netloc="", fragment="").geturl()
    return request.path if _can_be_read(request.path) else url_for("shop.home")


def _can_be_read(path: str) -> bool:
    try:
        current_app.url_map.bind("").match(path, "GET")
    except RequestRedirect:
        return True
    except HTTPException:
        return False
    return True
