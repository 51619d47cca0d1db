"""Confirming an address: the e-mail shows whose it is, and that alone activates no stranger's password.

A person may have registered an address that is not theirs, and wait for its owner to open the link. So a page asks who
confirms for the password of that registration, or for a new one, which then is the account's only one; a browser that
registered shows its secret instead. The token alone is taken from programs, which act for who registered in them.
"""

import hmac
from dataclasses import dataclass
from typing import Any, cast

from services.users.actions.accounts import (
    BadToken,
    end_of_sessions,
    load_token,
    update_user,
    use_token,
)
from services.users.actions.email_claims import claim_for_account, release_email
from services.users.actions.notifications import CHANGE_EMAIL, VERIFY
from services.users.actions.registration import digest_of
from services.users.declarations.accounts import Account, Token
from services.users.dependencies import Dependencies
from services.users.rules.errors import EmailTaken, WrongPassword
from services.users.rules.passwords import check_password
from shared.clock import timestamp
from shared.limits import Limit


@dataclass(frozen=True)
class Proof:
    """What a confirmation brings beside the token: at most one of these."""

    password: str | None = None
    new_password: str | None = None
    registration: str | None = None


def verify(deps: Dependencies, text: str, proof: Proof) -> Account:
    """Uses a verification (or change-of-e-mail) token; the account as it is then. Raises BadToken, WrongPassword, EmailTaken."""
    token, user = load_token(deps, text, (VERIFY, CHANGE_EMAIL))
    if token["email"] != user["email"] and token["purpose"] == VERIFY:
        raise BadToken("This link belongs to an e-mail address that the account has left.")
    _check(deps, proof, token, user)
    if token["purpose"] == CHANGE_EMAIL:
        return _confirm_new_email(deps, token, user)
    chosen = _chosen(deps, proof, token, user)
    confirmed: Account = {**_confirmed(user, chosen), "updated": timestamp()}
    confirmed.setdefault("verified", confirmed["updated"])
    written, _ = deps.store.put_many([confirmed, {**token, "used": timestamp()}])
    if written.error:
        return update_user(
            deps, user["userid"], lambda present: _confirmed(_same_email(present, token), chosen)
        )
    return confirmed


def _check(deps: Dependencies, proof: Proof, token: Token, user: Account) -> None:
    """Raises WrongPassword, or TooManyRequests after too many of them; BadToken where no new password can be set."""
    if proof.registration is not None and not _is_of(token, proof.registration):
        raise WrongPassword("This link belongs to a registration in another browser: its password is needed.")
    if proof.password is not None:
        is_open = token["purpose"] == VERIFY and not user["email_verified"]
        stored = token.get("password") if is_open else None
        settings = deps.settings
        tries = settings.login_tries_per_account, settings.login_window_seconds
        with deps.limits.attempt(Limit("verification", user["userid"], *tries, forgiven=True)):
            if not deps.passwords.check(proof.password, stored or user["password"]):
                raise WrongPassword("This is not the password of the registration that this link belongs to.")
    if proof.new_password is not None:
        if token["purpose"] == CHANGE_EMAIL:
            raise BadToken(
                "This link moves an account to another address: that account's password is needed."
            )
        if user["email_verified"]:
            raise BadToken("This address is confirmed already: log in, or ask for a new password.")
        check_password(proof.new_password, user["email"], user["name"], deps.passwords.common)


def _is_of(token: Token, registration: str) -> bool:
    return hmac.compare_digest(token.get("registration", ""), digest_of(registration))


def _chosen(deps: Dependencies, proof: Proof, token: Token, user: Account) -> dict[str, Any]:
    """What the account gets of the registration that is confirmed, or the password set instead."""
    moment = timestamp()
    if proof.new_password is not None:
        password_hash = deps.passwords.hash(proof.new_password)
        return {"password": password_hash, "password_changed": moment, "sessions_from": end_of_sessions()}
    if token.get("password", user["password"]) == user["password"]:
        return {}
    return {"password": token["password"], "name": token["name"], "password_changed": moment}


def _confirmed(user: Account, chosen: dict[str, Any]) -> Account:
    """An account that is confirmed already stays as it is, whatever other e-mails there are."""
    confirmed = {**chosen, "email_verified": True}
    return user if user["email_verified"] else cast(Account, {**user, **confirmed})


def _same_email(user: Account, token: Token) -> Account:
    if token["email"] != user["email"]:
        raise BadToken("This link belongs to an e-mail address that the account has left.")
    return user


def _confirm_new_email(deps: Dependencies, token: Token, user: Account) -> Account:
    new, old = token["email"], user["email"]
    if user.get("pending_email") != new:
        raise BadToken("The account has asked for another e-mail address since.")
    if not claim_for_account(deps, new, user["userid"]):
        raise EmailTaken("Another account uses this e-mail.")
    use_token(deps, token)
    moment = timestamp()
    change = {
        "email": new,
        "email_verified": True,
        "email_changed": moment,
        "pending_email": None,
        "pending_changed": moment,
    }
    changed = update_user(deps, user["userid"], lambda present: {**present, **change})
    release_email(deps, old, user["userid"])
    return changed
