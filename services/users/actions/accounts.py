"""Registration, verification and passwords of an account."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from services.users.actions.emails import (
    account_of,
    claim_for_account,
    claim_for_new_account,
    place_for_new_account,
    refuse_taken,
    release_email,
)
from services.users.actions.letters import (
    CHANGE_EMAIL,
    RESET,
    VERIFY,
    may_get_mail,
    new_token,
    send_changed,
    send_reset,
    send_verification,
)
from services.users.actions.reauthentication import check_current_password
from services.users.actions.tools import JobTools, Tools
from services.users.documents import CUSTOMER_ROLE, USER, auth_id, claim_id, token_id
from services.users.rules import EmailTaken, check_password, is_live, normalised_email
from shared.clock import iso, now, parse, timestamp
from shared.couch import Doc, QueryRefused, UpdateConflict
from shared.errors import BadRequest, NotFound, Unauthorized
from shared.limits import Limit, network_of
from shared.user import User

_RIGHTS = ("roles", "active", "erasure", "email_verified", "sessions_from")


class BadToken(BadRequest):
    code, title = "bad_token", "This link is wrong, used or expired"


def register(
    tools: Tools, name: str, email: str, password: str, address: str, request: str | None = None
) -> Doc:
    """A new, unverified account and its verification letter; `request` makes a retry find what it made.

    One at a time for an e-mail: a cluster's node may keep a version that it answered 409 to, and show it later.
    Raises EmailTaken, Invalid, TooManyRequests.
    """
    email = normalised_email(email)
    check_password(password, email, name, tools.passwords.common)
    tools.limits.take([Limit("register", network_of(address), tools.settings.registrations_per_hour, 3600)])
    with tools.turn(f"register:{claim_id(email)}") as ours:
        if not ours:
            raise EmailTaken("Somebody is just registering this e-mail; try again in a moment.")
        return _register(tools, name, email, password, request)


def _register(tools: Tools, name: str, email: str, password: str, request: str | None) -> Doc:
    userid, present = place_for_new_account(tools, email)
    if present is not None:
        if not request or present.get("request") != request:
            raise EmailTaken("Log in, or ask for a new password.")
        resend_verification(tools, email)
        return present
    claim_for_new_account(tools, email, userid)
    user = new_user(userid, name, email, tools.passwords.hash(password), request=request)
    token, text = new_token(tools, userid, VERIFY, email)
    written, _ = tools.store.put_many([user, token])
    if written.error not in (None, "conflict"):
        raise QueryRefused(f"{written.id}: {written.error} {written.reason}")
    if not _is_ours(tools, user):
        raise EmailTaken("Log in, or ask for a new password.")
    send_verification(tools, name, email, text)
    return user


def new_user(userid: str, name: str, email: str, password_hash: str, **more: Any) -> Doc:
    """An unsaved account."""
    moment = timestamp()
    values = {
        "active": True,
        "email_verified": False,
        "roles": [CUSTOMER_ROLE],
        "created": moment,
        "updated": moment,
        **more,
    }
    return USER.new(auth_id(userid), userid=userid, name=name, email=email, password=password_hash, **values)


def verify(tools: Tools, text: str) -> Doc:
    """Uses a verification (or change-of-e-mail) token; the account as it is then. Raises BadToken, EmailTaken."""
    token, user = _token_and_user(tools, text, (VERIFY, CHANGE_EMAIL))
    if token["purpose"] == CHANGE_EMAIL:
        return _confirm_new_email(tools, token, user)
    verified = {**_proven(user, token), "updated": timestamp()}
    written, _ = tools.store.put_many([verified, {**token, "used": timestamp()}])
    if written.error:
        return update_user(tools, user["userid"], lambda present: _proven(present, token))
    return verified


def resend_verification(tools: Tools, email: str) -> None:
    """A new verification letter, if there is an unverified account; the caller learns nothing either way. 2 reads."""
    email = normalised_email(email)
    user = account_of(tools, email)
    if may_get_mail(tools, email) and user is not None and not user["email_verified"]:
        tools.later(_write_letter, tools, user, VERIFY, send_verification)


def ask_reset(tools: Tools, email: str) -> None:
    """A letter to set a new password, if there is such an account; the caller learns nothing either way. 2 reads."""
    email = normalised_email(email)
    user = account_of(tools, email)
    if may_get_mail(tools, email) and user is not None:
        tools.later(_write_letter, tools, user, RESET, send_reset)


def reset_password(tools: Tools, text: str, password: str) -> None:
    """Uses a reset token: new password, e-mail proven, every session ended. Raises BadToken, Invalid."""
    token, user = _token_and_user(tools, text, (RESET,))
    check_password(password, user["email"], user["name"], tools.passwords.common)
    if token["email"] != user["email"]:
        raise BadToken("This link belongs to an e-mail address that the account has left.")
    if token["created"] < (user.get("password_changed") or ""):
        raise BadToken("The password was changed since; ask for a new link.")
    password_hash = tools.passwords.hash(password)
    _use(tools, token)
    change = {**_new_password(password_hash), "email_verified": True}
    update_user(tools, user["userid"], lambda present: {**present, **change})
    send_changed(
        tools, user["name"], user["email"], "Your password was changed, and you were logged out everywhere."
    )


def change_account(
    tools: Tools, asking: User, changes: dict[str, Any], user: Doc, *, only: bool = False
) -> Doc:
    """Name at once; password with the current one; e-mail after its new address is verified. Raises WrongPassword, EmailTaken.

    With `only` this very version of `user` is changed: raises UpdateConflict when there is another.
    """
    userid = asking.userid
    if "email" in changes or "password" in changes:
        check_current_password(tools, asking, changes.get("current_password", ""))
    wanted = {"name": changes["name"]} if "name" in changes else {}
    if "password" in changes:
        check_password(changes["password"], user["email"], user["name"], tools.passwords.common)
        wanted |= _new_password(tools.passwords.hash(changes["password"]))
    email = normalised_email(changes["email"]) if "email" in changes else user["email"]
    if email != user["email"]:
        refuse_taken(tools, email, userid)
    if "email" in changes:
        wanted |= {
            "pending_email": email if email != user["email"] else None,
            "pending_changed": timestamp(),
        }
    changed = user
    if wanted:
        version = user if only else None
        changed = update_user(tools, userid, lambda present: {**present, **wanted}, only=version)
    if email != user["email"]:
        _ask_to_verify(tools, changed, email)
    if "password" in changes:
        send_changed(
            tools,
            changed["name"],
            changed["email"],
            "Your password was changed, and you were logged out everywhere.",
        )
    return changed


def update_user(
    tools: JobTools, userid: str, change: Any, *, closed_too: bool = False, only: Doc | None = None
) -> Doc:
    """Reads, changes, writes; again when somebody else was first. `change(user) -> user`. Raises Unauthorized for a closed account.

    `only` this version of the account is changed: raises UpdateConflict when there is another.
    """
    for attempt in range(5):
        user = only or tools.store.user(userid)
        if user is None or user.get("erasure") or not (closed_too or is_live(user)):
            raise Unauthorized("This account is closed.")
        try:
            return tools.store.put(stamped(user, change(user)))
        except UpdateConflict:
            if only or attempt == 4:
                raise
    raise AssertionError("unreachable")


def stamped(before: Doc, after: Doc) -> Doc:
    """An account as it is written: with the time of this change, and of what it changed in the account's rights."""
    moment = timestamp()
    after = {**after, "updated": moment}
    if any(before.get(name) != after.get(name) for name in _RIGHTS):
        after["access_changed"] = moment
    return after


