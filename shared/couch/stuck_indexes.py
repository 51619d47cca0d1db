"""Search indexes of Nouveau to which nothing is added any more, built anew beside themselves.

CouchDB 3.5's indexer sends documents to Nouveau and waits for each answer. Where one is lost (Nouveau was killed, or took longer than
30 s), it waits for ever (apache/couchdb#5887), and with it every search of that index. Only a start of CouchDB ends that indexer. Another one works for an index whose function reads otherwise: so the same
function, with its number in a comment, is put into a second design document, and moves into the first one when its index is built.
"""

import logging
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from typing import Any

from .client import Client
from .design import design_documents
from .errors import DatabaseUnavailable, NoSuchDocument, NotPrepared, SearchUnavailable
from .search import NouveauIndex

log = logging.getLogger(__name__)

STUCK_SECONDS = 60.0
"""An indexer that has added nothing for so long waits for an answer that does not come."""
SECOND = "-anew"
"""Ends the id of the second design document."""
NUMBER = re.compile(r"\n// (\d+)$")

Task = dict[str, Any]


def rebuild(client: Client, name: str, indexes: Iterable[NouveauIndex]) -> None:
    """One step of it, for a job that comes again: nothing while the indexes are added to; else a second design document or, once what
    that one declares is built, its function in the first. Costs 2 reads where nothing is stuck. Raises UpdateConflict when another worker
    was first, SearchUnavailable while Nouveau is away."""
    there = design_documents(client, name)
    tasks, stuck = _indexers(client, name)
    for index in indexes:
        ids = {index.design_id, index.design_id + SECOND}
        if index.design_id in there and (
            index.design_id + SECOND in there or ids & {_design_id(task) for task in stuck}
        ):
            _step(client, name, index, [task for task in tasks if _design_id(task) in ids], stuck)


def _step(client: Client, name: str, index: NouveauIndex, tasks: list[Task], stuck: list[Task]) -> None:
    second_id = index.design_id + SECOND
    first, second = _design(client, name, index.design_id), _design(client, name, second_id)
    latest = second or first
    ours = [task for task in tasks if not second or _design_id(task) == second_id]
    ours = [task for task in ours if _identity(task) not in latest["stuck"]]
    if any(task in stuck for task in ours):
        number = _number(latest, index) + 1
        log.warning("%s: nothing is added to %s: it is built anew, as number %d", name, index.name, number)
        _put(client, name, index, second or {"_id": f"_design/{second_id}"}, number, tasks, made=second)
    elif second and not ours and _answers(client, name, index, second_id):
        _put(client, name, index, first, _number(second, index), tasks, made=second)
        client.call("delete_design_document", db=name, ddoc=second_id, rev=second["_rev"])
        log.warning("%s: %s is built anew, and in use", name, index.name)


def _indexers(client: Client, name: str) -> tuple[list[Task], list[Task]]:
    """The tasks that add to search indexes of this database, and those of them that have added nothing for long by the server's clock."""
    answer = client.answer("get_active_tasks")
    now = parsedate_to_datetime(answer.get_headers()["Date"]).timestamp()
    tasks = [
        task for task in answer.get_result() if task["type"] == "search_indexer" and _database(task) == name
    ]
    return tasks, [task for task in tasks if now - task["updated_on"] > STUCK_SECONDS]


def _design_id(task: Task) -> str:
    return str(task["design_document"]).removeprefix("_design/")


def _database(task: Task) -> str:
    """`shards/00000000-ffffffff/products.1795699530` -> `products`."""
    return str(task["database"]).split("/", 2)[-1].rpartition(".")[0]


def _identity(task: Task) -> list[Any]:
    """What makes an indexer out, which the list of tasks says nothing of the function of."""
    return [task["node"], task["pid"], task["started_on"]]


def _design(client: Client, name: str, design_id: str) -> dict[str, Any]:
    """The design document; empty where it is not there."""
    try:
        return {"stuck": [], **client.call("get_design_document", db=name, ddoc=design_id)}
    except NoSuchDocument:
        return {}


def _number(design: dict[str, Any], index: NouveauIndex) -> int:
    found = NUMBER.search(design["nouveau"][index.name]["index"])
    return int(found[1]) if found else 1


def _put(
    client: Client,
    name: str,
    index: NouveauIndex,
    design: dict[str, Any],
    number: int,
    tasks: Iterable[Task],
    *,
    made: dict[str, Any],
) -> None:
    """Writes the function with this number, and who is at work by now, so for another number. What the server added to the index as it was
    `made` stays: CouchDB 3.5.2 gives the first revision of a design document a `lucene_version`, and builds nothing without it."""
    document = index.design_document()
    function = f"{document['nouveau'][index.name]['index']}\n// {number}"
    added = made["nouveau"][index.name] if made else {}
    document["nouveau"][index.name] = {**added, **document["nouveau"][index.name], "index": function}
    there = {key: design[key] for key in ("_id", "_rev") if key in design}
    client.call(
        "put_design_document",
        db=name,
        ddoc=design["_id"].removeprefix("_design/"),
        design_document={**there, **document, "stuck": [_identity(task) for task in tasks]},
    )


def _answers(client: Client, name: str, index: NouveauIndex, design_id: str) -> bool:
    """Whether a search that wants all there is has its answer."""
    at = {"db": name, **({"partition_key": "warm"} if index.partitioned else {})}
    try:
        client.nouveau(at, design_id, index.name, {"q": "*:*", "limit": 1})
    except SearchUnavailable:
        raise
    except (DatabaseUnavailable, NotPrepared):
        return False
    return True
