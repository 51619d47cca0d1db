"""Delivery addresses. The default is derived from `default_since`, so there is exactly one whatever races."""

from collections.abc import Iterable
from typing import Any, cast

from services.users.dependencies import Dependencies
from services.users.documents import ADDRESS, ADDRESS_FIELDS, Address, user_document
from services.users.rules.accounts import MAX_ADDRESSES, creation_order, default_address
from services.users.rules.addresses import changed as changed_address
from services.users.rules.errors import NoSuchAddress
from shared.clock import timestamp
from shared.couch import Document, UpdateConflict, time_ordered_id
from shared.errors import Conflict, Invalid

PREFIX = "delivery"


class TooManyAddresses(Conflict):
    code, title = "too_many_addresses", "No room for another address"


def address_answer(doc: Address, default_id: str | None) -> dict[str, Any]:
    """An address as the API shows it."""
    return {"id": address_key(doc), **ADDRESS_FIELDS.shown(doc), "default": doc["_id"] == default_id}


def address_key(doc: Address) -> str:
    return str(doc["_id"]).partition(f":{PREFIX}")[2]


def addresses_of(docs: Iterable[Document]) -> list[dict[str, Any]]:
    """All addresses among a person's documents, oldest first, exactly one of them the default."""
    found = sorted(ADDRESS.among(docs), key=creation_order)
    default_id = default_address(found)
    return [address_answer(doc, default_id) for doc in found]


def list_addresses(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """1 partition query."""
    return addresses_of(deps.store.documents_with_prefix(userid, PREFIX))


def get_address(deps: Dependencies, userid: str, key: str) -> tuple[dict[str, Any], Address]:
    """One address and its document. Raises NoSuchAddress, also for another user's. 1 partition query; where there are several copies of each
    document 1 read more: such a list is one node's, which may lack it or have it as it was."""
    docs = ADDRESS.among(deps.store.documents_with_prefix(userid, PREFIX))
    doc = next((doc for doc in docs if address_key(doc) == key), None)
    if not deps.store.database.has_one_copy:
        doc = ADDRESS.typed(deps.store.of_user(userid, f"{PREFIX}{key}"))
        docs = [each for each in docs if address_key(each) != key] + ([doc] if doc else [])
    if doc is None:
        raise NoSuchAddress("It may have been removed.")
    return address_answer(doc, default_address(docs)), doc


def get_default(deps: Dependencies, userid: str) -> tuple[dict[str, Any], Address]:
    """The default address and its document. Raises NoSuchAddress when there is no address. 1 partition query."""
    doc = deps.store.default_address(userid)
    if doc is None:
        raise NoSuchAddress("Add an address first.")
    return address_answer(doc, doc["_id"]), doc


def add_address(
    deps: Dependencies, userid: str, values: dict[str, Any], key: str | None = None
) -> tuple[dict[str, Any], Address]:
    """Adds one; the first is the default whatever was asked. `key` (of an Idempotency-Key) makes a retry find what it wrote."""
    docs = ADDRESS.among(deps.store.documents_with_prefix(userid, PREFIX))
    if key and any(address_key(doc) == key for doc in docs):
        return get_address(deps, userid, key)
    if len(docs) >= MAX_ADDRESSES:
        raise TooManyAddresses(f"Remove one of your {MAX_ADDRESSES} addresses first.")
    wanted = values["default"] or not docs
    doc = address_document(userid, key or time_ordered_id().lower(), values, wanted)
    try:
        doc = deps.store.put(doc)
    except UpdateConflict:
        return get_address(deps, userid, address_key(doc))
    if wanted:
        _unset_others(deps, docs)
    return address_answer(doc, default_address([*docs, doc])), doc


def change_address(
    deps: Dependencies, doc: Address, docs_default: bool, changes: dict[str, Any], *, only: bool
) -> tuple[dict[str, Any], Address]:
    """Changes an address that was just read. Raises UpdateConflict when it has changed since, Invalid for `default: false` on the default,
    and with `only` DatabaseUnavailable when another writer may have changed this version."""
    if changes.get("default") is False and docs_default:
        raise Invalid(
            "Make another address the default instead.",
            errors={"default": ["One address is always the default."]},
        )
    moment = timestamp()
    values = {**changes, "updated": moment} | ({"default_since": moment} if changes.get("default") else {})
    changed = deps.store.put(cast(Address, changed_address(doc, values)), exclusive=only)
    others = [
        other
        for other in ADDRESS.among(deps.store.documents_with_prefix(doc["userid"], PREFIX))
        if other["_id"] != doc["_id"]
    ]
    if changes.get("default"):
        _unset_others(deps, others)
    return address_answer(changed, default_address([*others, changed])), changed


def remove_address(deps: Dependencies, doc: Address) -> None:
    deps.store.delete(doc)


def address_document(userid: str, key: str, values: dict[str, Any], default: bool) -> Address:
    """A new address as it is written."""
    moment = timestamp()
    return ADDRESS.build(
        user_document(userid, f"{PREFIX}{key}"),
        userid=userid,
        default=default,
        default_since=moment if default else "",
        created=moment,
        updated=moment,
        **ADDRESS_FIELDS.stored({name: value for name, value in values.items() if name != "default"}),
    )


def _unset_others(deps: Dependencies, others: list[Address]) -> None:
    """Keeps the stored flags tidy for people who read documents; which address is the default does not depend on it."""
    stale = [{**doc, "default": False} for doc in others if doc["default"]]
    if stale:
        deps.store.put_many(stale)
