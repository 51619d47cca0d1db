"""The e-mails this service writes, and the one-time tokens in them."""

import secrets
from datetime import timedelta
from urllib.parse import urlencode

from services.users.actions.email_log import record
from services.users.declarations.accounts import Account, Token
from services.users.dependencies import Dependencies
from services.users.documents import TOKEN, token_id
from shared.clock import iso, now
from shared.limits import Limit
from shared.mail import Email
from shared.translation import gettext, language_active
from shared.translation import gettext_noop as _

VERIFY, RESET, CHANGE_EMAIL = "verify", "reset", "email"
VERIFICATION, NEW_PASSWORD, CHANGE_OF_EMAIL = "verification", "new-password", "change-of-email"
ACCOUNT_EXISTS, PASSWORD_CHANGE, MOVE_REQUEST = "account-exists", "password-changed", "move-requested"
PASSWORD_CHANGED = _("Your password was changed, and you were logged out everywhere.")
MOVE_REQUESTED = _("A request was made to move this account to another e-mail address.")
_NOTHING_CHANGED = _("If it was not you, ignore this e-mail: nothing has changed.")


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


def send_verification(deps: Dependencies, userid: str, email: str, token: str) -> None:
    """Its reader may never have heard of us, so it carries no word that the sender of the form typed in."""
    deps.mailer.send(verification_email(deps, email, token))
    record(deps, userid, VERIFICATION)


def send_change_of_email(deps: Dependencies, user: Account, email: str, token: str) -> None:
    with language_active(deps.language(user.get("language", ""))):
        deps.mailer.send(change_of_email(deps, email, token))
    record(deps, user["userid"], CHANGE_OF_EMAIL)


def send_account_exists(deps: Dependencies, userid: str, email: str) -> None:
    """Instead of a verification: the page that was filled in says nothing about whose addresses we know."""
    deps.mailer.send(account_exists_email(deps, email))
    record(deps, userid, ACCOUNT_EXISTS)


def send_reset(deps: Dependencies, user: Account, token: str) -> None:
    with language_active(deps.language(user.get("language", ""))):
        deps.mailer.send(reset_email(deps, user["name"], user["email"], token))
    record(deps, user["userid"], NEW_PASSWORD)


def send_changed(deps: Dependencies, user: Account, what: str) -> None:
    """`what` is PASSWORD_CHANGED or MOVE_REQUESTED."""
    with language_active(deps.language(user.get("language", ""))):
        deps.mailer.send(changed_email(deps, user["name"], user["email"], what))
    record(deps, user["userid"], PASSWORD_CHANGE if what == PASSWORD_CHANGED else MOVE_REQUEST)


def verification_email(deps: Dependencies, email: str, token: str) -> Email:
    text = gettext(
        "somebody, hopefully you, made an account in our shop with this e-mail address. Please confirm it, with the password that you "
        "chose or with a new one. The link is good for %(hours)s hours.",
        hours=deps.settings.verify_token_hours,
    )
    ignored = gettext("If it was not you, ignore this e-mail: nobody can log in with your address.")
    return deps.email(
        email,
        gettext("Confirm your e-mail address"),
        _parts(gettext("Hello,"), text, ignored),
        page=_page("verify", token),
        label=gettext("Confirm"),
    )


def change_of_email(deps: Dependencies, email: str, token: str) -> Email:
    text = gettext(
        "somebody, hopefully you, asked to move an account in our shop to this e-mail address. Please confirm it, with that account's "
        "password. The link is good for %(hours)s hours.",
        hours=deps.settings.verify_token_hours,
    )
    return deps.email(
        email,
        gettext("Confirm your new e-mail address"),
        _parts(gettext("Hello,"), text, gettext(_NOTHING_CHANGED)),
        page=_page("verify", token),
        label=gettext("Confirm"),
    )


def account_exists_email(deps: Dependencies, email: str) -> Email:
    text = gettext(
        "somebody, hopefully you, tried to make an account in our shop with this e-mail address. You have one already: log in, or ask for "
        "a new password there."
    )
    return deps.email(
        email,
        gettext("You have an account already"),
        _parts(gettext("Hello,"), text, gettext(_NOTHING_CHANGED)),
        page="/login",
        label=gettext("Log in"),
    )


def reset_email(deps: Dependencies, name: str, email: str, token: str) -> Email:
    text = gettext(
        "somebody, hopefully you, asked to set a new password. The link is good for %(minutes)s minutes.",
        minutes=deps.settings.reset_token_minutes,
    )
    return deps.email(
        email,
        gettext("Set a new password"),
        _parts(gettext("Hello %(name)s,", name=name), text, gettext(_NOTHING_CHANGED)),
        page=_page("reset/confirm", token),
        label=gettext("Set a new password"),
    )


def changed_email(deps: Dependencies, name: str, email: str, what: str) -> Email:
    warning = gettext("If this was not you, set a new password at once.")
    return deps.email(
        email,
        gettext("Your account was changed"),
        _parts(gettext("Hello %(name)s,", name=name), gettext(what), warning),
        page="/account",
        label=gettext("Your account"),
    )


def _parts(*parts: str) -> str:
    return "\n\n".join(parts)


def _page(name: str, token: str) -> str:
    return f"/{name}?{urlencode({'token': token})}"
