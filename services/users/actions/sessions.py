"""Logging in and out. A login reads one document and writes none; a session gets a document when it is first refreshed.

Each refresh moves the session document one generation on. A token of an older generation was used before:
there is a copy of it, so the whole session (the family of tokens) ends.
"""

import secrets
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from services.users.actions.accounts import end_of_sessions, update_user
from services.users.declarations.accounts import Account, Session
from services.users.dependencies import Dependencies, JobDependencies
from services.users.documents import SESSION, SESSION_USER_FIELDS, USER, auth_id, claim_id, user_document
from services.users.rules.accounts import is_live
from services.users.rules.errors import AccountErased, BadLogin, BadRefreshToken, SessionExpired
from shared.clock import iso, now, parse, timestamp
from shared.couch import UpdateConflict
from shared.emails import normalised_email
from shared.errors import Invalid
from shared.limits import Limit, network_of

REUSE_GRACE = timedelta(seconds=60)


def log_in(
    deps: Dependencies, email: str, password: str, address: str, device_token: str = ""
) -> dict[str, Any]:
    """Tokens of a new session, and a `device_token` to send with the next log-in from there. Every failure is the same BadLogin after the same work; TooManyRequests after too many.

    1 global query, 1 read on a cluster, and 2 reads before it is refused. The session begins before the password is compared: a new password
    that is set meanwhile ends it.
    """
    began = _milliseconds()
    device = deps.device_tokens.device_of(device_token, _normalised(email))
    with deps.limits.attempt(*login_limits(deps, email, address, device)):
        user = _checked(deps, email, password)
    if deps.passwords.needs_rehash(user["password"]):
        _rehash(deps, user, password)
    tokens = _tokens(deps, user, secrets.token_hex(10), 0, began, began)
    return {**tokens, "device_token": device_token if device else deps.device_tokens.make(user["email"])}


def login_limits(deps: Dependencies, email: str, address: str, device: str | None) -> tuple[Limit, ...]:
    """The limits that guesses at a password count against; an account has one set, however its e-mail is spelt.

    Guesses from one network block that network, and very many from everywhere block all but the devices where the
    account was logged in before. Those have a count each, so that nobody keeps an owner out by guessing.
    """
    settings, email = deps.settings, _normalised(email)
    seconds, tries = settings.login_window_seconds, settings.login_tries_per_account
    if device is not None:
        return (Limit("login device", f"{email} {device}", tries, seconds, forgiven=True),)
    network = network_of(address)
    return (
        Limit("login", f"{email} {network}", tries, seconds, forgiven=True),
        Limit("login anywhere", email, settings.login_tries_anywhere, seconds),
        Limit("address", network, settings.login_tries_per_address, seconds),
    )


def _normalised(email: str) -> str:
    with suppress(Invalid):
        return normalised_email(email)
    return email


def _checked(deps: Dependencies, email: str, password: str) -> Account:
    user = _account(deps, email)
    known = deps.passwords.check(password, user["password"] if user else None)
    if known and user and (current := _as_it_is(deps, user)):
        return current
    user = _account_by_claim(deps, email, user)
    if user is None or not deps.passwords.check(password, user["password"]):
        raise BadLogin("Check both, or ask for a new password.")
    return user


def refresh(deps: Dependencies, text: str, *, by_service: bool = False) -> dict[str, Any]:
    """The next tokens of a session. Raises BadRefreshToken (SessionExpired when nobody ended it), AccountErased; a token used before ends its session. 1 read, 1 write.

    `by_service`: one of our own asks for a browser; for a minute it may ask again, since an answer may be lost.
    """
    token = deps.refresh_tokens.read(text)
    if token is None:
        raise BadRefreshToken("Log in again.")
    userid, session, generation, began = token
    ids = auth_id(userid), session_id(userid, session)
    as_of = _milliseconds()
    found = deps.store.get_many(ids)
    doc = SESSION.typed(found.get(ids[1]))
    account = USER.typed(found.get(ids[0]))
    check_not_erased(account)
    user = check_session(deps, account, doc, began)
    present = doc["generation"] if doc else 0
    advanced = generation == present and _advance(deps, doc, userid, session, generation + 1, began)
    if not advanced and not (by_service and _advanced_just_now(deps, ids[1], generation)):
        end_session(deps, userid, session, "reused")
        raise BadRefreshToken("This refresh token was used before, so the session was ended. Log in again.")
    return _tokens(deps, user, session, generation + 1, began, as_of)


def end_session(deps: Dependencies, userid: str, session: str, reason: str) -> None:
    """Ends one session; may be repeated."""
    for _ in range(5):
        doc = deps.store.get(session_id(userid, session)) or _session(
            deps, userid, session, 0, _milliseconds()
        )
        if doc.get("revoked"):
            return
        try:
            moment = timestamp()
            deps.store.put({**doc, "revoked": moment, "access_changed": moment, "reason": reason})
        except UpdateConflict:
            continue
        return
    raise UpdateConflict("The session changes too quickly; try again.")


