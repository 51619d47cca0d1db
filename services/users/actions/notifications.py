"""The e-mails this service writes, and the one-time tokens in them."""

import secrets
from datetime import timedelta
from urllib.parse import urlencode

from services.users.dependencies import Dependencies
from services.users.documents import TOKEN, Token, token_id
from shared.clock import iso, now
from shared.limits import Limit
from shared.mail import Email

VERIFY, RESET, CHANGE_EMAIL = "verify", "reset", "email"


def new_token(deps: Dependencies, userid: str, purpose: str, email: str, **more: str) -> tuple[Token, str]:
    """An unsaved token document (with `more` in it) and the text that goes into the link: `{userid}.{secret}`."""
    secret = secrets.token_urlsafe(24)
    lives = (
        timedelta(minutes=deps.settings.reset_token_minutes)
        if purpose == RESET
        else timedelta(hours=deps.settings.verify_token_hours)
    )
    moment = now()
    doc = TOKEN.build(
        token_id(userid, secret),
        userid=userid,
        purpose=purpose,
        email=email,
        created=iso(moment),
        expires=iso(moment + lives),
        **more,
    )
    return doc, f"{userid}.{secret}"


def may_send_email(deps: Dependencies, email: str) -> bool:
    """Whether one more mail to this address is decent: nobody can be flooded through our forms."""
    return deps.limits.allows(Limit("mail", email, deps.settings.mails_per_hour, 3600))


def send_verification(deps: Dependencies, email: str, token: str) -> None:
    """Its reader may never have heard of us, so it carries no word that the sender of the form typed in."""
    hours = deps.settings.verify_token_hours
    text = (
        "Hello,\n\nsomebody, hopefully you, made an account in our shop with this e-mail address. Please confirm it, with the "
        f"password that you chose or with a new one. The link is good for {hours} hours.\n\n"
        "If it was not you, ignore this e-mail: nobody can log in with your address."
    )
    _send(deps, email, "Confirm your e-mail address", text, "verify", token, "Confirm")


def send_change_of_email(deps: Dependencies, email: str, token: str) -> None:
    hours = deps.settings.verify_token_hours
    text = (
        "Hello,\n\nsomebody, hopefully you, asked to move an account in our shop to this e-mail address. Please confirm it, "
        f"with that account's password. The link is good for {hours} hours.\n\n"
        "If it was not you, ignore this e-mail: nothing has changed."
    )
    _send(deps, email, "Confirm your new e-mail address", text, "verify", token, "Confirm")


def send_account_exists(deps: Dependencies, email: str) -> None:
    """Instead of a verification: the page that was filled in says nothing about whose addresses we know."""
    text = (
        "Hello,\n\nsomebody, hopefully you, tried to make an account in our shop with this e-mail address. You have one "
        "already: log in, or ask for a new password there.\n\nIf it was not you, ignore this e-mail: nothing has changed."
    )
    deps.mailer.send(
        Email(email, "You have an account already", text, f"{deps.settings.storefront_url}/login", "Log in")
    )


def send_reset(deps: Dependencies, name: str, email: str, token: str) -> None:
    minutes = deps.settings.reset_token_minutes
    text = f"Hello {name},\n\nsomebody, hopefully you, asked to set a new password. The link is good for {minutes} minutes.\n\nIf it was not you, ignore this e-mail: nothing has changed."
    _send(deps, email, "Set a new password", text, "reset/confirm", token, "Set a new password")


def send_changed(deps: Dependencies, name: str, email: str, what: str) -> None:
    text = f"Hello {name},\n\n{what}\n\nIf this was not you, set a new password at once."
    deps.mailer.send(
        Email(
            email,
            "Your account was changed",
            text,
            f"{deps.settings.storefront_url}/account",
            "Your account",
        )
    )


def _send(deps: Dependencies, email: str, subject: str, text: str, page: str, token: str, label: str) -> None:
    link = f"{deps.settings.storefront_url}/{page}?{urlencode({'token': token})}"
    deps.mailer.send(Email(email, subject, text, link, label))
