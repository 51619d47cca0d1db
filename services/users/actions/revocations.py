"""Which sessions have ended: the truth that every service's check of access tokens comes from."""

from dataclasses import dataclass
from datetime import timedelta

from services.users.actions.sessions import check_session, session_id
from services.users.declarations.accounts import Account
from services.users.dependencies import Dependencies
from services.users.documents import SESSION, USER
from services.users.rules.errors import BadRefreshToken
from shared.clock import now, parse
from shared.errors import NotFound
from shared.sessions import AccountChange, Revocations
from shared.user import User

_CLOCK_SKEW = timedelta(seconds=60)
_WRITE_MILLISECONDS = (
    1000  # a token whose roles were read while the change was being written holds the old ones
)


@dataclass(frozen=True)
class StoredSessions:
    """The users database as a source of what `shared.web.Sessions` checks."""

    deps: Dependencies

    def revocations(self) -> Revocations:
        """All that ended or changed since the oldest access token that may still be valid was made. 1 global query."""
        lifetime = timedelta(seconds=self.deps.settings.access_token_seconds)
        docs = self.deps.store.access_changes(now() - lifetime - _CLOCK_SKEW)
        return Revocations(
            sessions=frozenset(doc["session"] for doc in SESSION.among(docs)),
            accounts={doc["userid"]: _account_change(doc) for doc in USER.among(docs)},
        )

    def roles_now(self, user: User) -> tuple[str, ...] | None:
        """2 reads, each of them from a quorum of a cluster: an index or a bulk read may be behind."""
        try:
            account = self.deps.store.user(user.userid)
            found = self.deps.store.get(session_id(user.userid, user.session)) if user.session else None
        except NotFound:
            return None
        try:
            live = check_session(self.deps, account, SESSION.typed(found), user.session_started)
        except BadRefreshToken:
            return None
        return tuple(live["roles"])


def _account_change(user: Account) -> AccountChange:
    return AccountChange(
        changed=_milliseconds(user["access_changed"]) + _WRITE_MILLISECONDS,
        sessions_from=_milliseconds(user.get("sessions_from") or "1970-01-01T00:00:00Z"),
        roles=tuple(user["roles"]),
    )


def _milliseconds(text: str) -> int:
    return round(parse(text).timestamp() * 1000)
