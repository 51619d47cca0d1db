"""The e-mails that the shop sent, on a laptop where no mail server is (local mode only)."""

import re

from flask import Blueprint, render_template, request
from markupsafe import Markup, escape

from services.storefront.pages.context import dependencies
from services.storefront.store import Mailbox
from services.storefront.translation import gettext as _
from shared.errors import NotFound

mailbox = Blueprint("mailbox", __name__)

_LINK = re.compile(r"https?://[^\s<>\"]+")


@mailbox.get("/mailbox")
def show() -> str:
    to = request.args.get("to", "").strip()
    page = _mails().page(to, request.args.get("after", ""))
    return render_template("mailbox.html", page=page, to=to, linked=linked)


@mailbox.get("/mailbox/<id>")
def one(id: str) -> str:
    return render_template("mail.html", mail=_mails().get(id), linked=linked)


def _mails() -> Mailbox:
    found = dependencies().mailbox
    if found is None:
        raise NotFound(_("This shop sends real mail: look into your own mailbox."))
    return found


def linked(text: str) -> Markup:
    """An e-mail's text with its links made to work."""
    parts, end = [], 0
    for match in _LINK.finditer(text):
        parts += [escape(text[end : match.start()]), Markup('<a href="{0}">{0}</a>').format(match.group())]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])
