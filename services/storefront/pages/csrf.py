"""Where a form may come from: one of our own pages, shown by a token or by what the browser says of the request.

A page kept for everybody (no session, see `caching`) carries no token. What it can send, a product into the basket onto the wish list, or a wish to hear of it, is taken
when the browser says that our own page sent it, or when there is no session that another site could abuse.
"""

import base64
import binascii
import hmac
import secrets
from urllib.parse import urlsplit

from flask import Response, g, request, session
from markupsafe import Markup

from services.storefront.translation import gettext as _
from shared.errors import Forbidden

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
TOKENLESS = frozenset({"basket.add", "currency.choose", "language.choose", "stock_alerts.ask", "wishes.add"})
"""What a page without a token can send."""

_BYTES = 18


class BadToken(Forbidden):
    code, title = "bad_csrf_token", "This form is out of date"


def csrf_token() -> str:
    """The token every form of this browser carries; `mask_token` gives it another look in every answer."""
    if not _is_present_owners(session.get("csrf", "")):
        session.permanent = True
        session["csrf"] = f"{g.get('owner', '')}.{secrets.token_urlsafe(_BYTES)}"
    token: str = session["csrf"]
    g.csrf_shown = token.encode()
    return token


def csrf_of_session() -> Markup:
    """The hidden input for the forms of pages that are kept for everybody: nothing for a browser without a session."""
    if not session:
        return Markup()
    return Markup('<input type="hidden" name="_csrf" value="{}">').format(csrf_token())


def mask_token(response: Response) -> None:
    """Writes the token masked anew, so that lengths of compressed answers tell nothing about it (BREACH)."""
    token = g.get("csrf_shown")
    if token and not response.is_streamed:
        response.set_data(response.get_data().replace(token, _masked(token)))


def check_form() -> None:
    """Refuses a change that comes from none of our own forms. The form is read last, and of a known browser only."""
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        raise BadToken(_("Forms are taken from our own pages only."))
    if request.endpoint in TOKENLESS and _needs_no_token():
        return
    known = session.get("csrf", "")
    if not known or not _is_present_owners(known):
        raise BadToken(_("Go back, load the page again and send the form once more."))
    sent = request.headers.get("X-CSRF-Token") or request.form.get("_csrf", "")
    if not any(hmac.compare_digest(each, known.encode()) for each in (_unmasked(sent), sent.encode())):
        raise BadToken(_("Go back, load the page again and send the form once more."))


def sent_owner() -> str:
    """Whom the page of this form was shown to, as its token says; "" for a guest."""
    sent = request.form.get("_csrf", "")
    return (_unmasked(sent) or sent.encode()).rpartition(b".")[0].decode("ascii", "replace")


def _is_present_owners(token: str) -> bool:
    """Whether a token was handed to who is logged in now, or to a guest as this one: `g.owner`, see `visitor.owner`."""
    return token.rpartition(".")[0] == g.get("owner", "") and "." in token


def _needs_no_token() -> bool:
    """Browsers say where a form comes from; who says nothing has no session that could be abused, or shows the token."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site == "same-origin"
    if origin is not None:
        return urlsplit(origin).netloc == request.host
    return not request.cookies


def _masked(token: bytes) -> bytes:
    mask = secrets.token_bytes(len(token))
    return base64.urlsafe_b64encode(mask + _xor(token, mask))


def _unmasked(sent: str) -> bytes:
    try:
        raw = base64.b64decode(sent.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""
    half = len(raw) // 2
    return _xor(raw[half:], raw[:half])


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
