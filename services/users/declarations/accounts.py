"""Who somebody is to the shop, and what lets them in."""

from typing import Annotated, Final, NotRequired

from shared.couch import StoredDocument
from shared.customer_groups import GROUP, GROUP_MESSAGE
from shared.fields import Boolean, Choice, Moment, Text, TextList
from shared.language_codes import LANGUAGE

CUSTOMER_ROLE, STAFF_ROLE, ADMIN_ROLE = "customer", "staff", "admin"
ROLES: Final = (CUSTOMER_ROLE, STAFF_ROLE, ADMIN_ROLE)


class Account(StoredDocument):
    """An account. Times beside a field say when it was last changed, for the merging of conflicts."""

    userid: Annotated[str, Text(1, 64, writable=False)]
    name: Annotated[
        str,
        Text(1, 200, pattern=r"[^\t\r\n]*", pattern_message="Must be one line.", normalize=False),
    ]
    """One line: it greets in e-mails, where a second line would be a stranger's message in our name."""
    email: Annotated[str, Text(3, 254, normalize=False)]
    email_verified: Annotated[bool, Boolean(writable=False)]
    pending_email: NotRequired[
        Annotated[
            str | None,
            Text(3, 254, writable=False, default=None, description="asked for and not confirmed yet"),
        ]
    ]
    roles: Annotated[list[str], TextList(Choice(ROLES), 0, len(ROLES))]
    group: NotRequired[
        Annotated[
            str,
            Text(
                0,
                40,
                pattern=f"|{GROUP}",
                pattern_message=GROUP_MESSAGE,
                default="",
                show_default=False,
                description="the customer group whose prices they pay",
            ),
        ]
    ]
    language: NotRequired[
        Annotated[
            str,
            Text(
                0,
                20,
                pattern=f"|{LANGUAGE}",
                default="",
                writable=False,
                public=False,
                description="what e-mails are in",
            ),
        ]
    ]
    active: Annotated[bool, Boolean(writable=False, public=False)]
    created: Annotated[str, Moment(writable=False)]
    password: str
    """Its argon2id hash."""
    updated: str
    verified: NotRequired[str]
    """When an e-mail of the account was confirmed first."""
    password_changed: NotRequired[str]
    email_changed: NotRequired[str]
    pending_changed: NotRequired[str]
    roles_changed: NotRequired[str]
    sessions_from: NotRequired[str]
    """Sessions begun earlier have ended."""
    access_changed: NotRequired[str]
    erasure: NotRequired[str]
    erasure_claims: NotRequired[list[str]]
    erasure_email: NotRequired[str]
    """The verified address, until an erasure is done: guests' orders with it are erased, too."""
    erasure_name: NotRequired[str]
    """Until an erasure is done: searches with it are no longer counted."""
    request: NotRequired[str | None]
    """The Idempotency-Key that made it, as an id."""


class Claim(StoredDocument):
    """Makes an e-mail unique, by its `_id`."""

    userid: str
    claimed: str


class Token(StoredDocument):
    """A one-time token, found by the digest of its secret. `name`, `password` and `registration` are a registration's."""

    userid: str
    purpose: str
    email: str
    created: str
    expires: str
    used: NotRequired[str]
    name: NotRequired[str]
    password: NotRequired[str]
    registration: NotRequired[str]


class Session(StoredDocument):
    """A login that was refreshed or ended; each refresh moves it one `generation` on."""

    userid: str
    session: str
    generation: int
    created: str
    updated: str
    expires: str
    revoked: NotRequired[str]
    reason: NotRequired[str]
    access_changed: NotRequired[str]
