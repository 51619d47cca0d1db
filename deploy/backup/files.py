"""A backup on disk: a folder of its moment, a gzipped file of JSON lines per database, a manifest with their sums."""

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from deploy.backup.server import Failed

MANIFEST = "manifest.json"
BATCH_BYTES = 2_000_000


def write_lines(path: Path, documents: Iterable[dict]) -> int:
    """How many there were."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=6) as file:
        for document in documents:
            file.write(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read_batches(path: Path, size: int) -> Iterator[list[dict]]:
    """At most `size` documents at a time, and fewer large ones: Cloudant takes requests of 11 MB at most."""
    batch: list[dict] = []
    held = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            batch.append(json.loads(line))
            held += len(line)
            if len(batch) == size or held >= BATCH_BYTES:
                yield batch
                batch, held = [], 0
    if batch:
        yield batch


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, databases: dict[str, dict]) -> None:
    (folder / MANIFEST).write_text(json.dumps({"format": 1, "databases": databases}, indent=1) + "\n")


def read_manifest(folder: Path) -> dict[str, dict]:
    """The databases of a backup, after every file was compared with its sum. Raises Failed."""
    if not (folder / MANIFEST).is_file():
        raise Failed(f"{folder} holds no {MANIFEST}: it is no backup, or one that was not finished.")
    databases = json.loads((folder / MANIFEST).read_text())["databases"]
    for name, entry in databases.items():
        path = folder / entry["file"]
        if not path.is_file() or digest(path) != entry["sha256"]:
            raise Failed(f"{path} is damaged or missing ({name}): take another backup.")
    return databases


def drop_old(parent: Path, keep: int) -> list[Path]:
    """Removes all but the newest `keep` finished backups."""
    finished = sorted(path.parent for path in parent.glob(f"*/{MANIFEST}"))
    old = finished[:-keep]
    for folder in old:
        shutil.rmtree(folder)
    return old
