"""The rows of a CSV file, however it was saved: its encoding, separator and line ends, its columns in any order and case."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from shared.errors import BadRequest
from shared.import_files import LongRow

MAX_BYTES: Final = 32 * 1024**2
MAX_CELL: Final = 1024**2
_SEPARATORS: Final = (",", ";", "\t")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


class Row(NamedTuple):
    """`line`: where it begins in the file. `cells` by column, empty ones left out."""

    line: int
    cells: dict[str, str]
    problem: LongRow | None = None

    def get(self, column: str) -> str:
        return self.cells.get(column, "")


def read_rows(
    content: bytes, column_of: Callable[[str], str | None], required: Iterable[str]
) -> Iterator[Row]:
    """`column_of` names a header's column, None for one that is left aside. Raises BadRequest for a file that is no such table."""
    text = _decoded(content)
    separator, text = _separator(text)
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = next(reader, [])
        columns = [column_of(" ".join(name.split()).casefold()) for name in header]
        if missing := [name for name in required if name not in columns]:
            raise BadRequest(f"The first row must name the columns; {', '.join(missing)} is missing.")
        yield from _rows(reader, columns)
    except csv.Error as error:
        raise BadRequest(f"Line {reader.line_num} is not CSV: {error}.") from None


def _rows(reader: Any, columns: list[str | None]) -> Iterator[Row]:
    line = reader.line_num + 1
    for cells in reader:
        named = zip(columns, cells, strict=False)
        row = {name: text for name, cell in named if name and (text := cell.strip())}
        if any(cell.strip() for cell in cells[len(columns) :]):
            yield Row(line, row, LongRow(f"{len(cells)} cells for {len(columns)} columns."))
        elif row:
            yield Row(line, row)
        line = reader.line_num + 1


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-16" if content.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadRequest(f"Line {line} is not UTF-8: save the file as CSV UTF-8.") from None


def _separator(text: str) -> tuple[str, str]:
    """What stands most often in the first line; spreadsheets may name it in a line of its own."""
    first = text.partition("\n")[0].strip()
    if first.lower().startswith("sep=") and len(first) == 5:
        return first[4], text.partition("\n")[2]
    return max(_SEPARATORS, key=first.count), text
