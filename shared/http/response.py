"""A response as it was read: status, headers, body."""

from collections.abc import Iterator, Mapping
from functools import cached_property


class Headers(Mapping[str, str]):
    """Response headers; names are case-insensitive, a repeated header's values are joined with commas."""

    def __init__(self, values: dict[str, str]) -> None:
        """`values`: names in lower case."""
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({self._values!r})"


class Response:
    """`headers` are parsed when somebody reads them: most callers of the database never do."""

    def __init__(self, status: int, header_lines: list[bytes], body: bytes) -> None:
        self.status = status
        self.body = body
        self._lines = header_lines

    @cached_property
    def headers(self) -> Headers:
        return parse_headers(self._lines)


def parse_headers(lines: list[bytes]) -> Headers:
    """The headers of the last response in `lines`: informational ones (103 Early Hints) may precede it."""
    values: dict[str, str] = {}
    for line in lines:
        if line.startswith(b"HTTP/"):
            values.clear()
            continue
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            key, value = name.lower(), value.strip()
            values[key] = f"{values[key]}, {value}" if key in values else value
    return Headers(values)
