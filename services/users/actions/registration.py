"""Registration, and the e-mail that each one causes: it carries the password that was chosen in it.

Confirming an e-mail never activates a password that another person chose (see `verification`). So two people who
register one address each get an e-mail of their own, and the one that is answered decides.
"""

import hashlib
import time

from services.users.actions.accounts import new_user
from services.users.actions.email_claims import account_of, claim_for_new_account, userid_for_new_account
from services.users.actions.notifications import (
    VERIFY,
    may_send_email,
    new_token,
    send_account_exists,
    send_verification,
)
from services.users.declarations.accounts import Account, Token
from services.users.dependencies import Dependencies
from services.users.documents import claim_id
from services.users.rules.errors import EmailTaken
from services.users.rules.passwords import check_password
from shared.couch import QueryRefused
from shared.emails import normalised_email
from shared.errors import Unavailable
from shared.limits import Limit, network_of
from shared.translation import keep_language

_MIN_ANSWER_SECONDS = 0.4
_LOCK_WAIT_SECONDS = 2
_FROM_REGISTRATION = ("name", "password", "registration")


def register(
    deps: Dependencies, name: str, email: str, password: str, address: str, request: str | None = None
) -> Account:
    """A new, unverified account and its verification e-mail; `request` makes a retry find what it made.

    One at a time for an e-mail: a cluster's node may keep a version that it answered 409 to, and show it later.
    Raises EmailTaken, Invalid, TooManyRequests.
    """
    email = _checked(deps, name, email, password, address)
    with deps.locks.hold(f"register:{claim_id(email)}") as acquired:
        if not acquired:
            raise EmailTaken("This e-mail is being registered just now; try again in a moment.")
        return _register(deps, name, email, password, request)


def request_registration(
    deps: Dependencies, name: str, email: str, password: str, address: str, registration: str = ""
) -> None:
    """For pages: an e-mail goes to the address whatever we know of it, and neither answer nor time tells the caller more.

    To a new address the verification of a new account, to an unverified one the verification of this registration, to
    an account's owner that there is one. `registration` is a secret of the caller's, which confirms without a password.
    Raises Invalid, TooManyRequests.
    """
    began = time.monotonic()
    email = _checked(deps, name, email, password, address)
    with deps.locks.hold(f"register:{claim_id(email)}", wait=_LOCK_WAIT_SECONDS) as acquired:
        if not acquired:
            raise Unavailable("Another registration of this address is under way; try again in a moment.")
        try:
            _register(deps, name, email, password, None, registration)
        except EmailTaken:
            _register_existing(deps, name, email, password, registration)
    time.sleep(max(0.0, began + _MIN_ANSWER_SECONDS - time.monotonic()))


def resend_verification(deps: Dependencies, email: str, registration: str = "") -> None:
    """A new verification e-mail, if there is an unverified account; the caller learns nothing either way. 2 reads.

    It confirms the registration that was made with this secret, else the account's first one.
    """
    email = normalised_email(email)
    user = account_of(deps, email)
    if may_send_email(deps, email) and user is not None and not user["email_verified"]:
        deps.background.run(keep_language(_resend), deps, user, registration)


def digest_of(registration: str) -> str:
    """How a registration's secret is stored."""
    return hashlib.sha256(f"registration {registration}".encode()).hexdigest()


def _checked(deps: Dependencies, name: str, email: str, password: str, address: str) -> str:
    email = normalised_email(email)
    check_password(password, email, name, deps.passwords.common)
    network = network_of(address)
    deps.limits.take([Limit("register", network, deps.settings.registrations_per_hour, 3600)])
    return email


def _register(
    deps: Dependencies, name: str, email: str, password: str, request: str | None, registration: str = ""
) -> Account:
    userid, present = userid_for_new_account(deps, email)
    if present is not None:
        if not request or present.get("request") != request:
            raise EmailTaken("Log in, or ask for a new password.")
        resend_verification(deps, email)
        return present
    claim_for_new_account(deps, email, userid)
    user = new_user(userid, name, email, deps.passwords.hash(password), request=request)
    token, text = _verification(deps, user, _chosen(name, user["password"], registration))
    written, _ = deps.store.put_many([user, token])
    if written.error not in (None, "conflict"):
        raise QueryRefused(f"{written.id}: {written.error} {written.reason}")
    if not _is_stored(deps, user):
        raise EmailTaken("Log in, or ask for a new password.")
    send_verification(deps, userid, email, text)
    return user


def _register_existing(deps: Dependencies, name: str, email: str, password: str, registration: str) -> None:
    """The address has an account: an unverified one may become the one of this registration, by its own e-mail."""
    user = account_of(deps, email)
    chosen = _chosen(name, deps.passwords.hash(password), registration)
    if user is None or not may_send_email(deps, email):
        return
    if user["email_verified"]:
        send_account_exists(deps, user["userid"], email)
        return
    token, text = _verification(deps, user, chosen)
    deps.store.put(token)
    send_verification(deps, user["userid"], email, text)


def _resend(deps: Dependencies, user: Account, registration: str) -> None:
    chosen: dict[str, str] = {}
    if registration:
        tokens = deps.store.documents_with_prefix(user["userid"], "token-")
        same = [doc for doc in tokens if doc.get("registration") == digest_of(registration)]
        chosen = {name: same[-1][name] for name in _FROM_REGISTRATION} if same else {}
    token, text = _verification(deps, user, chosen)
    deps.store.put(token)
    send_verification(deps, user["userid"], user["email"], text)


def _verification(deps: Dependencies, user: Account, chosen: dict[str, str]) -> tuple[Token, str]:
    return new_token(deps, user["userid"], VERIFY, user["email"], **chosen)


def _chosen(name: str, password_hash: str, registration: str) -> dict[str, str]:
    chosen = {"name": name, "password": password_hash}
    return {**chosen, "registration": digest_of(registration)} if registration else chosen


def _is_stored(deps: Dependencies, user: Account) -> bool:
    """A cluster may accept two firsts, or store one and yet call it a conflict: what a read finds afterwards is what counts."""
    claim = claim_id(user["email"])
    found = deps.store.get_many([user["_id"], claim])
    if claim in found and found[claim]["userid"] != user["userid"]:
        deps.store.delete(found[user["_id"]])
        return False
    return user["_id"] in found and found[user["_id"]]["password"] == user["password"]
