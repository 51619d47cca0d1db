"""`python -m services.prepare`: makes every service's database and indexes, built and warm, before the services start.

`--check` changes nothing: it prints what is missing or what Cloudant would refuse, and ends with 1 if there is anything.
`--migrate` writes documents of older schemas and type names as today's, and has new ones written so; run it when no older version is left running.
Each run also has the audit trail's entries of older versions found by actor and subject.
`--rebuild` makes what the desk lists of each order anew from the order's documents, and says how many were different; it may run at any time.
`--clean-up` removes indexes that this version does not use; run it when no older version is left running.
"""

import argparse
import os
import re
import sys

from services.orders import documents as orders
from services.products import documents as products
from services.users import documents as users
from shared.audit_pointers import complete_pointers
from shared.couch import DatabaseDesign, Server
from shared.customer_groups import problems_of_groups
from shared.database import server_of
from shared.errors import AisleError
from shared.language_codes import LANGUAGE
from shared.settings import BadSettings

DESIGNS = (users.DESIGN, products.DESIGN, orders.DESIGN, orders.SANDBOX_LEDGER)
TIMEOUT_SECONDS = 60.0


def main() -> int:
    options = _arguments()
    named = "LANGUAGES" if os.environ.get("LANGUAGES") else "SEARCH_LANGUAGE"
    languages = tuple(_listed(os.environ.get(named) or "en"))
    if wrong := [each for each in languages if not re.fullmatch(LANGUAGE, each)]:
        return _fail(f"{named} has {wrong[0]!r}, which is no language's code such as de or pt-BR.")
    groups = tuple(_listed(os.environ.get("CUSTOMER_GROUPS", "")))
    if problem := next(problems_of_groups(groups), ""):
        return _fail(problem)
    try:
        server = server_of(os.environ, TIMEOUT_SECONDS)
        return _prepare(server, options, products.design_in(*languages, groups=groups))
    except BadSettings as error:
        return _fail(str(error))
    except AisleError as error:
        return _fail(error.detail)


def _listed(text: str) -> dict[str, None]:
    """The values of a setting with commas, each once."""
    return dict.fromkeys(filter(None, (each.strip() for each in text.split(","))))


def _prepare(server: Server, options: argparse.Namespace, of_products: DatabaseDesign) -> int:
    designs = [of_products if each is products.DESIGN else each for each in DESIGNS]
    if options.check:
        problems = server.check(designs)
        print("\n".join(problems) or "Every database and index is in place.")
        _warn(server.check_search())
        return 1 if problems else 0
    server.prepare(designs, progress=_say)
    for design in (users.DESIGN, products.DESIGN, orders.DESIGN):
        complete_pointers(server.open(design), _say)
    _warn(server.check_search())
    # They bring all of the orders' rules, which nobody who waits for the databases need wait for.
    from services.orders.actions import summaries
    from services.orders.store import SummaryStore

    summary_store = SummaryStore(server.open(orders.DESIGN))
    summaries.begin_complete(summary_store)
    if options.migrate:
        server.migrate(designs, progress=_say)
    if options.rebuild:
        written = summaries.rebuild(summary_store, _say)
        _say(f"{written} summaries were not what the order's documents say, and were written anew.")
    if options.clean_up:
        server.clean_up(designs, progress=_say)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m services.prepare", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is missing or would be refused")
    parser.add_argument("--migrate", action="store_true", help="afterwards write old documents anew")
    parser.add_argument(
        "--rebuild", action="store_true", help="afterwards make the summaries of all orders anew"
    )
    parser.add_argument(
        "--clean-up", action="store_true", help="afterwards remove indexes this version does not use"
    )
    return parser.parse_args()


def _fail(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


def _warn(sentence: str) -> None:
    if sentence:
        print(sentence, file=sys.stderr)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
