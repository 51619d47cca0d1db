"""A customer's own data as documents of a database of their own: what is shown of a partition, and what a pushed document makes of it.

    profile                {type: user, userid, name, email, ...}             its name may be changed
    preferences            {type: preferences, language, currency, ...}
    delivery{id}           {type: userdelivery, name, address, ..., default}
    basket-{SKU}           {type: basketline, productid, sku, quantity}
    wish-{SKU}             {type: wish, productid, sku, added}
    kept-{digest}          {type: kept, category, subtree, added}         `declarations/kept.py`
    order-{orderid}        {type: order, orderid, status, total, ...}         read only

Nothing else is shown of a partition: no secret, no token, no session, no payment method.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.users.actions.accounts import with_change_time
from services.users.actions.addresses import PREFIX as ADDRESS_PREFIX
from services.users.actions.addresses import TooManyAddresses, address_document, addresses_of
from services.users.actions.basket import PREFIX as BASKET_PREFIX
from services.users.actions.basket import BasketFull, item_document, sold_product
from services.users.actions.kept import check_kept, kept_document
from services.users.actions.profile import person_answer
from services.users.actions.wishes import PREFIX as WISH_PREFIX
from services.users.actions.wishes import WishListFull, kept_product, wish_document
from services.users.declarations.kept import KEPT_CATEGORY, KEPT_CATEGORY_FIELDS, KEPT_PREFIX, kept_key
from services.users.documents import (
    ADDRESS,
    ADDRESS_FIELDS,
    BASKET_ITEM,
    BASKET_ITEM_FIELDS,
    PREFERENCE_FIELDS,
    PREFERENCES,
    USER,
    USER_FIELDS,
    WISH,
    WISH_FIELDS,
    Address,
    basket_key,
    is_blank,
    user_document,
)
from services.users.rules.accounts import MAX_ADDRESSES, MAX_BASKET_ITEMS, MAX_WISHES, default_address
from services.users.rules.addresses import changed as changed_address
from services.users.rules.addresses import loaded_address
from services.users.rules.merging import merged
from shared.addresses import PARTS
from shared.clock import timestamp
from shared.couch import Doc, split_id
from shared.errors import Forbidden, Invalid

PROFILE: Final = "profile"
ORDER_PREFIX: Final = "order-"
ORDER_TYPE: Final = "order"
ACCOUNT: Final = "auth"
_NEW_NAME = USER_FIELDS.select("name")
_ADDRESS_KEY = re.compile(r"[0-9A-Za-z]{8,40}")
_REMOVABLE = (BASKET_PREFIX, WISH_PREFIX, ADDRESS_PREFIX, KEPT_PREFIX)


def shown_documents(docs: Iterable[Doc]) -> dict[str, Doc]:
    """What devices see of a person's documents: {id: content}."""
    there = [doc for doc in docs if not is_blank(doc)]
    shown: dict[str, Doc] = {"preferences": {"type": PREFERENCES.name, **PREFERENCE_FIELDS.shown({})}}
    for address in addresses_of(there):
        content = {name: value for name, value in address.items() if name != "id" and value != ""}
        shown[f"{ADDRESS_PREFIX}{address['id']}"] = {"type": ADDRESS.name, **content}
    for account in USER.among(there):
        shown[PROFILE] = {"type": USER.name, **person_answer(account)}
    for preferences in PREFERENCES.among(there):
        shown["preferences"] = {"type": PREFERENCES.name, **PREFERENCE_FIELDS.shown(preferences["values"])}
    for item in BASKET_ITEM.among(there):
        shown[split_id(item["_id"])[1]] = {"type": BASKET_ITEM.name, **BASKET_ITEM_FIELDS.shown(item)}
    for kept in KEPT_CATEGORY.among(there):
        shown[split_id(kept["_id"])[1]] = {"type": KEPT_CATEGORY.name, **KEPT_CATEGORY_FIELDS.shown(kept)}
    for wish in WISH.among(there):
        shown[split_id(wish["_id"])[1]] = {"type": WISH.name, **WISH_FIELDS.shown(wish)}
    return shown


