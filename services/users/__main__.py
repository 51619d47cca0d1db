"""`python -m services.users create-admin`: the first admin, from ADMIN_EMAIL and ADMIN_PASSWORD_FILE; may be repeated."""

import argparse
import os
import sys
from pathlib import Path

from services.users.actions.staff import make_admin
from services.users.actions.tools import open_tools
from services.users.settings import Settings
from shared.errors import AisleError
from shared.settings import BadSettings, load


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m services.users", description=__doc__)
    arguments.add_argument("command", choices=["create-admin"])
    arguments.parse_args()
    try:
        settings = load(Settings, os.environ)
        email, file = os.environ["ADMIN_EMAIL"], Path(os.environ["ADMIN_PASSWORD_FILE"])
        done = make_admin(open_tools(settings), email, file.read_text().strip())
    except KeyError as missing:
        return _fail(f"{missing.args[0]} is not set.")
    except (BadSettings, AisleError, OSError, ValueError) as error:
        return _fail(str(error))
    print(f"{email} {done}. The password is in {file}.")
    return 0


def _fail(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
