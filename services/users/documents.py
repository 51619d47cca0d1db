"""A person is a partition; the access patterns U1 to U4 stand beside the documents they read.

    user{userid}:auth             who it is: name, e-mail, password hash, roles
                :delivery{id}     an address         :payment{id}        a payment method's reference
                :preferences      one document       :basket-{productid} one basket line
                :token-{digest}   a one-time token   :session-{id}       a login that was refreshed or ended
    email{sha256}:claim           its `_id` makes an e-mail unique
    audit{yyyy-mm}:{time id}      what staff did, immutable

What was looked at lately is no document: 20 products for 30 days live in Redis, and a Redis that forgets loses them.
Which address is the default is derived (the latest `default_since`), so that racing writers cannot make two.
"""

import hashlib
import re

from shared.couch import DatabaseDesign, Doc, DocumentType, FindIndex, document_id
from shared.errors import NotFound

_LEFT = ("_id", "_rev", "type", "schema")
_USERID = re.compile(r"[A-Za-z0-9_.-]{1,64}")

USER = DocumentType(
    "user",
    fields=("userid", "name", "email", "password", "active", "email_verified", "roles", "created", "updated"),
    optional=(
        "password_changed",
        "email_changed",
        "roles_changed",
        "sessions_from",
        "access_changed",
        "pending_email",
        "pending_changed",
        "erasure",
        "erasure_claims",
        "request",
    ),
)
CLAIM = DocumentType("claim", fields=("userid", "claimed"))
ADDRESS = DocumentType(
    "userdelivery", fields=("userid", "name", "address", "default", "default_since", "updated")
)
PAYMENT_METHOD = DocumentType("paymentmethod", fields=("userid", "provider", "reference", "label", "updated"))
PREFERENCES = DocumentType("preferences", fields=("userid", "values", "updated"))
BASKET_LINE = DocumentType("basketline", fields=("userid", "productid", "quantity", "updated"))
TOKEN = DocumentType(
    "token",
    fields=("userid", "purpose", "email", "created", "expires"),
    optional=("used", "name", "password", "registration"),
)
SESSION = DocumentType(
    "session",
    fields=("userid", "session", "generation", "created", "updated", "expires"),
    optional=("revoked", "reason", "access_changed"),
)
AUDIT = DocumentType("audit", fields=("actor", "action", "subject", "details", "date"))

ACCOUNT_BY_EMAIL = FindIndex(
    "account_by_email",
    "U3: which active, verified account logs in with this e-mail?",
    fields=("email",),
    partitioned=False,
    partial={"type": "user", "active": True, "email_verified": True},
)
DEFAULT_ADDRESS = FindIndex(
    "default_address",
    "U2: which address was made the default last?",
    fields=("type", "default_since"),
    partial={"type": "userdelivery"},
)
ACCESS_CHANGES = FindIndex(
    "access_changes",
    "Which sessions ended, and which accounts changed in what they may do, since a moment?",
    fields=("access_changed",),
    partitioned=False,
    partial={"type": {"$in": ["user", "session"]}},
)
EXPIRING = FindIndex(
    "expiring",
    "U4: which one-time tokens and sessions have expired?",
    fields=("expires",),
    partitioned=False,
    partial={"type": {"$in": ["token", "session"]}},
)
STAFF = FindIndex(
    "staff",
    "Who is staff or admin?",
    fields=("roles_changed",),
    partitioned=False,
    partial={"type": "user", "roles": {"$elemMatch": {"$in": ["staff", "admin"]}}},
)
ERASURES = FindIndex(
    "erasures",
    "Which erasures are not finished?",
    fields=("updated",),
    partitioned=False,
    partial={"type": "user", "erasure": "started"},
)

DESIGN = DatabaseDesign(
    "users", (ACCOUNT_BY_EMAIL, ACCESS_CHANGES, DEFAULT_ADDRESS, EXPIRING, STAFF, ERASURES)
)

CUSTOMER_ROLE, STAFF_ROLE, ADMIN_ROLE = "customer", "staff", "admin"
ROLES = (CUSTOMER_ROLE, STAFF_ROLE, ADMIN_ROLE)


def blanked(doc: Doc) -> Doc:
    """What an erasure writes over a document before it deletes it."""
    return {name: doc[name] for name in _LEFT}


def is_blank(doc: Doc) -> bool:
    return doc.keys() <= {*_LEFT, "_conflicts"}


def user_partition(userid: str) -> str:
    """Raises NotFound for what cannot be a userid, as it may come out of a path."""
    if not _USERID.fullmatch(userid):
        raise NotFound("There is no such account.")
    return f"user{userid}"


def user_document(userid: str, key: str) -> str:
    """The id of a document in a person's partition."""
    return document_id(user_partition(userid), key)


def auth_id(userid: str) -> str:
    return user_document(userid, "auth")


def claim_id(email: str) -> str:
    """The id whose existence means that a normalised e-mail is taken."""
    return document_id(f"email{hashlib.sha256(email.encode()).hexdigest()}", "claim")


def token_id(userid: str, secret: str) -> str:
    """A one-time token is found by the digest of its secret; the secret itself is stored nowhere."""
    return user_document(userid, f"token-{hashlib.sha256(secret.encode()).hexdigest()[:40]}")


def audit_partition(month: str) -> str:
    """`month` as 2026-11: one partition for each month."""
    return f"audit{month}"