def check_removable(docid: str) -> None:
    """Raises Forbidden for what a customer cannot delete."""
    if not docid.startswith(_REMOVABLE):
        raise Forbidden("This cannot be deleted here.")


@dataclass
class Edits:
    """A person's documents by key, changed in memory by what a device pushed, by the rules of the API's own writes."""

    userid: str
    documents: dict[str, Doc]
    products: Mapping[str, dict[str, Any]]
    """What `Products.lookup` found of `product_keys` of the pushed documents."""
    categories: Collection[str] = ()
    """Which of the categories that they name are there."""

    def write(self, docid: str, content: Mapping[str, Any], *, newest: bool) -> None:
        """Without `newest` the device did not know of the last change: `rules/merging.py` decides, and a device's change is the latest.

        Raises Forbidden, Invalid, Conflict.
        """
        fields = {name: value for name, value in content.items() if name != "type"}
        if docid == PROFILE:
            self._expect(content, USER.name)
            self._change_profile(fields, newest)
        elif docid == "preferences":
            self._expect(content, PREFERENCES.name)
            self._change_preferences(fields)
        elif docid.startswith(BASKET_PREFIX):
            self._expect(content, BASKET_ITEM.name)
            self._put_item(docid, fields, newest)
        elif docid.startswith(WISH_PREFIX):
            self._expect(content, WISH.name)
            self._keep_wish(docid, fields)
        elif docid.startswith(KEPT_PREFIX):
            self._expect(content, KEPT_CATEGORY.name)
            self._keep_category(docid, fields)
        elif docid.startswith(ADDRESS_PREFIX):
            self._expect(content, ADDRESS.name)
            self._put_address(docid, fields)
        elif docid.startswith(ORDER_PREFIX):
            raise Forbidden("Orders are read only here.")
        else:
            raise Forbidden("There are no documents of this name or type here.")

    def remove(self, docid: str) -> None:
        """Raises Forbidden."""
        check_removable(docid)
        self.documents.pop(docid, None)

    def _expect(self, content: Mapping[str, Any], name: str) -> None:
        if content.get("type") != name:
            raise Forbidden(f"A document of this _id has the type {name}.")

    def _change_profile(self, fields: dict[str, Any], newest: bool) -> None:
        [account] = USER.among([self.documents[ACCOUNT]])
        shown = person_answer(account)
        other = [name for name, value in fields.items() if name != "name" and value != shown.get(name)]
        if other and newest:
            raise Forbidden(f"Only the name can be changed here, not: {', '.join(sorted(other))[:200]}.")
        if set(account["roles"]) != {"customer"}:
            raise Forbidden("Staff change their account online.")
        name = _NEW_NAME.load({"name": fields.get("name")})["name"]
        if name != account["name"]:
            self.documents[ACCOUNT] = {**with_change_time(account, {**account, "name": name})}

    def _change_preferences(self, fields: dict[str, Any]) -> None:
        changes = PREFERENCE_FIELDS.load_changes(fields)
        present = self.documents.get("preferences")
        values = (present["values"] if present else {}) | changes
        if present and present["values"] == values:
            return
        docid = user_document(self.userid, "preferences")
        doc = PREFERENCES.new(docid, userid=self.userid, values=values, updated=timestamp())
        self.documents["preferences"] = {**doc, "_rev": present["_rev"]} if present else doc
        [account] = USER.among([self.documents[ACCOUNT]])
        if values.get("language") and account.get("language") != values["language"]:
            changed = {**account, "language": values["language"]}
            self.documents[ACCOUNT] = {**with_change_time(account, changed)}  # type: ignore[arg-type]

    def _put_item(self, docid: str, fields: dict[str, Any], newest: bool) -> None:
        item = BASKET_ITEM_FIELDS.load(fields)
        key = basket_key(item)
        if docid != BASKET_PREFIX + key:
            raise Forbidden("The _id is basket- and the SKU, or the productid of what has no variants.")
        named = sold_product(self.products.get(key), key)
        present = BASKET_ITEM.typed(self.documents.get(docid))
        if present is None and self._count(BASKET_PREFIX) >= MAX_BASKET_ITEMS:
            raise BasketFull(f"A basket holds at most {MAX_BASKET_ITEMS} products.")
        new: Doc = {**item_document(self.userid, named, item["quantity"], present)}
        if present and not newest:
            # nobody knows when it was changed without a network, so the two count as made at once
            new = {**merged([{**present}, {**new, "updated": present["updated"]}]), "_rev": present["_rev"]}
        if present is None or present["quantity"] != new["quantity"]:
            self.documents[docid] = new

    def _keep_wish(self, docid: str, fields: dict[str, Any]) -> None:
        wish = WISH_FIELDS.load(fields)
        key = basket_key(wish)
        if docid != WISH_PREFIX + key:
            raise Forbidden("The _id is wish- and the SKU, or the productid.")
        named = kept_product(self.products.get(key), key)
        if docid in self.documents:
            return
        if self._count(WISH_PREFIX) >= MAX_WISHES:
            raise WishListFull(f"A wish list holds at most {MAX_WISHES} products.")
        self.documents[docid] = {**wish_document(self.userid, key, named)}

    def _keep_category(self, docid: str, fields: dict[str, Any]) -> None:
        content = KEPT_CATEGORY_FIELDS.load(fields)
        category = content["category"]
        if docid != KEPT_PREFIX + kept_key(category):
            raise Forbidden(
                "The _id is kept- and the first 40 hex digits of the SHA-256 of the category's name."
            )
        present = KEPT_CATEGORY.typed(self.documents.get(docid))
        if present is None:
            check_kept(self._count(KEPT_PREFIX), is_known=category in self.categories)
        doc = kept_document(self.userid, content, present)
        if doc is not present:
            self.documents[docid] = {**doc}

    def _put_address(self, docid: str, fields: dict[str, Any]) -> None:
        key = docid.removeprefix(ADDRESS_PREFIX)
        if not _ADDRESS_KEY.fullmatch(key):
            raise Forbidden("The _id of an address is delivery and 8 to 40 letters and digits.")
        docs = ADDRESS.among(self.documents.values())
        present = next((doc for doc in docs if split_id(doc["_id"])[1] == docid), None)
        if present is not None:
            self.documents[docid] = self._changed(present, fields, default_address(docs) == present["_id"])
            return
        if len(docs) >= MAX_ADDRESSES:
            raise TooManyAddresses(f"Remove one of your {MAX_ADDRESSES} addresses first.")
        values = loaded_address(fields)
        self.documents[docid] = {**address_document(self.userid, key, values, values["default"] or not docs)}

    def _changed(self, present: Address, fields: dict[str, Any], is_default: bool) -> Doc:
        """One address is always the default: another takes that from it, its own `default: false` does not."""
        shown = ADDRESS_FIELDS.shown(present)
        sent = {name: "" for name in PARTS if shown.get(name)} | fields
        changes = {name: value for name, value in sent.items() if value != shown.get(name)}
        values = ADDRESS_FIELDS.load_changes(changes)
        if not values.pop("default", False) or is_default:
            values |= {"default_since": present["default_since"], "default": present["default"]}
        else:
            values |= {"default_since": timestamp(), "default": True}
        return changed_address(present, {**values, "updated": timestamp()})

    def _count(self, prefix: str) -> int:
        return sum(key.startswith(prefix) and not is_blank(doc) for key, doc in self.documents.items())


def product_keys(docs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Which products pushed documents name: SKUs, or productids."""
    named = [doc for doc in docs if doc.get("type") in (BASKET_ITEM.name, WISH.name)]
    keys = [doc.get("sku") or doc.get("productid") for doc in named if not doc.get("_deleted")]
    return sorted({key for key in keys if isinstance(key, str) and 1 <= len(key) <= 100})


def reason_of(error: Exception) -> str:
    """What a page can show of a refusal."""
    detail = str(getattr(error, "detail", "") or error)
    if isinstance(error, Invalid) and error.errors:
        return "; ".join(f"{field}: {' '.join(said)}" for field, said in sorted(error.errors.items()))[:500]
    return detail[:500]
