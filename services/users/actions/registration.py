"""Registration, and the letter that each one causes: it carries the password that was chosen in it.

Whoever confirms an e-mail never makes a password good that somebody else chose (see `verification`). So two people who
register one address each get a letter of their own, and the one that is answered decides.
"""

import hashlib
import time

from services.users.actions.accounts import new_user
from services.users.actions.emails import account_of, claim_for_new_account, place_for_new_account
from services.users.actions.letters import (
    VERIFY,
    may_get_mail,
    new_token,
    send_account_exists,
    send_verification,
)
from services.users.actions.tools import Tools
from services.users.documents import claim_id
from services.users.rules import EmailTaken, check_password, normalised_email
from shared.couch import Doc, QueryRefused
from shared.errors import Unavailable
from shared.limits import Limit, network_of

_ANSWER_SECONDS = 0.4
_LOCK_SECONDS = 2
_FROM_REGISTRATION = ("name", "password", "registration")


def register(
    tools: Tools, name: str, email: str, password: str, address: str, request: str | None = None
) -> Doc:
    """A new, unverified account and its verification letter; `request` makes a retry find what it made.

    One at a time for an e-mail: a cluster's node may keep a version that it answered 409 to, and show it later.
    Raises EmailTaken, Invalid, TooManyRequests.
    """
    email = _checked(tools, name, email, password, address)
    with tools.turn(f"register:{claim_id(email)}") as ours:
        if not ours:
            raise EmailTaken("Somebody is just registering this e-mail; try again in a moment.")
        return _register(tools, name, email, password, request)


def ask_registration(
    tools: Tools, name: str, email: str, password: str, address: str, registration: str = ""
) -> None:
    """For pages: a letter goes to the address whatever we know of it, and neither answer nor time tells the caller more.

    To a new address the verification of a new account, to an unverified one the verification of this registration, to
    an account's owner that there is one. `registration` is a secret of the caller's, which confirms without a password.
    Raises Invalid, TooManyRequests.
    """
    began = time.monotonic()
    email = _checked(tools, name, email, password, address)
    with tools.turn(f"register:{claim_id(email)}", _LOCK_SECONDS) as ours:
        if not ours:
            raise Unavailable("Another registration of this address is under way; try again in a moment.")
        try:
            _register(tools, name, email, password, None, registration)
        except EmailTaken:
            _register_again(tools, name, email, password, registration)
    time.sleep(max(0.0, began + _ANSWER_SECONDS - time.monotonic()))


def resend_verification(tools: Tools, email: str, registration: str = "") -> None:
    """A new verification letter, if there is an unverified account; the caller learns nothing either way. 2 reads.

    It confirms the registration that was made with this secret, else the account's first one.
    """
    email = normalised_email(email)
    user = account_of(tools, email)
    if may_get_mail(tools, email) and user is not None and not user["email_verified"]:
        tools.later(_write_again, tools, user, registration)


def digest_of(registration: str) -> str:
    """How a registration's secret is stored."""
    return hashlib.sha256(f"registration {registration}".encode()).hexdigest()


def _checked(tools: Tools, name: str, email: str, password: str, address: str) -> str:
    email = normalised_email(email)
    check_password(password, email, name, tools.passwords.common)
    network = network_of(address)
    tools.limits.take([Limit("register", network, tools.settings.registrations_per_hour, 3600)])
    return email


def _register(
    tools: Tools, name: str, email: str, password: str, request: str | None, registration: str = ""
) -> Doc:
    userid, present = place_for_new_account(tools, email)
    if present is not None:
        if not request or present.get("request") != request:
            raise EmailTaken("Log in, or ask for a new password.")
        resend_verification(tools, email)
        return present
    claim_for_new_account(tools, email, userid)
    user = new_user(userid, name, email, tools.passwords.hash(password), request=request)
    token, text = _verification(tools, user, _chosen(name, user["password"], registration))
    written, _ = tools.store.put_many([user, token])
    if written.error not in (None, "conflict"):
        raise QueryRefused(f"{written.id}: {written.error} {written.reason}")
    if not _is_ours(tools, user):
        raise EmailTaken("Log in, or ask for a new password.")
    send_verification(tools, email, text)
    return user


def _register_again(tools: Tools, name: str, email: str, password: str, registration: str) -> None:
    """The e-mail has an account: an unverified one may become the one of this registration, by its own letter."""
    user = account_of(tools, email)
    chosen = _chosen(name, tools.passwords.hash(password), registration)
    if user is None or not may_get_mail(tools, email):
        return
    if user["email_verified"]:
        send_account_exists(tools, email)
        return
    token, text = _verification(tools, user, chosen)
    tools.store.put(token)
    send_verification(tools, email, text)


def _write_again(tools: Tools, user: Doc, registration: str) -> None:
    chosen: dict[str, str] = {}
    if registration:
        tokens = tools.store.some_of(user["userid"], "token-")
        same = [doc for doc in tokens if doc.get("registration") == digest_of(registration)]
        chosen = {name: same[-1][name] for name in _FROM_REGISTRATION} if same else {}
    token, text = _verification(tools, user, chosen)
    tools.store.put(token)
    send_verification(tools, user["email"], text)


def _verification(tools: Tools, user: Doc, chosen: dict[str, str]) -> tuple[Doc, str]:
    return new_token(tools, user["userid"], VERIFY, user["email"], **chosen)


def _chosen(name: str, password_hash: str, registration: str) -> dict[str, str]:
    chosen = {"name": name, "password": password_hash}
    return {**chosen, "registration": digest_of(registration)} if registration else chosen


def _is_ours(tools: Tools, user: Doc) -> bool:
    """A cluster may accept two firsts, or store one and yet call it a conflict: what a read finds afterwards is what counts."""
    claim = claim_id(user["email"])
    found = tools.store.get_many([user["_id"], claim])
    if claim in found and found[claim]["userid"] != user["userid"]:
        tools.store.delete(found[user["_id"]])
        return False
    return user["_id"] in found and found[user["_id"]]["password"] == user["password"]
