"""The person behind a request."""

from dataclasses import dataclass

CUSTOMER_ROLE = "customer"


@dataclass(frozen=True)
class User:
    """The person (or, for service calls, the person acted for) behind a request; times are milliseconds since 1970.

    `session_started` is when they logged in, `as_of` when their roles were read; `group` is the
    customer group whose prices they are shown.
    """

    userid: str
    roles: tuple[str, ...] = ()
    email_verified: bool = False
    session: str = ""
    session_started: int = 0
    as_of: int = 0
    group: str = ""

    def has_role(self, *roles: str) -> bool:
        return any(role in self.roles for role in roles)

    @property
    def is_privileged(self) -> bool:
        """Whether they may do more than a customer."""
        return any(role != CUSTOMER_ROLE for role in self.roles)
