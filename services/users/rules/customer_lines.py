"""A customer as an import takes one and an export gives one: a JSON object (NDJSON), or rows of a CSV file.

In CSV a row is a customer with one address and one note at most; rows right behind it with the same e-mail add further ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from services.users.documents import ADDRESS_FIELDS, PREFERENCE_FIELDS, USER_FIELDS
from services.users.rules.accounts import MAX_ADDRESSES
from services.users.rules.addresses import loaded_address
from services.users.rules.foreign_hashes import can_be_checked
from shared.addresses import PARTS
from shared.clock import iso, parse
from shared.csv_cells import escape_formula, unescape_formula
from shared.emails import normalised_email
from shared.errors import Invalid
from shared.fields import Boolean, Declaration, Secret, Text
from shared.staff_notes import STAFF_NOTE_FIELDS

MAX_NOTES: Final = 50
PREFERRED: Final = ("newsletter", "language", "currency")
CUSTOMER_LINE: Final = Declaration(
    {
        "email": USER_FIELDS.fields["email"],
        "name": USER_FIELDS.fields["name"],
        "group": USER_FIELDS.fields["group"],
        "email_verified": Boolean(default=False),
        "created": Text(0, 40, default=""),
        "password_hash": Secret(0, 300, default=""),
    }
)
_PREFERENCES = PREFERENCE_FIELDS.select(*PREFERRED)
_OF_CUSTOMER: Final = (*CUSTOMER_LINE.fields, *PREFERRED)
_OF_ADDRESS: Final = {"address_name": "name", **{name: name for name in (*PARTS, "address")}}
COLUMNS: Final = (*_OF_CUSTOMER, "note", *_OF_ADDRESS, "default_address")
SHOPIFY: Final = {
    "Email": "email",
    "Accepts Email Marketing": "newsletter",
    "Note": "note",
    "Default Address Company": "company",
    "Default Address Address1": "line1",
    "Default Address Address2": "line2",
    "Default Address City": "city",
    "Default Address Province Code": "region",
    "Default Address Country Code": "country",
    "Default Address Zip": "postcode",
    "Default Address Phone": "phone",
}
"""Columns of Shopify's customer export; `First Name` and `Last Name` are the name, all others are left aside."""
_TRUE: Final = frozenset(("true", "yes", "1"))
_FALSE: Final = frozenset(("false", "no", "0"))


@dataclass(frozen=True)
class CustomerLine:
    """A line that was checked. `password_hash` is "" where the person has to set a password by e-mail."""

    email: str
    name: str
    group: str
    email_verified: bool
    created: str
    password_hash: str
    preferences: dict[str, Any]
    addresses: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def customer_line(data: Any) -> CustomerLine:
    """Of what a line of JSON or the rows of a customer said. Raises Invalid that names the field."""
    if not isinstance(data, dict):
        raise Invalid("A line is one JSON object.")
    rest = dict(data)
    addresses, notes = _list(rest, "addresses", MAX_ADDRESSES), _list(rest, "notes", MAX_NOTES)
    preferred = {name: rest.pop(name) for name in PREFERRED if name in rest}
    content, errors = CUSTOMER_LINE.check(rest)
    preferences, more = _PREFERENCES.check_changes(preferred)
    for name, messages in (errors | more).items():
        raise Invalid(f"{name}: {messages[0]}")
    created = iso(parse(content["created"])) if content["created"] else ""
    return CustomerLine(
        email=_email(content["email"]),
        name=content["name"],
        group=content["group"],
        email_verified=content["email_verified"],
        created=created,
        password_hash=content["password_hash"] if can_be_checked(content["password_hash"]) else "",
        preferences=preferences,
        addresses=[_address(number, each, content["name"]) for number, each in enumerate(addresses)],
        notes=[_note(number, each) for number, each in enumerate(notes)],
    )