def end_all_sessions(deps: Dependencies, userid: str) -> None:
    """Log-out everywhere: no session that began before now can be refreshed."""
    update_user(deps, userid, lambda user: {**user, "sessions_from": end_of_sessions()})


def remove_expired(deps: JobDependencies) -> int:
    """For the worker: deletes one-time tokens and sessions past their time; how many."""
    removed = 0
    while docs := deps.store.expired(now()):
        gone = [{"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in docs]
        done = sum(row.error is None for row in deps.store.put_many(gone))
        removed += done
        if not done:
            break
    return removed


def session_id(userid: str, session: str) -> str:
    return user_document(userid, f"session-{session}")


def _account(deps: Dependencies, email: str) -> Account | None:
    try:
        return deps.store.account_by_email(normalised_email(email))
    except Invalid:
        return None


def _as_it_is(deps: Dependencies, indexed: Account) -> Account | None:
    """The account as most of a cluster's nodes have it, None where this password is no longer to be taken: an index is one node's, which may
    show one that was closed since, or roles that it has no more. 1 read, none where there is one copy of each document."""
    if deps.store.database.has_one_copy:
        return indexed
    user = deps.store.user(indexed["userid"])
    if user is None or not is_live(user) or not user["email_verified"]:
        return None
    same = (user["email"], user["password"]) == (indexed["email"], indexed["password"])
    return user if same else None


def _account_by_claim(deps: Dependencies, email: str, indexed: Account | None) -> Account | None:
    """The account if it is another than the index knew: on a cluster an index lags behind a verification or a new password.

    Always 2 reads, whatever there is, so that a refusal takes the same time for everybody.
    """
    try:
        email = normalised_email(email)
    except Invalid:
        return None
    claim = deps.store.get(claim_id(email))
    user = deps.store.user(claim["userid"] if claim else "nobody")
    known = indexed is not None and user is not None and indexed["password"] == user["password"]
    may = user is not None and is_live(user) and user["email_verified"] and user["email"] == email
    return user if may and not known else None


def check_not_erased(user: Account | None) -> None:
    """For who shows a token that was this account's: its devices are told to forget. Raises AccountErased."""
    if user is not None and user.get("erasure"):
        raise AccountErased("This account is closed.")


def check_session(deps: Dependencies, user: Account | None, doc: Session | None, began: int) -> Account:
    """The account of a session that lives. Raises BadRefreshToken."""
    started = datetime.fromtimestamp(began / 1000, UTC)
    if (
        user is None
        or not is_live(user)
        or not user["email_verified"]
        or started < parse(user.get("sessions_from") or "2000-01-01")
    ):
        raise BadRefreshToken("Log in again.")
    last = parse(doc["updated"]) if doc else started
    if doc and doc.get("revoked"):
        raise BadRefreshToken("Log in again.")
    if last < now() - timedelta(days=deps.settings.refresh_token_days):
        raise SessionExpired("Log in again.")
    return user


def _advance(
    deps: Dependencies, doc: Session | None, userid: str, session: str, generation: int, began: int
) -> bool:
    """Whether this request was the one that moved the session on; the document's revision lets only one."""
    fresh = _session(deps, userid, session, generation, began)
    following = (
        {**doc, "generation": generation, "updated": fresh["updated"], "expires": fresh["expires"]}
        if doc
        else fresh
    )
    return deps.store.try_put(following, exclusive=True)


def _advanced_just_now(deps: Dependencies, id: str, generation: int) -> bool:
    """Whether the session moved on from `generation` a moment ago and lives."""
    doc = deps.store.get(id)
    return (
        doc is not None
        and doc["generation"] == generation + 1
        and not doc.get("revoked")
        and parse(doc["updated"]) > now() - REUSE_GRACE
    )


def _session(deps: Dependencies, userid: str, session: str, generation: int, began: int) -> Session:
    moment = now()
    expires = iso(moment + timedelta(days=deps.settings.refresh_token_days))
    return SESSION.build(
        session_id(userid, session),
        userid=userid,
        session=session,
        generation=generation,
        created=iso(datetime.fromtimestamp(began / 1000, UTC)),
        updated=iso(moment),
        expires=expires,
    )


def _tokens(
    deps: Dependencies, user: Account, session: str, generation: int, began: int, as_of: int
) -> dict[str, Any]:
    access = deps.keys.access_token(
        user["userid"], session, user["roles"], group=user.get("group", ""), started=began, as_of=as_of
    )
    return {
        "access_token": access,
        "refresh_token": deps.refresh_tokens.make(user["userid"], session, generation, began),
        "token_type": "Bearer",
        "expires_in": deps.keys.seconds,
        "user": SESSION_USER_FIELDS.shown(user),
    }


def _rehash(deps: Dependencies, user: Account, password: str) -> None:
    """A better hash while the password is at hand; after a conflict the next login does it."""
    try:
        deps.store.put({**user, "password": deps.passwords.hash(password)})
    except UpdateConflict:
        return


def _milliseconds() -> int:
    return int(time.time() * 1000)
