"""Text in cells of CSV files: spreadsheets run what begins like a formula, so an apostrophe is put in front, and taken off again."""

import re

# Also the full-width signs, which spreadsheets set to East Asian languages take for the plain ones.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def escape_formula(text: str) -> str:
    """`text` as a cell that no spreadsheet takes for a formula: "=1+1" becomes "'=1+1"."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """What was escaped as this cell; any other text stays as it is."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
