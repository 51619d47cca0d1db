"""The audit trail in a shopkeeper's words: what was done, to what, and the details."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import quote

from services.storefront.rules.audit_reasons import words_of
from services.storefront.rules.prices import plain
from services.storefront.translation import gettext, gettext_noop
from shared.money import Money

FAILED: Final = ": failed"
_ACTIONS: Final = {
    "create admin": gettext_noop("Made an admin"),
    "set roles": gettext_noop("Changed the role"),
    "add customer note": gettext_noop("Noted something on a customer"),
    "add product note": gettext_noop("Noted something on a product"),
    "send account e-mail": gettext_noop("Sent an e-mail of the account again"),
    "export customer": gettext_noop("Handed out a customer's data"),
    "export guest": gettext_noop("Handed out a guest's data"),
    "set group": gettext_noop("Changed the customer group"),
    "close account": gettext_noop("Closed the account"),
    "open account": gettext_noop("Opened the account again"),
    "erase": gettext_noop("Erased the account"),
    "export": gettext_noop("Exported personal data"),
    "change own account": gettext_noop("Changed their own account"),
    "dispatch order": gettext_noop("Dispatched"),
    "mark order delivered": gettext_noop("Marked as delivered"),
    "mark parcel delivered": gettext_noop("Marked a parcel as delivered"),
    "cancel order": gettext_noop("Cancelled the order"),
    "refund order": gettext_noop("Refunded"),
    "request return": gettext_noop("Requested a return"),
    "approve return": gettext_noop("Approved a return"),
    "refuse return": gettext_noop("Refused a return"),
    "receive return": gettext_noop("Received a return"),
    "buy return label": gettext_noop("Bought a label for a return"),
    "buy parcel label": gettext_noop("Bought a label for a parcel"),
    "cancel parcel label": gettext_noop("Cancelled a label"),
    "end payment page": gettext_noop("Ended the payment page"),
    "retry job": gettext_noop("Sent a failed job again"),
    "import orders": gettext_noop("Imported orders"),
    "archive orders": gettext_noop("Moved the orders of a year into the archive"),
    "restore orders": gettext_noop("Brought orders back from the archive"),
    "send e-mail again": gettext_noop("Sent an e-mail again"),
    "correct recipient of order": gettext_noop("Named another recipient of gift cards"),
    "add draft order": gettext_noop("Made a draft order"),
    "change draft order": gettext_noop("Changed a draft order"),
    "remove draft order": gettext_noop("Removed a draft order"),
    "place draft order": gettext_noop("Placed a draft order"),
    "record refund": gettext_noop("Recorded a refund as paid back"),
    "note failed refund": gettext_noop("Learnt that a refund did not arrive"),
    "erase guest": gettext_noop("Erased a guest"),
    "add note": gettext_noop("Added a note"),
    "issue gift card": gettext_noop("Issued a gift card"),
    "correct gift card": gettext_noop("Set the balance of a gift card"),
    "grant store credit": gettext_noop("Gave store credit"),
    "request report": gettext_noop("Asked for a report"),
    "close period": gettext_noop("Closed a period"),
    "add shipping method": gettext_noop("Added a shipping method"),
    "change shipping method": gettext_noop("Changed a shipping method"),
    "add tax rate": gettext_noop("Added a tax rate"),
    "change tax rate": gettext_noop("Changed a tax rate"),
    "add promotion": gettext_noop("Added a promotion"),
    "change promotion": gettext_noop("Changed a promotion"),
    "change shop settings": gettext_noop("Changed the shop's settings"),
    "settle setting": gettext_noop("Kept one of two versions that were saved apart"),
    "create product": gettext_noop("Created a product"),
    "change product": gettext_noop("Changed a product"),
    "delete product": gettext_noop("Deleted a product"),
    "change products": gettext_noop("Changed several products"),
    "change stock": gettext_noop("Changed the stock"),
    "count stock at stall": gettext_noop("Counted the stock at a stall"),
    "record stall sale": gettext_noop("Recorded a sale at a stall"),
    "oversell at stall": gettext_noop("Recorded a sale at a stall that the stock had too little for"),
    "settle oversold": gettext_noop("Settled what was oversold at a stall"),
    "count cash": gettext_noop("Counted the cash of a stall"),
    "expect delivery": gettext_noop("Wrote down a supplier's delivery"),
    "receive delivery": gettext_noop("Received a supplier's delivery"),
    "import products": gettext_noop("Imported products"),
    "import customers": gettext_noop("Imported customers"),
    "export customers": gettext_noop("Exported all customers"),
    "import categories": gettext_noop("Imported categories"),
    "change category": gettext_noop("Changed a category"),
    "remove category": gettext_noop("Removed what was said of a category"),
    "add product type": gettext_noop("Added a product type"),
    "change product type": gettext_noop("Changed a product type"),
    "set picture": gettext_noop("Set a picture"),
    "upload picture": gettext_noop("Uploaded a picture"),
    "write synonym": gettext_noop("Wrote a synonym"),
    "remove synonym": gettext_noop("Removed a synonym"),
    "write redirect": gettext_noop("Wrote a redirect"),
    "remove redirect": gettext_noop("Removed a redirect"),
    "write pin": gettext_noop("Pinned products"),
    "remove pin": gettext_noop("Unpinned products"),
    "write hidden": gettext_noop("Hid a query"),
    "remove hidden": gettext_noop("Showed a query again"),
}
_DETAILS: Final = {
    "before": gettext_noop("Before"),
    "after": gettext_noop("Now"),
    "reason": gettext_noop("Why"),
    "code": gettext_noop("Because"),
    "step_up": gettext_noop("Confirmed with"),
    "amount": gettext_noop("Amount"),
    "balance": gettext_noop("Balance"),
    "value": gettext_noop("Value"),
    "courier": gettext_noop("Courier"),
    "courierid": gettext_noop("Tracking number"),
    "tracking_url": gettext_noop("Tracking link"),
    "kind": gettext_noop("Kind"),
    "number": gettext_noop("Its number"),
    "items": gettext_noop("Items"),
    "productid": gettext_noop("Product"),
    "quantity": gettext_noop("Quantity"),
    "condition": gettext_noop("Condition"),
    "exchange_for": gettext_noop("Wanted instead"),
    "delta": gettext_noop("Change"),
    "price": gettext_noop("Price"),
    "status": gettext_noop("Status"),
    "name": gettext_noop("Name"),
    "fields": gettext_noop("Fields"),
    "complete": gettext_noop("Nothing more will come"),
    "stall": gettext_noop("Stall"),
    "sold_by": gettext_noop("Sold by"),
    "counted": gettext_noop("Counted"),
    "outcome": gettext_noop("Outcome"),
    "act": gettext_noop("Its orders were"),
    "year": gettext_noop("Year"),
    "to": gettext_noop("Paid back to"),
    "notify": gettext_noop("E-mail to the customer"),
    "kept": gettext_noop("What holds"),
    "superseded": gettext_noop("What gave way"),
}
_PAGES: Final = (
    ("orders", "draft order", "/admin/drafts/"),
    ("orders", "archive orders", "/admin/archive/"),
    ("orders", "at stall", "/admin/orders/"),
    ("orders", "settle oversold", "/admin/orders/"),
    ("orders", "count cash", "/admin/stall/days/"),
    ("orders", "order", "/admin/orders/"),
    ("orders", "record refund", "/admin/orders/"),
    ("orders", "failed refund", "/admin/orders/"),
    ("orders", "return", "/admin/orders/"),
    ("orders", "add note", "/admin/orders/"),
    ("orders", "gift card", "/admin/gift-cards/"),
    ("users", "customer", "/admin/customers/"),
    ("users", "group", "/admin/customers/"),
    ("users", "account e-mail", "/admin/customers/"),
    ("orders", "store credit", "/admin/customers/"),
    ("products", "product", "/admin/products/"),
    ("products", "stock", "/admin/products/"),
    ("products", "delivery", "/admin/supplier-deliveries/"),
)
"""Where the subject of a service's act has its page, by a word of the action."""
_MAX_TEXT = 300


