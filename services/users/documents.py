"""A person is a partition; the access patterns U1 to U4 stand beside the documents they read.

    user{userid}:auth             who it is: name, e-mail, password hash, roles
                :delivery{id}     an address         :payment{id}        a payment method's reference
                :preferences      one document       :basket-{SKU}     one basket item
                :wish-{SKU}       one entry of the wish list
                :kept-{digest}    a category kept on devices: `declarations/kept.py`
                :sync, :syncpoint-{name}    what devices were told: `declarations/sync.py`
                :note-{id}        a note of staff     :email-{id}          an e-mail that went out
    seen{userid}:{productid}      a product looked at lately: 20 of them, for 30 days
    stockalert{SKU}:{sha256}      who wants an e-mail when it is in stock again
                :token-{digest}   a one-time token   :session-{id}       a login that was refreshed or ended
    email{sha256}:claim           its `_id` makes an e-mail unique
    audit{yyyy-mm}:{time id}      what staff did, immutable: `shared.audit`

What was looked at has a partition of its own, so that what reads a person (U1) does not read it. Which address is the default is derived (the latest `default_since`), so that racing writers cannot make two.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypedDict

from services.users.declarations.accounts import Account, Claim, Session, Token
from services.users.declarations.customers import AccountEmail, CustomerNote
from shared.addresses import PART_FIELDS, parts_of_text
from shared.couch import (
    DatabaseDesign,
    Doc,
    Document,
    DocumentType,
    FindIndex,
    StoredDocument,
    View,
    document_id,
    view_source,
)
from shared.errors import NotFound
from shared.fields import (
    Boolean,
    Choice,
    Declaration,
    Integer,
    Lines,
    Moment,
    Text,
)
from shared.money import CURRENCIES

_BLANK_FIELDS = ("_id", "_rev", "type", "schema")
_USERID = re.compile(r"[A-Za-z0-9_.-]{1,64}")

MAX_QUANTITY: Final = 999
SEEN: Final = "seen"


_PARTS = PART_FIELDS.fields


class Address(StoredDocument):
    """Where an order may go. The default is derived from `default_since`; the flag is for people who read documents.

    `address` is what stands on an envelope; the parts are what was given, or what can be told of a text. `created` is missing in those that
    were made before it was kept.
    """

    userid: str
    name: Annotated[str, Text(1, 200, normalize=False)]
    address: Annotated[str, Lines(1000)]
    company: NotRequired[Annotated[str, _PARTS["company"]]]
    line1: NotRequired[Annotated[str, _PARTS["line1"]]]
    line2: NotRequired[Annotated[str, _PARTS["line2"]]]
    city: NotRequired[Annotated[str, _PARTS["city"]]]
    region: NotRequired[Annotated[str, _PARTS["region"]]]
    postcode: NotRequired[Annotated[str, _PARTS["postcode"]]]
    country: NotRequired[Annotated[str, _PARTS["country"]]]
    phone: NotRequired[Annotated[str, _PARTS["phone"]]]
    default: Annotated[bool, Boolean(default=False, omit_default=False)]
    default_since: str
    created: NotRequired[str]
    updated: str


class PaymentMethod(StoredDocument):
    """A reference to what a provider keeps, never a card number."""

    userid: str
    provider: Annotated[str, Text(1, 40, pattern="[a-z0-9_-]+")]
    reference: Annotated[str, Text(1, 200, description="the provider's reference, never a card number")]
    label: Annotated[str, Text(0, 80, default="", omit_default=False, description="such as Visa ending 4242")]
    updated: str


class PreferenceValues(TypedDict):
    """What a user prefers; a default holds where nothing was chosen."""

    language: Annotated[
        str, Text(2, 6, pattern="[a-z]{2,3}(-[A-Z]{2})?", default="en", description="such as en-GB")
    ]
    currency: Annotated[str, Choice(tuple(sorted(CURRENCIES)), default="GBP")]
    newsletter: Annotated[bool, Boolean(default=False)]


class Preferences(StoredDocument):
    userid: str
    values: PreferenceValues
    updated: str


class BasketItem(StoredDocument):
    """A product in a basket, or a variant of it. `created`: when it came in, or came to be what an order has left of it; items of an
    earlier version lack it."""

    userid: str
    productid: Annotated[str, Text(1, 100)]
    sku: NotRequired[Annotated[str, Text(1, 64, default="", show_default=False, description="of a variant")]]
    quantity: Annotated[int, Integer(1, MAX_QUANTITY)]
    updated: str
    created: NotRequired[str]


class Wish(StoredDocument):
    """A product that somebody keeps in mind, or a variant of it."""

    userid: str
    productid: Annotated[str, Text(1, 100)]
    sku: NotRequired[Annotated[str, Text(1, 64, default="", show_default=False, description="of a variant")]]
    added: Annotated[str, Moment(writable=False)]


class ViewedProduct(StoredDocument):
    """A product that somebody looked at lately."""

    userid: str
    productid: Annotated[str, Text(1, 100)]
    viewed: Annotated[str, Moment(writable=False)]
    expires: str


class StockAlert(StoredDocument):
    """Who wants an e-mail when a product is in stock again. Without `confirmed` the address did not say so yet, and `expires`."""

    sku: str
    email: str
    requested: str
    confirmed: NotRequired[str]
    userid: NotRequired[str]
    """Of whose account the address was."""
    expires: NotRequired[str]
    language: NotRequired[str]
    sending: NotRequired[str]
    """When the e-mail was begun: who finds it much later sends it, with the same Message-ID."""
    sender: NotRequired[str]
    """Of one attempt: two equal changes of one document at a time would be one revision, which a cluster grants to both."""


USER = DocumentType.declared("user", Account)
CLAIM = DocumentType.declared("claim", Claim)
ADDRESS = DocumentType.declared(
    "userdelivery", Address, schema=2, upgrades={1: lambda doc: parts_of_text(doc.get("address", "")) | doc}
)
PAYMENT_METHOD = DocumentType.declared("paymentmethod", PaymentMethod)
PREFERENCES = DocumentType.declared("preferences", Preferences)
BASKET_ITEM = DocumentType.declared("basketline", BasketItem)
WISH = DocumentType.declared("wish", Wish)
VIEWED_PRODUCT = DocumentType.declared("seen", ViewedProduct)
STOCK_ALERT = DocumentType.declared("stockalert", StockAlert)
TOKEN = DocumentType.declared("token", Token)
SESSION = DocumentType.declared("session", Session)
CUSTOMER_NOTE = DocumentType.declared("customernote", CustomerNote)
ACCOUNT_EMAIL = DocumentType.declared("accountemail", AccountEmail)

USER_FIELDS = Declaration(Account)
REGISTERED_FIELDS = USER_FIELDS.select("userid", "name", "email", "email_verified")
SESSION_USER_FIELDS = USER_FIELDS.select("userid", "name", "email", "roles", "group")
ADDRESS_FIELDS = Declaration(Address)
PAYMENT_METHOD_FIELDS = Declaration(PaymentMethod)
PREFERENCE_FIELDS = Declaration(PreferenceValues)
BASKET_ITEM_FIELDS = Declaration(BasketItem)
WISH_FIELDS = Declaration(Wish)
VIEWED_PRODUCT_FIELDS = Declaration(ViewedProduct)

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
    "U4: which one-time tokens, sessions, unconfirmed stock alerts, views of products, places of syncs and notes of sent e-mails have expired?",
    fields=("expires",),
    partitioned=False,
    partial={"type": {"$in": ["token", "session", "stockalert", "seen", "syncpoint", "accountemail"]}},
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

STOCK_ALERTS = View(
    "stock_alerts",
    "for which SKUs people wait (how many); which alerts an e-mail address has",
    map="""function (doc) {
  if (doc.type !== "stockalert") return;
  if (doc.confirmed) emit(["waiting", doc.sku], null);
  emit(["email", doc._id.split(":")[1]], null);
}""",
    reduce="_count",
)

CUSTOMERS = View(
    "customers",
    "U5: accounts, newest first, by customer group and what they are found by: see `rules.customer_search`",
    map=view_source(__file__, "customers"),
)

DESIGN = DatabaseDesign(
    "users",
    (
        ACCOUNT_BY_EMAIL,
        ACCESS_CHANGES,
        DEFAULT_ADDRESS,
        EXPIRING,
        STAFF,
        ERASURES,
        STOCK_ALERTS,
        CUSTOMERS,
    ),
    types=(ADDRESS,),
)


def blanked(doc: Document) -> Doc:
    """What an erasure writes over a document before it deletes it."""
    return {name: doc[name] for name in _BLANK_FIELDS}


def is_blank(doc: Document) -> bool:
    return doc.keys() <= {*_BLANK_FIELDS, "_conflicts"}


def seen_partition(userid: str) -> str:
    """Raises NotFound for what cannot be a userid."""
    return f"{SEEN}{user_partition(userid).removeprefix('user')}"


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
    return document_id(f"email{email_digest(email)}", "claim")


def stock_alert_partition(sku: str) -> str:
    return f"stockalert{sku}"


def email_digest(email: str) -> str:
    return hashlib.sha256(email.encode()).hexdigest()


def digest_of_claim(claim: str) -> str:
    """The `email_digest` of the address that a claim is for."""
    return claim.partition(":")[0].removeprefix("email")


def stock_alert_id(sku: str, email: str) -> str:
    """The id is the claim: one alert of an address for each SKU."""
    return document_id(stock_alert_partition(sku), email_digest(email))


def basket_key(item: Mapping[str, Any]) -> str:
    """What a basket knows an item by: its SKU, which of a product without variants is the productid."""
    return str(item.get("sku") or item["productid"])


def token_id(userid: str, secret: str) -> str:
    """A one-time token is found by the digest of its secret; the secret itself is stored nowhere."""
    return user_document(userid, f"token-{hashlib.sha256(secret.encode()).hexdigest()[:40]}")
