"""Declarations to design documents: built and warmed beside the old ones, then used, the old ones cleaned up.

A design document is named after its content, so that code asks for exactly the index it was written for. `prepare`
runs before new code starts: readers of the old code keep their old index and never wait for a build.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from .client import Client
from .documents import Shapes
from .errors import (
    Conflict,
    DatabaseUnavailable,
    Error,
    IndexRefused,
    NotPrepared,
    QueryRefused,
    SearchUnavailable,
    UpdateConflict,
)
from .indexes import AccessPattern, DatabaseDesign, FindIndex, View
from .renaming import adopt_names
from .search import NOUVEAU_NAME, NouveauIndex, SearchIndex

log = logging.getLogger(__name__)

PARTITIONED_INDEX_LIMIT = 10
SEARCH_ENGINE_SECONDS = 5.0
"""So long whoever waits for indexes waits for a search engine that does not answer."""
STUCK_SECONDS = 60.0
"""So long whoever waits for a search index waits while nothing is added to it: where an answer of Nouveau is lost, CouchDB 3.5 waits for
it until it is started again (apache/couchdb#5887), and holds every search of that index meanwhile. `stuck_indexes` ends that."""

Progress = Callable[[str], None]


def prepare(
    client: Client, name: str, design: DatabaseDesign, features: Iterable[str], progress: Progress
) -> None:
    """Makes the database and every index of `design` on it, and returns when all of them are built."""
    create_database(client, name, design, features)
    create_indexes(client, name, servable(design, features), progress)


def create_indexes(client: Client, name: str, patterns: Iterable[AccessPattern], progress: Progress) -> None:
    """Those that are not there yet, and returns when all of them are built. A search index whose engine is away is left to the
    server, which builds it when the engine answers: everything else is there without it. Raises IndexRefused, when all others are built."""
    refused = []
    for pattern in patterns:
        try:
            if _create_index(client, name, pattern):
                progress(f"{name}: {pattern.name} is new, building")
            warm(client, name, pattern, progress)
        except SearchUnavailable as error:
            progress(f"{name}: {pattern.name} is not built: {error.detail}. Search will work when it does.")
        except QueryRefused as error:
            refused.append(_refusal(client, name, pattern, error))
    if refused:
        raise IndexRefused("\n".join(refused))


def missing(
    client: Client, name: str, design: DatabaseDesign, features: Iterable[str]
) -> list[AccessPattern]:
    """The indexes of `design` that the database lacks. 1 read. Raises NotPrepared without the database."""
    there = design_documents(client, name)
    return [pattern for pattern in servable(design, features) if pattern.design_id not in there]


def check(client: Client, name: str, design: DatabaseDesign, features: Iterable[str]) -> list[str]:
    """What `prepare` would have to do, and what Cloudant would refuse; empty when all is in place and built."""
    try:
        there = design_documents(client, name)
    except NotPrepared:
        return [*refused_by_cloudant(design), f"{name}: there is no such database"]
    problems = refused_by_cloudant(design)
    for pattern in servable(design, features):
        if pattern.design_id not in there:
            problems.append(f"{name}: {pattern.name} ({pattern.design_id}) is not there")
        elif problem := _problem(client, name, pattern):
            problems.append(problem)
    return problems


def _problem(client: Client, name: str, pattern: AccessPattern) -> str:
    try:
        built = is_usable(client, name, pattern)
    except QueryRefused as error:
        return _refusal(client, name, pattern, error)
    return "" if built else f"{name}: {pattern.name} ({pattern.design_id}) is still being built"


def _refusal(client: Client, name: str, pattern: AccessPattern, error: QueryRefused) -> str:
    """For an operator: which index, which server, and why."""
    engine = (
        "The search engine (Nouveau) of the server" if isinstance(pattern, NouveauIndex) else "The server"
    )
    return f"{name}: {pattern.name} ({pattern.design_id}) cannot be built. {engine} {client.server} refuses it: {error.detail}"


def clean_up(client: Client, name: str, keep: set[str], progress: Progress) -> None:
    """Removes design documents that no running version names. `keep`: design ids, of this version and those still running."""
    for design_id, rev in design_documents(client, name).items():
        if design_id not in keep:
            progress(f"{name}: {design_id} is no longer used, removing")
            client.call("delete_design_document", db=name, ddoc=design_id, rev=rev)


def refused_by_cloudant(design: DatabaseDesign) -> list[str]:
    """Cloudant's limit of ten partitioned indexes in a database."""
    partitioned = [pattern.name for pattern in design.patterns if pattern.partitioned]
    if len(partitioned) <= PARTITIONED_INDEX_LIMIT:
        return []
    return [
        f"{design.name}: {len(partitioned)} partitioned indexes, Cloudant takes {PARTITIONED_INDEX_LIMIT}: {partitioned}"
    ]


def servable(design: DatabaseDesign, features: Iterable[str]) -> list[AccessPattern]:
    """The patterns in the form this server can serve: text search as `_search`, `_nouveau` or a keyword view."""
    offered = list(features)
    return [
        pattern.on(offered) if isinstance(pattern, SearchIndex) else pattern for pattern in design.patterns
    ]


def design_ids(design: DatabaseDesign) -> set[str]:
    """Every design document this design may have made, whatever the server could do."""
    forms = (
        pattern.forms() if isinstance(pattern, SearchIndex) else (pattern,) for pattern in design.patterns
    )
    return {form.design_id for each in forms for form in each}


def design_documents(client: Client, name: str) -> dict[str, str]:
    """{design id: revision} of what is on the server."""
    rows = client.call("post_all_docs", db=name, start_key="_design/", end_key="_design0")["rows"]
    return {row["id"].removeprefix("_design/"): row["value"]["rev"] for row in rows}


def warm_all(client: Client, name: str, patterns: Iterable[AccessPattern]) -> None:
    """Waits until these indexes have caught up. Raises SearchUnavailable, when all others have, if Nouveau does not answer, and
    IndexRefused if one cannot be built."""
    failed: Error | None = None
    for pattern in patterns:
        try:
            warm(client, name, pattern, _no_progress)
        except SearchUnavailable as error:
            failed = failed or error
        except QueryRefused as error:
            failed = IndexRefused(_refusal(client, name, pattern, error))
    if failed is not None:
        raise failed


def warm(client: Client, name: str, pattern: AccessPattern, progress: Progress, pause: float = 0.5) -> None:
    """Waits until the index has caught up, with progress from the server's task list. Raises SearchUnavailable, also when a search index
    is not built any further."""
    reported, built, moved = "", None, time.monotonic()
    while (why := _why_unanswered(client, name, pattern)) is not None:
        tasks = _build_tasks(client, pattern)
        state = _build_progress(tasks) or f"does not answer yet: {why.detail}"
        if state != reported:
            progress(f"{name}: {pattern.name} {state}")
            reported = state
        done = [(task.get("database"), task.get("changes_done")) for task in tasks]
        if done != built:
            built, moved = done, time.monotonic()
        elif isinstance(pattern, NouveauIndex) and time.monotonic() - moved > STUCK_SECONDS:
            raise SearchUnavailable(
                f"Nothing was added to {pattern.name} of {name} for {STUCK_SECONDS:.0f} s: the worker has it built anew."
            )
        time.sleep(pause)


def is_usable(client: Client, name: str, pattern: AccessPattern) -> bool:
    """Whether the index answers, or cannot because its search engine is away: what needs no search can work without."""
    try:
        return _why_unanswered(client, name, pattern, seconds=1.0) is None
    except SearchUnavailable as error:
        log.warning("%s: %s: %s", name, pattern.name, error)
        return True


def _why_unanswered(
    client: Client, name: str, pattern: AccessPattern, seconds: float = SEARCH_ENGINE_SECONDS
) -> Error | None:
    """None when one cheap query is answered, which the server holds back while it builds, until our timeout. Raises
    SearchUnavailable when the engine of a search index has not answered for so many seconds, QueryRefused when it takes the index never."""
    if isinstance(pattern, NouveauIndex):
        if names := pattern.refused_names:
            raise QueryRefused(f"no field can be named {', '.join(names)} ({NOUVEAU_NAME})")
        client.search_engine.require(seconds)
    try:
        _ask(client, name, pattern)
    except SearchUnavailable:
        raise
    except (DatabaseUnavailable, NotPrepared) as error:
        return error
    return None


def _ask(client: Client, name: str, pattern: AccessPattern) -> None:
    """Each shard has a part of a partitioned index, and who asks a partition has that of its shard caught up, no other's."""
    if not pattern.partitioned:
        _ask_at(client, {"db": name}, pattern)
        return
    for key in client.partition_of_each_shard(name):
        _ask_at(client, {"db": name, "partition_key": key}, pattern)


def _ask_at(client: Client, at: dict[str, str], pattern: AccessPattern) -> None:
    if isinstance(pattern, View):
        _ask_view(client, at, pattern)
    elif isinstance(pattern, FindIndex):
        _ask_index(client, at, pattern)
    elif isinstance(pattern, SearchIndex):
        _ask_search(client, at, pattern)
    elif isinstance(pattern, NouveauIndex):
        client.nouveau(at, pattern.design_id, pattern.name, {"q": "*:*", "limit": 1})


def create_database(client: Client, name: str, design: DatabaseDesign, features: Iterable[str]) -> None:
    """Raises Conflict where one is there that is not partitioned as the design is."""
    try:
        client.call("put_database", db=name, partitioned=design.partitioned, q=_shards(design, features))
        adopt_names(client, name, Shapes(design.types))
    except Conflict:
        information = client.call("get_database_information", db=name)
        if bool(information.get("props", {}).get("partitioned")) != design.partitioned:
            raise Conflict(
                f"The database {name} exists, but is {'not ' if design.partitioned else ''}partitioned; that is fixed at creation."
            ) from None


def _shards(design: DatabaseDesign, features: Iterable[str]) -> int | None:
    """One where Nouveau searches: CouchDB up to 3.5.1 merges what several shards found with the least relevant first, and cuts the
    best off (apache/couchdb#5737), and 3.5.2 merges strings in another order than each shard has them. Elsewhere as many as the server likes."""
    searched = any(isinstance(pattern, SearchIndex) for pattern in design.patterns)
    nouveau = "nouveau" in features and "search" not in features
    return 1 if searched and nouveau else None


def _create_index(client: Client, name: str, pattern: AccessPattern) -> bool:
    if isinstance(pattern, FindIndex):
        arguments: dict[str, Any] = {
            "index": pattern.definition(),
            "ddoc": pattern.design_id,
            "name": pattern.name,
        }
        arguments["partitioned"] = pattern.partitioned
        return bool(client.call("post_index", db=name, type="json", **arguments)["result"] == "created")
    try:
        client.call(
            "put_design_document", db=name, ddoc=pattern.design_id, design_document=pattern.design_document()
        )
    except UpdateConflict:
        return False
    return True


def _ask_view(client: Client, at: dict[str, str], view: View) -> None:
    reduce = False if view.reduce else None
    operation = "post_partition_view" if view.partitioned else "post_view"
    client.call(operation, **at, ddoc=view.design_id, view=view.name, limit=1, reduce=reduce)


def _ask_index(client: Client, at: dict[str, str], index: FindIndex) -> None:
    selector = (index.partial or {}) | {field: {"$gt": None} for field in index.fields}
    operation = "post_partition_find" if index.partitioned else "post_find"
    client.call(operation, **at, selector=selector, use_index=[index.design_id, index.name], limit=1)


def _ask_search(client: Client, at: dict[str, str], index: SearchIndex) -> None:
    operation = "post_partition_search" if index.partitioned else "post_search"
    client.call(operation, **at, ddoc=index.design_id, index=index.name, query="*:*", limit=1)


def _build_tasks(client: Client, pattern: AccessPattern) -> list[dict[str, Any]]:
    tasks = client.call("get_active_tasks")
    return [task for task in tasks if pattern.design_id in str(task.get("design_document", ""))]


def _build_progress(tasks: Iterable[dict[str, Any]]) -> str:
    shares = [task.get("progress", 0) for task in tasks]
    return f"{min(shares)}% built" if shares else ""


def _no_progress(line: str) -> None:
    """For who does not show progress."""
