"""Accounts: made, changed, and given a new password."""

from datetime import timedelta
from typing import Any

from services.users.actions.email_claims import (
    account_of,
    check_available,
)
from services.users.actions.notifications import (
    CHANGE_EMAIL,
    MOVE_REQUESTED,
    PASSWORD_CHANGED,
    RESET,
    may_send_email,
    new_token,
    send_change_of_email,
    send_changed,
    send_reset,
)
from services.users.actions.reauthentication import check_current_password
from services.users.declarations.accounts import CUSTOMER_ROLE, Account, Token
from services.users.dependencies import Dependencies, JobDependencies
from services.users.documents import TOKEN, USER, auth_id, token_id
from services.users.rules.accounts import is_live
from services.users.rules.passwords import check_password
from shared.clock import iso, now, parse, timestamp
from shared.couch import UpdateConflict
from shared.emails import normalised_email
from shared.errors import BadRequest, NotFound, Unauthorized
from shared.translation import active_language, keep_language
from shared.user import User

_RIGHTS = ("roles", "group", "active", "erasure", "email_verified", "sessions_from")


class BadToken(BadRequest):
    code, title = "bad_token", "This link is wrong, used or expired"


def new_user(userid: str, name: str, email: str, password_hash: str, **more: Any) -> Account:
    """An unsaved account."""
    moment = timestamp()
    values = {
        "active": True,
        "email_verified": False,
        "roles": [CUSTOMER_ROLE],
        "language": active_language().code,
        "created": moment,
        "updated": moment,
        **more,
    }
    return USER.build(
        auth_id(userid), userid=userid, name=name, email=email, password=password_hash, **values
    )


def request_password_reset(deps: Dependencies, email: str) -> None:
    """An e-mail to set a new password, if there is such an account; the caller learns nothing either way. 2 reads."""
    email = normalised_email(email)
    user = account_of(deps, email)
    if may_send_email(deps, email) and user is not None:
        deps.background.run(keep_language(_send_reset_link), deps, user)


def reset_password(deps: Dependencies, text: str, password: str) -> None:
    """Uses a reset token: new password, e-mail proven, every session ended. Raises BadToken, Invalid."""
    token, user = load_token(deps, text, (RESET,))
    check_password(password, user["email"], user["name"], deps.passwords.common)
    if token["email"] != user["email"]:
        raise BadToken("This link belongs to an e-mail address that the account has left.")
    if token["created"] < (user.get("password_changed") or ""):
        raise BadToken("The password was changed since; ask for a new link.")
    password_hash = deps.passwords.hash(password)
    use_token(deps, token)
    change = {**_password_change(password_hash), "email_verified": True}
    update_user(deps, user["userid"], lambda present: {**present, **change})
    send_changed(deps, user, PASSWORD_CHANGED)


def change_account(
    deps: Dependencies, requester: User, changes: dict[str, Any], user: Account, *, only: bool = False
) -> Account:
    """Name at once; password with the current one; e-mail after its new address is verified. Raises WrongPassword, EmailTaken.

    With `only` this very version of `user` is changed: raises UpdateConflict when there is another.
    """
    userid = requester.userid
    if "email" in changes or "password" in changes:
        check_current_password(deps, requester, changes.get("current_password", ""))
    wanted = {"name": changes["name"]} if "name" in changes else {}
    if "password" in changes:
        check_password(changes["password"], user["email"], user["name"], deps.passwords.common)
        wanted |= _password_change(deps.passwords.hash(changes["password"]))
    email = normalised_email(changes["email"]) if "email" in changes else user["email"]
    if email != user["email"]:
        check_available(deps, email, userid)
    if "email" in changes:
        wanted |= {
            "pending_email": email if email != user["email"] else None,
            "pending_changed": timestamp(),
        }
    changed = user
    if wanted:
        version = user if only else None
        changed = update_user(deps, userid, lambda present: {**present, **wanted}, only=version)
    if email != user["email"]:
        _request_verification(deps, changed, email)
    if "password" in changes:
        send_changed(deps, changed, PASSWORD_CHANGED)
    return changed


def update_user(
    deps: JobDependencies,
    userid: str,
    change: Any,
    *,
    allow_closed: bool = False,
    only: Account | None = None,
) -> Account:
    """Reads, changes, writes; again after a conflict. `change(user) -> user`. Raises Unauthorized for a closed account.

    `only` this version of the account is changed: raises UpdateConflict when there is another, and DatabaseUnavailable when there may be.
    """
    for attempt in range(5):
        user = only or deps.store.user(userid)
        if user is None or user.get("erasure") or not (allow_closed or is_live(user)):
            raise Unauthorized("This account is closed.")
        try:
            return deps.store.put(with_change_time(user, change(user)), exclusive=only is not None)
        except UpdateConflict:
            if only or attempt == 4:
                raise
    raise AssertionError("unreachable")


def with_change_time(before: Account, after: Account) -> Account:
    """An account as it is written: with the time of this change, of what it changed in the account's rights, and of its confirmation."""
    moment = timestamp()
    after = {**after, "updated": moment}
    if any(before.get(name) != after.get(name) for name in _RIGHTS):
        after["access_changed"] = moment
    if after["email_verified"] and not before["email_verified"]:
        after.setdefault("verified", moment)
    return after


def end_of_sessions() -> str:
    """The `sessions_from` that ends all sessions begun so far: those of this very millisecond, too."""
    return iso(now() + timedelta(milliseconds=1))


def _password_change(password_hash: str) -> dict[str, Any]:
    """The former owner is locked out: logged out everywhere, and a move to their e-mail address is taken back."""
    moment = timestamp()
    return {
        "password": password_hash,
        "password_changed": moment,
        "sessions_from": end_of_sessions(),
        "pending_email": None,
        "pending_changed": moment,
    }


def _send_reset_link(deps: Dependencies, user: Account) -> None:
    token, text = new_token(deps, user["userid"], RESET, user["email"])
    deps.store.put(token)
    send_reset(deps, user, text)


def load_token(deps: Dependencies, text: str, purposes: tuple[str, ...]) -> tuple[Token, Account]:
    """A one-time token that is good, and its account. Raises BadToken."""
    userid, _, secret = text.partition(".")
    try:
        ids = token_id(userid, secret), auth_id(userid)
    except NotFound:
        raise BadToken("Ask for a new link.") from None
    found = deps.store.get_many(ids)
    token, user = TOKEN.typed(found.get(ids[0])), USER.typed(found.get(ids[1]))
    if token is None or user is None or token["purpose"] not in purposes or not is_live(user):
        raise BadToken("Ask for a new link.")
    if token.get("used") or parse(token["expires"]) < now():
        raise BadToken("Ask for a new link.")
    return token, user


def use_token(deps: Dependencies, token: Token) -> None:
    """Raises BadToken when another request was first."""
    try:
        deps.store.put({**token, "used": timestamp()})
    except UpdateConflict:
        raise BadToken("Ask for a new link.") from None


def _request_verification(deps: Dependencies, user: Account, email: str) -> None:
    token, text = new_token(deps, user["userid"], CHANGE_EMAIL, email)
    deps.store.put(token)
    if may_send_email(deps, email):
        send_change_of_email(deps, user, email, text)
    send_changed(deps, user, MOVE_REQUESTED)
