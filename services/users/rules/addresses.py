"""An address as it is sent, whole: its parts checked by its country's rules, or told from a text, and the text of its label."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from services.users.documents import ADDRESS_FIELDS
from shared.addresses import PARTS, checked, envelope, parts_of_text
from shared.errors import Invalid

MAX_TEXT = 1000
_TEXT = replace(
    ADDRESS_FIELDS.fields["address"],
    default="",
    description="an address as one text, instead of line1 and the others: it lies in the shop's own country",
)
NEW_ADDRESS_FIELDS: Final = ADDRESS_FIELDS.plus(address=_TEXT)


def loaded_address(data: Any) -> dict[str, Any]:
    """A new address as it was sent, whole. Raises Invalid by field."""
    return completed(NEW_ADDRESS_FIELDS.load(data))


def completed(content: Mapping[str, Any]) -> dict[str, Any]:
    """`content` with `line1` and more, or with `address` as one text. Raises Invalid by field."""
    rest = {name: value for name, value in content.items() if name not in (*PARTS, "address")}
    if content.get("line1"):
        parts = checked(content)
        return rest | {"address": "\n".join(envelope("", parts))[:MAX_TEXT]} | parts
    if not content.get("address"):
        raise Invalid(
            "The address is missing.",
            errors={"address": ["Give line1, city, postcode and country, or a text."]},
        )
    return rest | {"address": content["address"]} | parts_of_text(content["address"])


def changed(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The whole document after `changes`: parts over parts, or a text instead of them. Raises Invalid by field."""
    parts = {name: changes[name] for name in PARTS if name in changes}
    if not parts and "address" not in changes:
        return {**before, **changes}
    known = {name: value for name, value in before.items() if name not in (*PARTS, "address")}
    there = {name: before.get(name, "") for name in PARTS} if parts else {}
    content = completed(there | {"address": changes.get("address", "")} | parts)
    return (
        known | {name: value for name, value in changes.items() if name not in (*PARTS, "address")} | content
    )
