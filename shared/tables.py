"""Documents as rows of a CSV file, by their declared fields: a column a field, money in two (`price_amount`, `price_currency`),
an object in one a field (`customs_hs_code`), lists of objects, amounts by currency and objects of any content as JSON."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from shared.csv_cells import escape_formula, unescape_formula
from shared.fields import (
    Amount,
    Amounts,
    AmountsByName,
    Boolean,
    Declaration,
    Field,
    Group,
    GroupList,
    GroupsByName,
    Integer,
    JsonObject,
    TextList,
)

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_SPECIAL, _ESCAPED, _ENTRY = re.compile(r"[\\|]"), re.compile(r"\\([\\|])"), re.compile(r"(?:\\[\\|]|[^|])+")


_BOOLEANS = {"true": True, "false": False}
_AS_JSON = (GroupList, GroupsByName, JsonObject, Amounts, AmountsByName)


def columns(declaration: Declaration) -> tuple[str, ...]:
    """The first row of an export."""
    return tuple(
        column for name in declaration.public for column in _columns_of(name, declaration.fields[name])
    )


def required_columns(declaration: Declaration) -> tuple[str, ...]:
    """The columns that no import goes without."""
    named = ((name, declaration.fields[name]) for name in declaration.writable)
    return tuple(column for name, field in named if field.required for column in _columns_of(name, field))


def to_row(declaration: Declaration, doc: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a document; nothing in it is a formula to a spreadsheet."""
    row: dict[str, Any] = {}
    for name in declaration.public:
        if name in doc:
            row |= _cells(name, declaration.fields[name], doc[name])
    return {column: escape_formula(cell) if isinstance(cell, str) else cell for column, cell in row.items()}


def from_row(declaration: Declaration, row: Mapping[str, str]) -> dict[str, Any]:
    """What a row says, empty cells left out; what is wrong with it is for `Declaration.check` to say."""
    cells = {column: unescape_formula(cell) for column, cell in row.items() if cell}
    named = ((name, _value(name, declaration.fields[name], cells)) for name in declaration.public)
    return {name: value for name, value in named if value is not None}


def _columns_of(name: str, field: Field) -> tuple[str, ...]:
    if _has_no_cell(field):
        return ()
    if isinstance(field, Group):
        return tuple(f"{name}_{each}" for each in field.fields)
    return (f"{name}_amount", f"{name}_currency") if isinstance(field, Amount) else (name,)


def _has_no_cell(field: Field) -> bool:
    """What a cell cannot hold, and what most documents are answered without."""
    if isinstance(field, GroupList):
        return not field.in_cell
    return not field.writable and (isinstance(field, Group) or not field.show_default)


def _cells(name: str, field: Field, value: Any) -> dict[str, Any]:
    if _has_no_cell(field):
        return {}
    if isinstance(field, Amount):
        return {f"{name}_amount": value["amount"], f"{name}_currency": value["currency"]}
    if isinstance(field, Group):
        return {f"{name}_{each}": text for each, text in value.items()}
    if isinstance(field, TextList):
        return {name: _joined(value) if field.separator == "|" else field.separator.join(value)}
    if isinstance(field, _AS_JSON):
        return {name: orjson.dumps(value).decode() if value else ""}
    if isinstance(field, Boolean):
        return {name: "" if value is None else str(value).lower()}
    return {name: value}


def _value(name: str, field: Field, cells: Mapping[str, str]) -> Any:
    if _has_no_cell(field):
        return None
    if isinstance(field, Amount):
        amount = cells.get(f"{name}_amount")
        return amount and {"amount": _number(amount), "currency": cells.get(f"{name}_currency")}
    if isinstance(field, Group):
        named = ((each, _value(f"{name}_{each}", inner, cells)) for each, inner in field.fields.items())
        return {each: value for each, value in named if value is not None} or None
    cell = cells.get(name)
    if cell is None:
        return None
    if isinstance(field, TextList):
        return _split(cell) if field.separator == "|" else _levels(cell, field.separator)
    if isinstance(field, _AS_JSON):
        return _parsed(cell)
    if isinstance(field, Boolean):
        return _BOOLEANS.get(cell.strip().lower(), cell)
    return _number(cell) if isinstance(field, Integer) else cell


def _joined(texts: Iterable[str]) -> str:
    """Texts with "|" between them; one within a text is written "\\|"."""
    return "|".join(_SPECIAL.sub(r"\\\g<0>", text) for text in texts)


def _split(cell: str) -> list[str]:
    return [_ESCAPED.sub(r"\1", entry) for entry in _ENTRY.findall(cell) if entry.strip()]


def _levels(cell: str, separator: str) -> list[str]:
    return [level for level in cell.split(separator) if level.strip()]


def _parsed(cell: str) -> Any:
    """What the JSON says; a cell that is none stays a text, which no such field takes."""
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError:
        return cell


def _number(cell: str) -> int | str:
    return int(cell) if _INTEGER.fullmatch(cell.strip()) else cell
