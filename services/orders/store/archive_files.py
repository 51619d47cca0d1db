"""An archive on disk: a folder with gzipped files of JSON lines, a document each, and a manifest with their checksums.

A file gets its name when all of it is on the disk, and is part of the archive once the manifest names it: whatever is killed, the archive is
whole as far as it goes.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import orjson

from services.orders.documents import order_partition
from shared.couch import Document
from shared.errors import Conflict, Invalid, NotFound

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1


class ArchiveDamaged(Conflict):
    code, title = "archive_damaged", "The archive is damaged"


class ArchiveFiles:
    """The archive in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._manifest: dict[str, Any] = {}
        path = folder / MANIFEST
        if path.is_file():
            self._manifest = orjson.loads(path.read_bytes())
            if self._manifest.get("format") != FORMAT:
                raise Invalid(f"{path} is of a format that this version does not read.")

    @property
    def year(self) -> int:
        """Raises NotFound."""
        if not self._manifest:
            raise NotFound(f"{self.folder} holds no {MANIFEST}: it is no archive, or one that has not begun.")
        return int(self._manifest["year"])

    @property
    def parts(self) -> list[dict[str, Any]]:
        return list(self._manifest.get("parts", []))

    @property
    def is_whole(self) -> bool:
        """Whether it was written to its end."""
        return bool(self._manifest.get("whole", self.parts)) and self.after is None

    @property
    def size(self) -> int:
        """Bytes of the documents, as they are before they are packed."""
        return sum(part["bytes"] for part in self.parts)

    @property
    def orders(self) -> int:
        return sum(part["orders"] for part in self.parts)

    def documents(self, file: str, orderid: str) -> list[Document]:
        """Of one order, out of the file that it lies in; none where the file is not there, or is damaged before they come."""
        partition = order_partition(orderid)
        sought = f'"{partition}:'.encode()
        try:
            with gzip.open(self.folder / file, "rb") as lines:
                found = [orjson.loads(line) for line in lines if sought in line]
        except (OSError, EOFError, zlib.error, orjson.JSONDecodeError):
            return []
        return [doc for doc in found if doc["_id"].partition(":")[0] == partition]

    @property
    def after(self) -> list[Any] | None:
        """The row behind which an unfinished one goes on."""
        after: list[Any] | None = self._manifest.get("after")
        return after

    def begin(self, year: int) -> None:
        """Raises Invalid when the archive is of another year."""
        if self._manifest and self.year != year:
            raise Invalid(f"{self.folder} is the archive of {self.year}: take another folder for {year}.")
        if not self._manifest:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write({"format": FORMAT, "year": year, "after": None, "parts": [], "whole": False})

    def add(self, orders: Sequence[Sequence[Document]], after: list[Any] | None) -> None:
        """A file with these orders; `after` is the row that comes last in it, None at the end. Without orders only that is written."""
        parts = self.parts
        if orders:
            name = f"part{len(parts) + 1:05d}.ndjson.gz"
            text = b"".join(orjson.dumps(doc) + b"\n" for order in orders for doc in order)
            self._put(name, gzip.compress(text, 6, mtime=0))
            parts.append(
                {
                    "file": name,
                    "orders": len(orders),
                    "documents": sum(map(len, orders)),
                    "bytes": len(text),
                    "sha256": self._digest(name),
                }
            )
            if [list(order) for order in self.read(parts[-1])] != [list(order) for order in orders]:
                raise ArchiveDamaged(f"{name} does not read as it was written: look at the disk.")
        self._write({**self._manifest, "after": after, "parts": parts, "whole": after is None})

    def read(self, part: dict[str, Any]) -> Iterator[list[Document]]:
        """Its orders, each with its documents. Raises ArchiveDamaged before the first one when its checksum is not the manifest's."""
        path = self.folder / part["file"]
        if not path.is_file() or self._digest(part["file"]) != part["sha256"]:
            raise ArchiveDamaged(f"{path} is damaged or missing: take it from a copy of the archive.")
        with gzip.open(path, "rb") as file:
            for _, docs in groupby(map(orjson.loads, file), key=lambda doc: doc["_id"].partition(":")[0]):
                yield list(docs)

    def part_named(self, file: str) -> dict[str, Any]:
        """Raises NotFound."""
        found = next((part for part in self.parts if part["file"] == file), None)
        if found is None:
            raise NotFound(f"{self.folder} has no {file}: the order is in another archive.")
        return found

    def _digest(self, name: str) -> str:
        with (self.folder / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _write(self, manifest: dict[str, Any]) -> None:
        self._put(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")
        self._manifest = manifest

    def _put(self, name: str, content: bytes) -> None:
        """On the disk before it has its name."""
        unfinished = self.folder / f".{name}.unfinished"
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.folder / name)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
