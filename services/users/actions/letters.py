"""The letters this service writes, and the one-time tokens in them."""

import secrets
from datetime import timedelta
from urllib.parse import urlencode

from services.users.actions.tools import Tools
from services.users.documents import TOKEN, token_id
from shared.clock import iso, now
from shared.couch import Doc
from shared.limits import Limit
from shared.mail import Letter

VERIFY, RESET, CHANGE_EMAIL = "verify", "reset", "email"


def new_token(tools: Tools, userid: str, purpose: str, email: str) -> tuple[Doc, str]:
    """An unsaved token document and the text that goes into the link: `{userid}.{secret}`."""
    secret = secrets.token_urlsafe(24)
    lives = (
        timedelta(minutes=tools.settings.reset_token_minutes)
        if purpose == RESET
        else timedelta(hours=tools.settings.verify_token_hours)
    )
    moment = now()
    doc = TOKEN.new(
        token_id(userid, secret),
        userid=userid,
        purpose=purpose,
        email=email,
        created=iso(moment),
        expires=iso(moment + lives),
    )
    return doc, f"{userid}.{secret}"


def may_get_mail(tools: Tools, email: str) -> bool:
    """Whether one more mail to this address is decent: nobody can be flooded through our forms."""
    return tools.limits.allows(Limit("mail", email, tools.settings.mails_per_hour, 3600))


def send_verification(tools: Tools, name: str, email: str, token: str) -> None:
    hours = tools.settings.verify_token_hours
    text = f"Hello {name},\n\nplease confirm that this is your e-mail address. The link is good for {hours} hours."
    _send(tools, email, "Confirm your e-mail address", text, "verify", token, "Confirm")


def send_reset(tools: Tools, name: str, email: str, token: str) -> None:
    minutes = tools.settings.reset_token_minutes
    text = f"Hello {name},\n\nsomebody, hopefully you, asked to set a new password. The link is good for {minutes} minutes.\n\nIf it was not you, ignore this letter: nothing has changed."
    _send(tools, email, "Set a new password", text, "reset/confirm", token, "Set a new password")


def send_changed(tools: Tools, name: str, email: str, what: str) -> None:
    text = f"Hello {name},\n\n{what}\n\nIf this was not you, set a new password at once."
    tools.mailer.send(
        Letter(
            email,
            "Your account was changed",
            text,
            f"{tools.settings.storefront_url}/account",
            "Your account",
        )
    )


def _send(tools: Tools, email: str, subject: str, text: str, page: str, token: str, label: str) -> None:
    link = f"{tools.settings.storefront_url}/{page}?{urlencode({'token': token})}"
    tools.mailer.send(Letter(email, subject, text, link, label))