def action_label(action: str) -> str:
    """ "set roles: failed" -> "Changed the role: it did not work" """
    done = action.removesuffix(FAILED)
    label = gettext(_ACTIONS[done]) if done in _ACTIONS else done.capitalize()
    return gettext("%(action)s: it did not work", action=label) if action.endswith(FAILED) else label


def details(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(what, value) of an entry's details; what is empty is left out."""
    named = ((_label(name), _text(value, name)) for name, value in entry["details"].items())
    return [(name, value) for name, value in named if value]


def subjects(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(id, its page at the desk or "") of each thing that an act was about."""
    action = entry["action"].removesuffix(FAILED)
    base = next(
        (base for service, word, base in _PAGES if entry["service"] == service and word in action), ""
    )
    found = [entry["subject"]] if entry["subject"] else entry.get("subjects", [])
    is_page = base and "type" not in action
    return [(each, f"{base}{quote(each, safe='')}" if is_page else "") for each in found]


def _label(name: str) -> str:
    return gettext(_DETAILS[name]) if name in _DETAILS else name.replace("_", " ").capitalize()


def _text(value: Any, name: str = "") -> str:
    """The value of a detail as people read it: money, lists and objects too."""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, Mapping):
        if value.keys() == {"amount", "currency"}:
            return f"{plain(cast(Money, value))} {value['currency']}"
        return ", ".join(f"{_label(str(name))} {_text(each, str(name))}" for name, each in value.items())
    if isinstance(value, str) and (words := words_of(name, value)):
        return words
    if isinstance(value, str):
        return value.replace("_", " ") if value.islower() and " " not in value else value[:_MAX_TEXT]
    if isinstance(value, Sequence):
        return "; ".join(_text(each, name) for each in value)[:_MAX_TEXT]
    return "" if value is None else str(value)
