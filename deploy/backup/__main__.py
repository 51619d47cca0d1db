"""`python -m deploy.backup save FOLDER` copies all databases into files, `restore FOLDER/MOMENT` puts them back.

The server is COUCH_URL's, with COUCH_USERNAME and COUCH_PASSWORD or COUCH_APIKEY. A restore never writes
into a database that is there. Checkpoints (`_local` documents) belong to one server and are not copied.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from deploy.backup import files
from deploy.backup.server import Failed, Server

WRITTEN = 500


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.backup", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    saving = verbs.add_parser("save", help="copy all databases into a new folder below FOLDER")
    saving.add_argument("folder", type=Path)
    saving.add_argument(
        "--keep", type=int, metavar="N", help="then remove all but the newest N backups there"
    )
    restoring = verbs.add_parser("restore", help="put the databases of a backup onto a server without them")
    restoring.add_argument("folder", type=Path)
    options = parser.parse_args()
    os.umask(0o077)  # people's addresses and password hashes are in a backup
    try:
        if options.verb == "save":
            _say(f"Saved to {save(Server(), options.folder, _say)}")
            for old in files.drop_old(options.folder, options.keep) if options.keep else []:
                _say(f"Removed {old}")
        else:
            restore(Server(), options.folder, _say)
    except Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def save(server: Server, parent: Path, say: Callable[[str], None]) -> Path:
    """The new backup's folder; it gets its name when all is in it. Raises Failed."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
    unfinished = parent / f".{moment}"
    parent.mkdir(parents=True, exist_ok=True)
    unfinished.mkdir(mode=0o700)
    try:
        databases = {name: _save_one(server, name, unfinished, say) for name in server.databases()}
        files.write_manifest(unfinished, databases)
        return unfinished.rename(parent / moment)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # of a failed one nothing stays to fill the disk


def _save_one(server: Server, database: str, folder: Path, say: Callable[[str], None]) -> dict:
    path = folder / f"{database.replace('/', '%2F')}.jsonl.gz"
    before = server.information(database)
    lines = files.write_lines(path, _all(server, database))
    say(f"{database}: {lines} revisions")
    return {
        "file": path.name,
        "sha256": files.digest(path),
        "partitioned": bool(before.get("props", {}).get("partitioned")),
        "revisions": lines,
        "documents": server.information(database)["doc_count"],
    }


def _all(server: Server, database: str) -> Iterator[dict]:
    for leaves in server.leaves(database):
        yield from server.documents(database, leaves)


def restore(server: Server, folder: Path, say: Callable[[str], None]) -> None:
    """Raises Failed before anything is written when a file is damaged or a database is there already."""
    databases = files.read_manifest(folder)
    if there := sorted(set(databases) & set(server.databases())):
        raise Failed(
            f"{', '.join(there)} is on the server already: restore onto an empty one, or delete it first."
        )
    for name, entry in databases.items():
        server.create(name, partitioned=entry["partitioned"])
        for batch in files.read_batches(folder / entry["file"], WRITTEN):
            server.write(name, batch)
        count = server.information(name)["doc_count"]
        say(f"{name}: {count} documents of {entry['documents']}")


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
