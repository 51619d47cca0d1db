"""`python -m services.archive`: orders of a closed year out of the database into files, and back.

    save FOLDER --year 2024     write the orders that were placed then and have ended; changes nothing in the database
    verify FOLDER               read all of it back and compare the checksums
    remove FOLDER --yes         take what the archive holds out of the database; reports, lists and numbers go on
    restore FOLDER              put all of it back, or one order (`--order ID`)

The server is COUCH_URL's. Every verb may be killed and run again. Keep the folder, and a copy of it elsewhere.
"""

import argparse
import os
import sys
from pathlib import Path

from services.orders.actions import archive
from services.orders.documents import DESIGN
from services.orders.store.archive import ArchiveStore
from services.orders.store.archive_files import ArchiveFiles
from shared.clock import now
from shared.database import server_of
from shared.errors import AisleError
from shared.settings import BadSettings

TIMEOUT_SECONDS = 60.0
ORDERS_PER_FILE = 1000


def main() -> int:
    options = _arguments()
    os.umask(0o077)
    try:
        database = server_of(os.environ, TIMEOUT_SECONDS).open(DESIGN)
        return _done(options, ArchiveStore(database), ArchiveFiles(options.folder.resolve()))
    except BadSettings as error:
        print(error, file=sys.stderr)
        return 1
    except AisleError as error:
        print(error.detail, file=sys.stderr)
        return 1


def _done(options: argparse.Namespace, store: ArchiveStore, files: ArchiveFiles) -> int:
    if options.verb == "save":
        outcome = archive.save(store, files, options.year, now(), _say, orders=options.orders_per_file)
        _say("\n".join(outcome.report("saved")))
        return 0
    if options.verb == "verify":
        _say(f"{archive.verify(files, _say)} orders of {files.year}, as they were saved.")
        return 0
    if options.verb == "remove":
        archive.verify(files, _say)
        if not options.yes:
            print(
                "Nothing was removed: --yes says that a copy of the folder is kept elsewhere.",
                file=sys.stderr,
            )
            return 1
        outcome = archive.remove(store, files, now(), _say)
        _say("\n".join(outcome.report("removed from the database")))
        return 1 if outcome.left else 0
    outcome = archive.restore(store, files, _say, options.order)
    _say("\n".join(outcome.report("restored")))
    return 1 if outcome.left else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m services.archive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    saving = verbs.add_parser("save", help="write the orders of a closed year into files")
    saving.add_argument("folder", type=Path)
    saving.add_argument("--year", type=int, required=True)
    saving.add_argument("--orders-per-file", type=int, default=ORDERS_PER_FILE, metavar="N")
    verifying = verbs.add_parser("verify", help="read the files back and compare their checksums")
    verifying.add_argument("folder", type=Path)
    removing = verbs.add_parser("remove", help="take out of the database what the archive holds")
    removing.add_argument("folder", type=Path)
    removing.add_argument("--yes", action="store_true", help="a copy of the folder is kept elsewhere")
    restoring = verbs.add_parser("restore", help="put the orders back")
    restoring.add_argument("folder", type=Path)
    restoring.add_argument("--order", default="", metavar="ID", help="only this one")
    return parser.parse_args()


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
