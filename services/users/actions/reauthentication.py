"""The password again, from a user who is logged in: before what a borrowed session must not be able to do."""

from services.users.dependencies import Dependencies
from services.users.rules.accounts import is_live
from services.users.rules.errors import PasswordRequired, WrongPassword
from shared.errors import Unauthorized
from shared.limits import Limit
from shared.user import User


def check_current_password(deps: Dependencies, user: User, password: str) -> None:
    """Raises WrongPassword; TooManyRequests after too many guesses out of one session, which others do not feel."""
    account = deps.store.user(user.userid)
    if account is None or not is_live(account):
        raise Unauthorized("This account is closed.")
    settings = deps.settings
    guesses = Limit(
        "reauthentication",
        f"{user.userid} {user.session}",
        settings.login_tries_per_account,
        settings.login_window_seconds,
        forgiven=True,
    )
    with deps.limits.attempt(guesses):
        if not deps.passwords.check(password, account["password"]):
            raise WrongPassword("Send your own current password.")


def require_password(deps: Dependencies, user: User, password: str | None) -> None:
    """Raises PasswordRequired when none was sent; else like `check_current_password`."""
    if not password:
        raise PasswordRequired("Send your own current password with this request.")
    check_current_password(deps, user, password)
