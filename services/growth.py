"""`python -m services.growth`: how many documents of each type the databases hold, and how many bytes these are, in all and for 1,000 orders.

Reads every document, 1 global query a thousand: run it when there is time. Bytes are those of the JSON, without what the server keeps beside it.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

import orjson

from services.prepare import DESIGNS
from shared.couch import Database, Doc
from shared.database import server_of
from shared.errors import AisleError
from shared.settings import BadSettings

BATCH: Final = 1000
LAST: Final = "\uffff"
ORDERS: Final = 1000
TIMEOUT_SECONDS: Final = 60.0


def main() -> int:
    try:
        server = server_of(os.environ, TIMEOUT_SECONDS)
        counted = {design.name: count(server.open(design)) for design in DESIGNS}
    except BadSettings as error:
        print(error, file=sys.stderr)
        return 1
    except AisleError as error:
        print(error.detail, file=sys.stderr)
        return 1
    print("\n".join(table(counted)))
    return 0


def count(database: Database) -> dict[str, tuple[int, int]]:
    """{type: (documents, bytes)}"""
    documents, sizes = Counter[str](), Counter[str]()
    for doc in _all(database):
        name = str(doc.get("type", "other"))
        documents[name] += 1
        sizes[name] += len(orjson.dumps(doc))
    return {name: (documents[name], sizes[name]) for name in documents}


def table(counted: dict[str, dict[str, tuple[int, int]]]) -> Iterator[str]:
    """Lines of Markdown: what there is most of comes first."""
    orders = sum(found.get("order", (0, 0))[0] for found in counted.values())
    yield f"| database | type | documents | bytes | documents for {ORDERS:,} orders | bytes for {ORDERS:,} orders |"
    yield "|---|---|---|---|---|---|"
    for database, found in counted.items():
        for name, (documents, size) in sorted(found.items(), key=lambda each: -each[1][1]):
            rated = (_rated(documents, orders), _rated(size, orders))
            yield f"| {database} | {name} | {documents:,} | {size:,} | {rated[0]} | {rated[1]} |"


def _rated(number: int, orders: int) -> str:
    return f"{number * ORDERS / orders:,.0f}" if orders else "-"


def _all(database: Database) -> Iterator[Doc]:
    start = ""
    while True:
        docs = database.across_partitions.documents(start, LAST, limit=BATCH)
        yield from (doc for doc in docs if not doc["_id"].startswith("_design/"))
        if len(docs) < BATCH:
            return
        start = docs[-1]["_id"] + "\x00"


if __name__ == "__main__":
    sys.exit(main())
