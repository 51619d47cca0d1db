"""A response as it was read: status, headers, body."""

from collections.abc import Iterator, Mapping


class Headers(Mapping[str, str]):
    """Response headers; names are case-insensitive, a repeated header's values are joined with commas.

    `lines` are searched on demand: of most answers one or two headers are read, or none.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    def __getitem__(self, name: str) -> str:
        key = name.lower().encode("latin-1", "replace") + b":"
        size = len(key)
        values: list[bytes] = []
        for line in self._lines:
            if line[:size].lower() == key:
                values.append(line[size:].strip())
            elif line.startswith(b"HTTP/"):
                values.clear()  # informational responses (103 Early Hints) precede the last one
        if not values:
            raise KeyError(name)
        return b", ".join(values).decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        """Names in lower case."""
        names: dict[str, None] = {}
        for line in self._lines:
            if line.startswith(b"HTTP/"):
                names.clear()
            elif b":" in line:
                names[line.partition(b":")[0].decode("latin-1").lower()] = None
        return iter(names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Headers({dict(self)!r})"


class Response:
    """A status, headers and the body's bytes."""

    def __init__(self, status: int, header_lines: list[bytes], body: bytes) -> None:
        self.status = status
        self.body = body
        self.headers = Headers(header_lines)
