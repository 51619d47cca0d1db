"""Staff: who may do what, and the trail of what admins did, as documents that never change."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from services.users.actions.accounts import new_user, sessions_end, update_user
from services.users.actions.emails import claim_for_new_account, place_for_new_account
from services.users.actions.profile import account
from services.users.actions.tools import Tools
from services.users.documents import ADMIN_ROLE, AUDIT, CUSTOMER_ROLE, audit_partition, claim_id
from services.users.rules import (
    EmailTaken,
    NoSuchUser,
    check_password,
    check_roles_change,
    is_admin,
    is_live,
    normalised_email,
)
from shared.clock import now, timestamp
from shared.couch import Doc, document_id, time_ordered_id
from shared.errors import AisleError, Unavailable

_STAFF_AT_MOST = 200
_PATIENCE_SECONDS = 2


def make_admin(tools: Tools, email: str, password: str) -> str:
    """Makes a verified admin with this password, or makes an existing account admin; says which. May be repeated."""
    email = normalised_email(email)
    found = tools.store.account_by_email(email)
    if found is not None:
        if ADMIN_ROLE in found["roles"]:
            return "is admin already; its password stays as it was"
        _set_roles(tools, found["userid"], [*found["roles"], ADMIN_ROLE])
        return "is admin now; its password stays as it was"
    check_password(password, email, "admin", tools.passwords.common)
    userid, _ = place_for_new_account(tools, email)
    claim_for_new_account(tools, email, userid)
    user = new_user(
        userid, "Admin", email, tools.passwords.hash(password),
        email_verified=True, roles=[CUSTOMER_ROLE, ADMIN_ROLE], roles_changed=timestamp(),
    )  # fmt: skip
    if not tools.store.put_if_first(user):
        raise EmailTaken("This e-mail is registered but not verified: verify it, then run this again.")
    return "is admin, with the password given"


def list_staff(tools: Tools) -> list[dict[str, Any]]:
    """Everybody with a role beyond customer. 1 global query."""
    return [account(user) for user in tools.store.staff(_STAFF_AT_MOST, None).items]


def find_user(tools: Tools, email: str) -> dict[str, Any]:
    """A verified account by e-mail, also a closed one. Raises NoSuchUser."""
    email = normalised_email(email)
    user = tools.store.account_by_email(email) or _owner_of(tools, email)
    if user is None or not user["email_verified"]:
        raise NoSuchUser("No account has verified this e-mail.")
    return account(user)


def get_user(tools: Tools, userid: str) -> Doc:
    """Raises NoSuchUser, also for an erased one."""
    user = tools.store.user(userid)
    if user is None or user.get("erasure"):
        raise NoSuchUser("There is no such account.")
    return user


def set_roles(tools: Tools, actor: str, userid: str, roles: list[str]) -> dict[str, Any]:
    """Gives an account these roles (customer always). Raises KeepsOneAdmin, NoSuchUser."""
    user = get_user(tools, userid)
    wanted = [CUSTOMER_ROLE, *sorted(set(roles) - {CUSTOMER_ROLE})]
    details = {"before": user["roles"], "after": wanted}
    with an_admin_stays(tools, user, roles):
        return account(
            audited(tools, actor, "set roles", userid, details, lambda: _set_roles(tools, userid, wanted))
        )


def close_account(tools: Tools, actor: str, userid: str, reason: str) -> dict[str, Any]:
    """Nobody can log in to it, and its sessions end; `open_account` undoes it, but for the sessions."""
    user = get_user(tools, userid)
    with an_admin_stays(tools, user):
        return account(
            audited(tools, actor, "close account", userid, {"reason": reason}, lambda: _close(tools, userid))
        )


@contextmanager
def an_admin_stays(tools: Tools, user: Doc | None, roles: Sequence[str] = ()) -> Iterator[None]:
    """Around a write that leaves an account these roles. Raises KeepsOneAdmin; for an admin 1 global query.

    One such write at a time: two admins who dismiss each other would both count the other as the one who stays.
    """
    if user is None or not is_admin(user) or ADMIN_ROLE in roles:
        yield
        return
    with tools.turn("admins", _PATIENCE_SECONDS) as ours:
        if not ours:
            raise Unavailable(
                "Another admin's account is just being changed; try again shortly.", retry_after=1
            )
        check_roles_change(user, roles, _admins(tools))
        yield


def open_account(tools: Tools, actor: str, userid: str) -> dict[str, Any]:
    get_user(tools, userid)
    return account(audited(tools, actor, "open account", userid, {}, lambda: _open(tools, userid)))


def audited(tools: Tools, actor: str, action: str, subject: str, details: dict[str, Any], act: Any) -> Any:
    """Writes down who does what to whom, then does it; a failure is written down too."""
    write_audit(tools, actor, action, subject, details)
    try:
        return act()
    except AisleError as error:
        write_audit(tools, actor, f"{action}: failed", subject, {"code": error.code})
        raise


def write_audit(tools: Tools, actor: str, action: str, subject: str, details: dict[str, Any]) -> None:
    """Adds an entry that nobody changes. It names people by userid only, so that erasing one needs no change here."""
    moment = now()
    docid = document_id(audit_partition(f"{moment:%Y-%m}"), time_ordered_id(moment))
    tools.store.put(
        AUDIT.new(docid, actor=actor, action=action, subject=subject, details=details, date=timestamp())
    )


def audit_trail(
    tools: Tools, month: str, limit: int, before: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """A month's entries, newest first, and where the next page begins. 1 partition query."""
    docs = tools.store.audit(month, limit + 1, before)
    entries = [
        {key: doc[key] for key in ("actor", "action", "subject", "details", "date")} for doc in docs[:limit]
    ]
    return entries, docs[limit - 1]["_id"] if len(docs) > limit else None


def _owner_of(tools: Tools, email: str) -> Doc | None:
    claim = tools.store.get(claim_id(email))
    user = tools.store.user(claim["userid"]) if claim else None
    return user if user is not None and user["email"] == email else None


def _admins(tools: Tools) -> int:
    return sum(map(is_admin, list_staff(tools)))


def _set_roles(tools: Tools, userid: str, roles: list[str]) -> Doc:
    if not is_live(get_user(tools, userid)):
        raise NoSuchUser("This account is closed.")
    return update_user(tools, userid, lambda user: {**user, "roles": roles, "roles_changed": timestamp()})


def _close(tools: Tools, userid: str) -> Doc:
    moment = timestamp()
    change = {"active": False, "roles_changed": moment, "sessions_from": sessions_end()}
    return update_user(tools, userid, lambda user: {**user, **change}, closed_too=True)


def _open(tools: Tools, userid: str) -> Doc:
    change = {"active": True, "roles_changed": timestamp()}
    return update_user(tools, userid, lambda user: {**user, **change}, closed_too=True)
