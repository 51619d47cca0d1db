"""What answers show: fields of the declared documents, and what is computed for them."""

from typing import Any

import marshmallow as ma

from services.users.declarations.kept import KEPT_CATEGORY_FIELDS
from services.users.documents import (
    ADDRESS_FIELDS,
    BASKET_ITEM_FIELDS,
    PAYMENT_METHOD_FIELDS,
    PREFERENCE_FIELDS,
    REGISTERED_FIELDS,
    SESSION_USER_FIELDS,
    USER_FIELDS,
    WISH_FIELDS,
)
from shared.audit import AUDIT_FIELDS
from shared.web import Shape, page_schema, response_schema
from shared.web.fields import MoneyShape, StrictInteger, Time

Registered = response_schema("Registered", REGISTERED_FIELDS)
SessionUser = response_schema("SessionUser", SESSION_USER_FIELDS)
Account = response_schema("Account", USER_FIELDS.select(*USER_FIELDS.public, "active"))
Accounts = page_schema("Accounts", Account)
Address = response_schema("Address", ADDRESS_FIELDS, {"id": ma.fields.String(required=True)})
Addresses = page_schema("Addresses", Address)
Preferences = response_schema("Preferences", PREFERENCE_FIELDS)
PaymentMethod = response_schema(
    "PaymentMethod", PAYMENT_METHOD_FIELDS, {"id": ma.fields.String(required=True)}
)
PaymentMethods = page_schema("PaymentMethods", PaymentMethod)
BasketItem = response_schema("BasketItem", BASKET_ITEM_FIELDS)
KeptCategory = response_schema(
    "KeptCategory",
    KEPT_CATEGORY_FIELDS,
    {
        "id": ma.fields.String(
            required=True, metadata={"description": "the first 40 hex digits of the name's SHA-256"}
        )
    },
)
KeptCategories = page_schema("KeptCategories", KeptCategory)
AuditEntry = response_schema(
    "AuditEntry",
    AUDIT_FIELDS,
    {
        "id": ma.fields.String(required=True),
        "service": ma.fields.String(required=True, metadata={"description": "where it was done"}),
    },
)
AuditTrail = page_schema("AuditTrail", AuditEntry)

_PRICED: dict[str, ma.fields.Field[Any]] = {
    "available": ma.fields.Boolean(
        required=True, metadata={"description": "the shop sells it and has this many"}
    ),
    "name": ma.fields.String(allow_none=True),
    "options": ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.String(),
        metadata={"description": "of a variant, such as Size: M"},
    ),
    "image": ma.fields.String(allow_none=True),
    "price": ma.fields.Nested(MoneyShape, allow_none=True),
    "delivery": ma.fields.Nested(MoneyShape, allow_none=True),
    "stock": ma.fields.Integer(allow_none=True),
    "not_sold_in": ma.fields.String(
        metadata={"description": "the currency asked for, where the product has no price in it"}
    ),
}
PricedItem = response_schema(
    "PricedItem", BASKET_ITEM_FIELDS, {**_PRICED, "total": ma.fields.Nested(MoneyShape, allow_none=True)}
)
Wish = response_schema(
    "Wish",
    WISH_FIELDS,
    {
        **_PRICED,
        "variant_needed": ma.fields.Boolean(
            required=True, metadata={"description": "it is sold by variant, and none was chosen"}
        ),
    },
)
Wishes = page_schema("Wishes", Wish)
Basket = page_schema(
    "Basket",
    PricedItem,
    {
        "totals": ma.fields.List(
            ma.fields.Nested(MoneyShape),
            required=True,
            metadata={"description": "one for each currency, without delivery"},
        )
    },
)
Me = response_schema(
    "Me",
    USER_FIELDS,
    {
        "addresses": ma.fields.List(ma.fields.Nested(Address), required=True),
        "preferences": ma.fields.Nested(Preferences, required=True),
        "payment_methods": ma.fields.List(ma.fields.Nested(PaymentMethod), required=True),
        "basket": ma.fields.List(ma.fields.Nested(BasketItem), required=True),
        "basket_revision": ma.fields.String(
            required=True, metadata={"description": "another one after every change of the basket"}
        ),
    },
)
Checkout = response_schema(
    "Checkout",
    USER_FIELDS.select("userid", "name", "email", "group"),
    {
        "addresses": ma.fields.List(ma.fields.Nested(Address), required=True),
        "basket": ma.fields.List(ma.fields.Nested(BasketItem), required=True),
    },
)


class SessionTokens(Shape):
    access_token = ma.fields.String(required=True)
    refresh_token = ma.fields.String(required=True)
    token_type = ma.fields.String(required=True)
    expires_in = StrictInteger(1, required=True)
    user = ma.fields.Nested(SessionUser, required=True)
    device_token = ma.fields.String(
        metadata={"description": "after a log-in: keep it on the device and send it with the next one"}
    )


class ViewedProduct(Shape):
    productid = ma.fields.String(required=True)
    viewed = Time(required=True)


Viewed = page_schema("Viewed", ViewedProduct)


class StockAlert(Shape):
    sku = ma.fields.String(required=True)


class Export(Shape):
    exported = Time(required=True)
    profile = ma.fields.Nested(Me, required=True)
    recently_viewed = ma.fields.List(ma.fields.Nested(ViewedProduct), required=True)
    orders = ma.fields.List(ma.fields.Dict(), required=True)
    drafts = ma.fields.List(
        ma.fields.Dict(), required=True, metadata={"description": "orders that staff made and did not place"}
    )
    store_credit = ma.fields.List(ma.fields.Dict(), required=True)
    reviews = ma.fields.List(ma.fields.Dict(), required=True)
    documents = ma.fields.List(
        ma.fields.Dict(), required=True, metadata={"description": "every document, without secrets"}
    )


class SessionState(Shape):
    live = ma.fields.Boolean(required=True)
    roles = ma.fields.List(ma.fields.String(), required=True)


class AccountChange(Shape):
    userid = ma.fields.String(required=True)
    changed = StrictInteger(required=True, metadata={"description": "milliseconds since 1970"})
    sessions_from = StrictInteger(required=True, metadata={"description": "sessions begun before have ended"})
    roles = ma.fields.List(ma.fields.String(), required=True)


class RevocationList(Shape):
    age = ma.fields.Float(required=True, metadata={"description": "seconds"})
    sessions = ma.fields.List(ma.fields.String(), required=True)
    accounts = ma.fields.List(ma.fields.Nested(AccountChange), required=True)
