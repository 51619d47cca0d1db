"""What the imports of files have in common: why a line cannot be taken, the lines of NDJSON and of CSV, and the text of a CSV file."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import orjson

from shared.errors import BadRequest, Invalid, NotFound

NDJSON: Final = "application/x-ndjson"
CSV: Final = "text/csv"

Numbered = Iterator[tuple[int, bytes | None]]
"""(number, text) of every line, None for one that is too long: see `shared.web.lines_of`."""


class BrokenLine(Invalid):
    code, title = "malformed_json", "The line is not JSON"


class LongLine(Invalid):
    code, title = "line_too_long", "The line is too long"


class LongRow(Invalid):
    code, title = "row_too_long", "The row has more cells than columns"


class WrongMedium(BadRequest):
    status, code, title = 415, "unsupported_media_type", "This is not an import file"


class NoSuchImport(NotFound):
    code, title = "no_such_import", "No such import"


def json_lines(lines: Numbered, longest: int) -> Iterator[tuple[int, Any]]:
    """(number, value) of every line that is not empty, an Invalid in the place of a value that cannot be read; `longest` in bytes."""
    for number, text in lines:
        if text is None:
            yield number, LongLine(f"A line may have {longest} bytes.")
        elif text.strip():
            try:
                yield number, orjson.loads(text)
            except orjson.JSONDecodeError as error:
                yield number, BrokenLine(f"Not JSON: {error.msg} at column {error.colno}.")


def decoded(lines: Numbered, longest: int) -> Iterator[str]:
    """The lines as a CSV reader takes them; `longest` in bytes. Raises BadRequest for one that is too long, or not UTF-8."""
    for number, text in lines:
        if text is None:
            raise BadRequest(f"Line {number} is longer than {longest} bytes.")
        try:
            yield text.decode() + "\n"
        except UnicodeDecodeError:
            raise BadRequest(f"Line {number} is not UTF-8.") from None


def csv_text(columns: Sequence[str], groups: Iterable[Iterable[dict[str, Any]]]) -> Iterator[str]:
    """A CSV file in pieces, one for each group of rows."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns)
    writer.writeheader()
    for rows in groups:
        writer.writerows(rows)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()
