"""Staff: who may do what."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from services.users.actions.accounts import end_of_sessions, new_user, update_user
from services.users.actions.email_claims import claim_for_new_account, userid_for_new_account
from services.users.actions.profile import account_answer
from services.users.declarations.accounts import ADMIN_ROLE, CUSTOMER_ROLE, Account
from services.users.dependencies import Dependencies
from services.users.documents import USER, claim_id
from services.users.rules.accounts import check_roles_change, is_admin, is_live
from services.users.rules.errors import EmailTaken, NoSuchUser
from services.users.rules.passwords import check_password
from shared.audit import Act
from shared.clock import timestamp
from shared.emails import normalised_email
from shared.errors import Unavailable

COMMAND_LINE = "command line"
"""The actor of what is done there."""
_MAX_STAFF = 200
_LOCK_WAIT_SECONDS = 2


def create_admin(deps: Dependencies, email: str, password: str) -> str:
    """Makes a verified admin with this password, or makes an existing account admin; says which. May be repeated."""
    email = normalised_email(email)
    found = deps.store.account_by_email(email)
    if found is not None:
        if ADMIN_ROLE in found["roles"]:
            return "is admin already; its password stays as it was"
        deps.audit.write(_created(found["userid"]))
        _set_roles(deps, found["userid"], [*found["roles"], ADMIN_ROLE])
        return "is admin now; its password stays as it was"
    check_password(password, email, "admin", deps.passwords.common)
    userid, _ = userid_for_new_account(deps, email)
    claim_for_new_account(deps, email, userid)
    user = new_user(
        userid,
        "Admin",
        email,
        deps.passwords.hash(password),
        email_verified=True,
        roles=[CUSTOMER_ROLE, ADMIN_ROLE],
        roles_changed=timestamp(),
    )
    deps.audit.write(_created(userid))
    if not deps.store.try_put(user):
        raise EmailTaken("This e-mail is registered but not verified: verify it, then run this again.")
    return "is admin, with the password given"


def _created(userid: str) -> Act:
    return Act(COMMAND_LINE, "create admin", userid, {})


def list_staff(deps: Dependencies) -> list[dict[str, Any]]:
    """Everybody with a role beyond customer. 1 global query."""
    return [account_answer(user) for user in USER.among(deps.store.staff(_MAX_STAFF, None).items)]


def find_user(deps: Dependencies, email: str) -> dict[str, Any]:
    """A verified account by e-mail, also a closed one. Raises NoSuchUser."""
    email = normalised_email(email)
    user = deps.store.account_by_email(email) or _owner_of(deps, email)
    if user is None or not user["email_verified"]:
        raise NoSuchUser("No account has verified this e-mail.")
    return account_answer(user)


def get_user(deps: Dependencies, userid: str) -> Account:
    """Raises NoSuchUser, also for an erased one."""
    user = deps.store.user(userid)
    if user is None or user.get("erasure"):
        raise NoSuchUser("There is no such account.")
    return user


def set_roles(deps: Dependencies, userid: str, roles: list[str]) -> dict[str, Any]:
    """Gives an account these roles (customer always). Raises LastAdmin, NoSuchUser."""
    user = get_user(deps, userid)
    with keep_one_admin(deps, user, roles):
        return account_answer(_set_roles(deps, userid, complete_roles(roles)))


def complete_roles(roles: Sequence[str]) -> list[str]:
    """As an account has them: everybody is a customer, too."""
    return [CUSTOMER_ROLE, *sorted(set(roles) - {CUSTOMER_ROLE})]


def set_group(deps: Dependencies, userid: str, group: str) -> dict[str, Any]:
    """Lets a customer pay the prices of this group, "" being nobody's; it counts from their next token on. Raises NoSuchUser."""
    if not is_live(get_user(deps, userid)):
        raise NoSuchUser("This account is closed.")
    return account_answer(update_user(deps, userid, lambda user: {**user, "group": group}))


def close_account(deps: Dependencies, userid: str) -> dict[str, Any]:
    """Nobody can log in to it, and its sessions end; `open_account` undoes it, but for the sessions."""
    user = get_user(deps, userid)
    moment = timestamp()
    change = {"active": False, "roles_changed": moment, "sessions_from": end_of_sessions()}
    with keep_one_admin(deps, user):
        return account_answer(update_user(deps, userid, lambda user: {**user, **change}, allow_closed=True))


@contextmanager
def keep_one_admin(deps: Dependencies, user: Account | None, roles: Sequence[str] = ()) -> Iterator[None]:
    """Around a write that leaves an account these roles. Raises LastAdmin; for an admin 1 global query, and 1 read for each admin
    that it lists until one is one: a list may be moments old, a document is not.

    One such write at a time: two admins who dismiss each other would both count the other as the one who stays.
    """
    if user is None or not is_admin(user) or ADMIN_ROLE in roles:
        yield
        return
    with deps.locks.hold("admins", wait=_LOCK_WAIT_SECONDS) as acquired:
        if not acquired:
            raise Unavailable(
                "Another admin's account is just being changed; try again shortly.", retry_after=1
            )
        check_roles_change(user, roles, another=_is_another_admin(deps, user))
        yield


def open_account(deps: Dependencies, userid: str) -> dict[str, Any]:
    get_user(deps, userid)
    change = {"active": True, "roles_changed": timestamp()}
    return account_answer(update_user(deps, userid, lambda user: {**user, **change}, allow_closed=True))


def _owner_of(deps: Dependencies, email: str) -> Account | None:
    claim = deps.store.get(claim_id(email))
    user = deps.store.user(claim["userid"]) if claim else None
    return user if user is not None and user["email"] == email else None


def _is_another_admin(deps: Dependencies, user: Account) -> bool:
    listed = (each["userid"] for each in list_staff(deps) if is_admin(each))
    documents = (deps.store.user(userid) for userid in listed if userid != user["userid"])
    return any(other is not None and is_live(other) and is_admin(other) for other in documents)


def _set_roles(deps: Dependencies, userid: str, roles: list[str]) -> Account:
    if not is_live(get_user(deps, userid)):
        raise NoSuchUser("This account is closed.")
    return update_user(deps, userid, lambda user: {**user, "roles": roles, "roles_changed": timestamp()})