def customers_of_rows(
    rows: Iterator[tuple[int, dict[str, str] | Invalid]],
) -> Iterator[tuple[int, dict[str, Any] | Invalid]]:
    """(number of the first row, what its rows said) of each customer, and rows that cannot be read; a cell that is empty says nothing."""
    number, customer = 0, None
    for row_number, cells in rows:
        if isinstance(cells, Invalid):
            yield row_number, cells
            continue
        row = {name: unescape_formula(text) for name, text in cells.items() if text}
        if not row:
            continue
        if customer is not None and row.get("email") == customer.get("email") and "email" in row:
            _add(customer, row)
            continue
        if customer is not None:
            yield number, customer
        number, customer = row_number, {name: _cell(name, row[name]) for name in _OF_CUSTOMER if name in row}
        _add(customer, row)
    if customer is not None:
        yield number, customer


def shopify_row(row: Mapping[str, str]) -> dict[str, str]:
    """A row of Shopify's customer export as a row of ours."""
    found = {ours: row.get(theirs, "").strip() for theirs, ours in SHOPIFY.items()}
    name = " ".join(filter(None, (row.get("First Name", "").strip(), row.get("Last Name", "").strip())))
    found["phone"] = found["phone"].lstrip("'")
    if not found["line1"]:
        found = {key: text for key, text in found.items() if key not in PARTS}
    return {**found, "name": name or found.get("company", "") or found["email"].partition("@")[0]}


def rows_of(line: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The rows of an exported customer."""
    addresses, notes = line["addresses"], line["notes"]
    for number in range(max(1, len(addresses), len(notes))):
        row = {name: line.get(name, "") for name in _OF_CUSTOMER} if number == 0 else {"email": line["email"]}
        if number < len(notes):
            row["note"] = notes[number]
        if number < len(addresses):
            address = _whole(addresses[number])
            row |= {column: address.get(name, "") for column, name in _OF_ADDRESS.items()}
            row["default_address"] = address.get("default", False)
        yield {name: escape_formula(_text(row.get(name, ""))) for name in COLUMNS}


def _add(customer: dict[str, Any], row: Mapping[str, str]) -> None:
    address: dict[str, Any] = {name: row[column] for column, name in _OF_ADDRESS.items() if column in row}
    if address:
        if "default_address" in row:
            address["default"] = _cell("default_address", row["default_address"])
        customer.setdefault("addresses", []).append(address)
    if "note" in row:
        customer.setdefault("notes", []).append(row["note"])


def _cell(name: str, text: str) -> str | bool:
    """A truth as one; any other text is for the field's own check."""
    plain = text.strip().lower()
    if name in ("email_verified", "newsletter", "default_address") and plain in _TRUE | _FALSE:
        return plain in _TRUE
    return text


def _whole(address: Mapping[str, Any]) -> dict[str, Any]:
    """Its parts, or the text alone where it was given as one: what was told of that is no whole address."""
    is_text = not address.get("country")
    left_out = PARTS if is_text else ("address",)
    return {name: value for name, value in address.items() if name not in left_out}


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _list(data: dict[str, Any], name: str, most: int) -> list[Any]:
    value = data.pop(name, None) or []
    if not isinstance(value, list) or len(value) > most:
        raise Invalid(f"{name}: a list of at most {most}.")
    return value


def _email(text: str) -> str:
    try:
        return normalised_email(text)
    except Invalid:
        raise Invalid("email: write it like name@example.com.") from None


def _address(number: int, data: Any, customer: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Invalid(f"addresses.{number}: an object.")
    known = {name: value for name, value in data.items() if name in (*ADDRESS_FIELDS.fields, *PARTS)}
    if unknown := data.keys() - known.keys():
        raise Invalid(f"addresses.{number}: unknown fields: {', '.join(sorted(unknown))}.")
    try:
        if known.get("line1"):
            known.pop("address", None)
        return loaded_address({"name": customer, **known})
    except Invalid as error:
        raise Invalid(f"addresses.{number}{_first(error)}") from None


def _note(number: int, text: Any) -> str:
    content, errors = STAFF_NOTE_FIELDS.select("text").check({"text": text})
    if errors:
        raise Invalid(f"notes.{number}: {errors['text'][0]}")
    return str(content["text"])


def _first(error: Invalid) -> str:
    """The first field that is wrong and why; else the whole sentence."""
    for name, messages in error.errors.items():
        return f".{name}: {messages[0]}"
    return f": {error.detail}"
