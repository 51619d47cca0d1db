"""`python -m services.users create-admin` makes the first admin of ADMIN_EMAIL and ADMIN_PASSWORD_FILE; it may be repeated."""

import argparse
import os
import sys
from pathlib import Path

from services.users.actions.staff import create_admin
from services.users.dependencies import open_dependencies
from services.users.settings import Settings
from shared.database import LONG_TIMEOUT
from shared.errors import AisleError
from shared.settings import BadSettings, load


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m services.users", description=__doc__)
    commands = arguments.add_subparsers(dest="command", required=True)
    commands.add_parser("create-admin", help="make the first admin")
    arguments.parse_args()
    try:
        print(_create_admin())
    except KeyError as missing:
        return _fail(f"{missing.args[0]} is not set.")
    except (BadSettings, AisleError, OSError, ValueError) as error:
        return _fail(str(error))
    return 0


def _create_admin() -> str:
    settings = load(Settings, os.environ)
    email, file = os.environ["ADMIN_EMAIL"], Path(os.environ["ADMIN_PASSWORD_FILE"])
    done = create_admin(open_dependencies(settings, LONG_TIMEOUT), email, file.read_text().strip())
    return f"{email} {done}."


def _fail(reason: str) -> int:
    print(reason, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
