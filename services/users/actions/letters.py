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


def new_token(tools: Tools, userid: str, purpose: str, email: str, **more: str) -> tuple[Doc, str]:
    """An unsaved token document (with `more` in it) and the text that goes into the link: `{userid}.{secret}`."""
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
        **more,
    )
    return doc, f"{userid}.{secret}"


def may_get_mail(tools: Tools, email: str) -> bool:
    """Whether one more mail to this address is decent: nobody can be flooded through our forms."""
    return tools.limits.allows(Limit("mail", email, tools.settings.mails_per_hour, 3600))


def send_verification(tools: Tools, email: str, token: str) -> None:
    """Whoever gets it may never have heard of us, so it carries no word of whoever typed the address in."""
    hours = tools.settings.verify_token_hours
    text = (
        "Hello,\n\nsomebody, hopefully you, made an account in our shop with this e-mail address. Please confirm it, with the "
        f"password that you chose or with a new one. The link is good for {hours} hours.\n\n"
        "If it was not you, ignore this letter: nobody can log in with your address."
    )
    _send(tools, email, "Confirm your e-mail address", text, "verify", token, "Confirm")


def send_change_of_email(tools: Tools, email: str, token: str) -> None:
    hours = tools.settings.verify_token_hours
    text = (
        "Hello,\n\nsomebody, hopefully you, asked to move an account in our shop to this e-mail address. Please confirm it, "
        f"with that account's password. The link is good for {hours} hours.\n\n"
        "If it was not you, ignore this letter: nothing has changed."
    )
    _send(tools, email, "Confirm your new e-mail address", text, "verify", token, "Confirm")


def send_account_exists(tools: Tools, email: str) -> None:
    """Instead of a verification: the page that was filled in says nothing about whose addresses we know."""
    text = (
        "Hello,\n\nsomebody, hopefully you, tried to make an account in our shop with this e-mail address. You have one "
        "already: log in, or ask for a new password there.\n\nIf it was not you, ignore this letter: nothing has changed."
    )
    tools.mailer.send(
        Letter(email, "You have an account already", text, f"{tools.settings.storefront_url}/login", "Log in")
    )


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