def sessions_end() -> str:
    """The `sessions_from` that ends all sessions begun so far: those of this very millisecond, too."""
    return iso(now() + timedelta(milliseconds=1))


def _new_password(password_hash: str) -> dict[str, Any]:
    """Whoever had the old one is out: logged out everywhere, and a move to their e-mail address is taken back."""
    moment = timestamp()
    return {
        "password": password_hash,
        "password_changed": moment,
        "sessions_from": sessions_end(),
        "pending_email": None,
        "pending_changed": moment,
    }


def _write_letter(tools: Tools, user: Doc, purpose: str, send: Callable) -> None:
    token, text = new_token(tools, user["userid"], purpose, user["email"])
    tools.store.put(token)
    send(tools, user["name"], user["email"], text)


def _is_ours(tools: Tools, user: Doc) -> bool:
    """A cluster may accept two firsts, or store one and yet call it a conflict: what a read finds afterwards is what counts."""
    claim = claim_id(user["email"])
    found = tools.store.get_many([user["_id"], claim])
    if claim in found and found[claim]["userid"] != user["userid"]:
        tools.store.delete(found[user["_id"]])
        return False
    return user["_id"] in found and found[user["_id"]]["password"] == user["password"]


def _token_and_user(tools: Tools, text: str, purposes: tuple[str, ...]) -> tuple[Doc, Doc]:
    userid, _, secret = text.partition(".")
    try:
        ids = token_id(userid, secret), auth_id(userid)
    except NotFound:
        raise BadToken("Ask for a new link.") from None
    found = tools.store.get_many(ids)
    token, user = found.get(ids[0]), found.get(ids[1])
    if token is None or user is None or token["purpose"] not in purposes or not is_live(user):
        raise BadToken("Ask for a new link.")
    if token.get("used") or parse(token["expires"]) < now():
        raise BadToken("Ask for a new link.")
    return token, user


def _proven(user: Doc, token: Doc) -> Doc:
    if token["email"] != user["email"]:
        raise BadToken("This link belongs to an e-mail address that the account has left.")
    return {**user, "email_verified": True}


def _use(tools: Tools, token: Doc) -> None:
    try:
        tools.store.put({**token, "used": timestamp()})
    except UpdateConflict:
        raise BadToken("Ask for a new link.") from None


def _ask_to_verify(tools: Tools, user: Doc, email: str) -> None:
    token, text = new_token(tools, user["userid"], CHANGE_EMAIL, email)
    tools.store.put(token)
    if may_get_mail(tools, email):
        send_verification(tools, user["name"], email, text)
    send_changed(
        tools, user["name"], user["email"], "Somebody asked to move this account to another e-mail address."
    )


def _confirm_new_email(tools: Tools, token: Doc, user: Doc) -> Doc:
    new, old = token["email"], user["email"]
    if user.get("pending_email") != new:
        raise BadToken("The account has asked for another e-mail address since.")
    if not claim_for_account(tools, new, user["userid"]):
        raise EmailTaken("Another account uses this e-mail.")
    _use(tools, token)
    moment = timestamp()
    change = {
        "email": new,
        "email_verified": True,
        "email_changed": moment,
        "pending_email": None,
        "pending_changed": moment,
    }
    changed = update_user(tools, user["userid"], lambda present: {**present, **change})
    release_email(tools, old, user["userid"])
    return changed
