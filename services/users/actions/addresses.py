"""Delivery addresses. The default is derived from `default_since`, so there is exactly one whatever races."""

from typing import Any

from services.users.actions.tools import Tools
from services.users.documents import ADDRESS, user_document
from services.users.rules import MAX_ADDRESSES, NoSuchAddress, default_address
from shared.clock import timestamp
from shared.couch import Doc, UpdateConflict, time_ordered_id
from shared.errors import Conflict, Invalid

PREFIX = "delivery"


class TooManyAddresses(Conflict):
    code, title = "too_many_addresses", "No room for another address"


def address_shape(doc: Doc, default_id: str | None) -> dict[str, Any]:
    """An address as the API shows it."""
    return {
        "id": address_key(doc),
        "name": doc["name"],
        "address": doc["address"],
        "default": doc["_id"] == default_id,
    }


def address_key(doc: Doc) -> str:
    return str(doc["_id"]).partition(f":{PREFIX}")[2]


def addresses_of(docs: list[Doc]) -> list[dict[str, Any]]:
    """All addresses among a person's documents, oldest first, exactly one of them the default."""
    found = [doc for doc in docs if doc["type"] == "userdelivery"]
    default_id = default_address(found)
    return [address_shape(doc, default_id) for doc in found]


def list_addresses(tools: Tools, userid: str) -> list[dict[str, Any]]:
    """1 partition query."""
    return addresses_of(tools.store.some_of(userid, PREFIX))


def get_address(tools: Tools, userid: str, key: str) -> tuple[dict[str, Any], Doc]:
    """One address and its document. Raises NoSuchAddress, also for somebody else's."""
    docs = tools.store.some_of(userid, PREFIX)
    doc = next((doc for doc in docs if address_key(doc) == key), None)
    if doc is None:
        raise NoSuchAddress("It may have been removed.")
    return address_shape(doc, default_address(docs)), doc


def get_default(tools: Tools, userid: str) -> tuple[dict[str, Any], Doc]:
    """The default address and its document. Raises NoSuchAddress when there is no address. 1 partition query."""
    doc = tools.store.default_address(userid)
    if doc is None:
        raise NoSuchAddress("Add an address first.")
    return address_shape(doc, doc["_id"]), doc


def add_address(
    tools: Tools, userid: str, values: dict[str, Any], key: str | None = None
) -> tuple[dict[str, Any], Doc]:
    """Adds one; the first is the default whatever was asked. `key` (of an Idempotency-Key) makes a retry find what it wrote."""
    docs = tools.store.some_of(userid, PREFIX)
    if key and any(address_key(doc) == key for doc in docs):
        return get_address(tools, userid, key)
    if len(docs) >= MAX_ADDRESSES:
        raise TooManyAddresses(f"Remove one of your {MAX_ADDRESSES} addresses first.")
    wanted = values["default"] or not docs
    doc = _document(userid, key or time_ordered_id().lower(), values, wanted)
    try:
        doc = tools.store.put(doc)
    except UpdateConflict:
        return get_address(tools, userid, address_key(doc))
    if wanted:
        _unset_others(tools, docs)
    return address_shape(doc, default_address([*docs, doc])), doc


def change_address(
    tools: Tools, doc: Doc, docs_default: bool, changes: dict[str, Any]
) -> tuple[dict[str, Any], Doc]:
    """Changes an address that was just read. Raises UpdateConflict when somebody was faster, Invalid for `default: false` on the default."""
    if changes.get("default") is False and docs_default:
        raise Invalid(
            "Make another address the default instead.",
            errors={"default": ["One address is always the default."]},
        )
    changed = {**doc, **changes, "updated": timestamp()}
    if changes.get("default"):
        changed["default_since"] = changed["updated"]
    changed = tools.store.put(changed)
    others = [other for other in tools.store.some_of(doc["userid"], PREFIX) if other["_id"] != doc["_id"]]
    if changes.get("default"):
        _unset_others(tools, others)
    return address_shape(changed, default_address([*others, changed])), changed


def remove_address(tools: Tools, doc: Doc) -> None:
    tools.store.delete(doc)


def _document(userid: str, key: str, values: dict[str, Any], default: bool) -> Doc:
    moment = timestamp()
    return ADDRESS.new(
        user_document(userid, f"{PREFIX}{key}"), userid=userid, name=values["name"], address=values["address"],
        default=default, default_since=moment if default else "", updated=moment,
    )  # fmt: skip


def _unset_others(tools: Tools, others: list[Doc]) -> None:
    """Keeps the stored flags tidy for people who read documents; which address is the default does not depend on it."""
    stale = [{**doc, "default": False} for doc in others if doc["default"]]
    if stale:
        tools.store.put_many(stale)
