"""Archiving closed years from the desk: what may be archived and what has been, and the act that the worker does in pieces.

Staff begin an act by writing the year's document; the changes feed brings it to the worker, who does a piece and counts it there, which is the
next change. Whatever is killed, the pieces can be done again (`actions.archive`); what the queue loses `unfinished` finds.
"""

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from services.orders.actions import archive, reports
from services.orders.actions.archive import SHOWN, Outcome
from services.orders.actions.reading import any_order
from services.orders.archive_documents import ARCHIVE_YEAR, archive_year_key
from services.orders.declarations.archive import (
    DONE,
    FAILED,
    QUEUED,
    REMOVE,
    RESTORE,
    RUNNING,
    SAVE,
    UNDER_WAY,
    ArchiveYear,
)
from services.orders.dependencies import Dependencies
from services.orders.rules.archive import archived_of
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.periods import Span
from services.orders.store.archive_files import ArchiveFiles
from shared.clock import iso, now, timestamp
from shared.errors import AisleError, Conflict, NotFound
from shared.jobs import TRANSIENT_ERRORS

ORDERS_PER_FILE: Final = 500
PIECE_SECONDS: Final = 10.0
"""After so long a job ends with the file that it is at, and another goes on."""
LEASE_SECONDS: Final = 300.0
LOST_AFTER: Final = timedelta(seconds=60)
"""A piece takes seconds: an act that nothing was counted of for so long has lost its job."""


class NoArchive(Conflict):
    code, title = "no_archive", "This shop has no archive"


class ArchiveBusy(Conflict):
    code, title = "archive_busy", "Something is being done with this year already"


class NoSuchYear(NotFound):
    code, title = "no_such_year", "There is no such year to archive"


class NotCopied(Conflict):
    code, title = "archive_not_copied", "The archive is nowhere else yet"


class NotArchived(Conflict):
    code, title = "not_archived", "The archive of this year is not whole"


def overview(deps: Dependencies) -> dict[str, Any]:
    """{folder, writable, items}: each year that has ended with how many orders were paid in it, what its archive holds, and what was done last.
    1 global and 1 partition query."""
    acts = {each["year"]: each for each in deps.archive.years()}
    paid = _paid_orders(deps)
    closed = {year for year in {*acts, *paid, *_folders(deps)} if int(year) < _this_year()}
    years = [
        {"year": year, "paid_orders": paid.get(year, 0), **_shown(deps, year, acts.get(year))}
        for year in sorted(closed, reverse=True)
    ]
    return {"folder": deps.settings.archive_dir, "writable": _is_writable(deps), "items": years}


def begin(deps: Dependencies, year: str, act: str, actor: str, *, copied: bool) -> dict[str, Any]:
    """Has the worker do an act with a year. 2 calls. Raises NoSuchYear, NoArchive, ArchiveBusy, NotArchived, NotCopied."""
    _check_year(year)
    if not _is_writable(deps):
        raise NoArchive(
            "Set ARCHIVE_DIR to a folder that the orders service and the worker both can write to."
        )
    files = _files(deps, year)
    if act != SAVE and not (files.is_whole or (act == RESTORE and files.parts)):
        raise NotArchived(f"Write the archive of {year} first.")
    if act == REMOVE and not copied:
        raise NotCopied("Keep a copy of the folder elsewhere first, and say so.")
    known = deps.archive.year(year)
    if known is not None and known["state"] in UNDER_WAY:
        raise ArchiveBusy(f"The worker is at {year}: wait until it is done.")
    moment = timestamp()
    doc = ARCHIVE_YEAR.build(
        archive_year_key(year),
        year=year,
        act=act,
        state=QUEUED,
        by=actor,
        pieces=0,
        all_pieces=_all_pieces(act, files),
        orders=0,
        left={},
        left_count=0,
        removed=known["removed"] if known else 0,
        problem="",
        begun=moment,
        date=moment,
    )
    deps.archive.put_year({**doc, "_rev": known["_rev"]} if known else doc)
    return {"year": year, "paid_orders": None, **_shown(deps, year, doc)}


def advance(deps: Dependencies, year: str) -> None:
    """The job: a piece of what is to be done with this year, counted in its document. Nothing where another job is at it."""
    with deps.locks.hold(f"archive {year}", lease=LEASE_SECONDS) as acquired:
        doc = deps.archive.year(year) if acquired else None
        if doc is None or doc["state"] not in UNDER_WAY:
            return
        try:
            deps.archive.put_year(_PIECES[doc["act"]](deps, {**doc, "state": RUNNING, "date": timestamp()}))
        except TRANSIENT_ERRORS:
            raise
        except (AisleError, OSError) as error:
            problem = error.detail if isinstance(error, AisleError) else f"{error.strerror}: {error.filename}"
            deps.archive.put_year({**doc, "state": FAILED, "problem": problem, "date": timestamp()})


def unfinished(deps: Dependencies) -> list[str]:
    """The years whose job was lost. 1 partition query."""
    lost = iso(now() - LOST_AFTER)
    return [
        each["year"] for each in deps.archive.years() if each["state"] in UNDER_WAY and each["date"] < lost
    ]


def restore_order(deps: Dependencies, orderid: str) -> OrderDocuments:
    """Brings one archived order back at once; one that is there stays as it is. Raises NoSuchOrder, NoArchive, NotArchived."""
    archived = archived_of(deps.orders.order(orderid))
    if archived is None:
        return any_order(deps, orderid)
    folder = archived["file"].partition("/")[0]
    files = ArchiveFiles(Path(deps.settings.archive_dir) / folder)
    if not deps.settings.archive_dir or not files.parts:
        raise NoArchive(
            f"{archived['file']} is not among the archives of the desk: look for the folder {folder}."
        )
    outcome = Outcome()
    part = files.part_named(archived["file"].partition("/")[2])
    archive.restore_part(deps.archive, files, part, outcome, orderid)
    if outcome.left:
        raise NotArchived(f"It was not brought back: {outcome.left[orderid]}.")
    year = deps.archive.year(archived["placed"][:4])
    if year is not None and year["removed"] and year["state"] not in UNDER_WAY:
        deps.archive.put_year({**year, "removed": year["removed"] - 1})
    return any_order(deps, orderid)


def _save(deps: Dependencies, doc: ArchiveYear) -> ArchiveYear:
    files, ends = _files(deps, doc["year"]), time.monotonic() + PIECE_SECONDS
    outcome = archive.save(
        deps.archive,
        files,
        int(doc["year"]),
        now(),
        _say_nothing,
        orders=ORDERS_PER_FILE,
        is_enough=lambda: time.monotonic() > ends,
    )
    counted: ArchiveYear = {
        **_with_left(doc, outcome),
        "pieces": len(files.parts),
        "orders": files.orders,
    }
    return _ended(counted) if files.is_whole else counted


def _remove(deps: Dependencies, doc: ArchiveYear) -> ArchiveYear:
    """Every file is compared with its checksum before an order of the first one is removed."""
    files, ends = _files(deps, doc["year"]), time.monotonic() + PIECE_SECONDS
    parts = files.parts
    while doc["pieces"] < 2 * len(parts):
        part = parts[doc["pieces"] % len(parts)]
        if doc["pieces"] < len(parts):
            archive.verify_part(files, part)
            doc = _with_piece(doc, Outcome(), 0)
        else:
            outcome = Outcome()
            looked_at = archive.remove_part(deps.archive, files, part, now(), outcome)
            doc = _with_piece(doc, outcome, looked_at)
        if time.monotonic() > ends:
            break
    if doc["pieces"] < 2 * len(parts):
        return doc
    deps.archive.compact()
    return _ended({**doc, "removed": doc["orders"]})


def _restore(deps: Dependencies, doc: ArchiveYear) -> ArchiveYear:
    files, ends = _files(deps, doc["year"]), time.monotonic() + PIECE_SECONDS
    parts = files.parts
    while doc["pieces"] < len(parts):
        outcome = Outcome()
        doc = _with_piece(
            doc, outcome, archive.restore_part(deps.archive, files, parts[doc["pieces"]], outcome)
        )
        if time.monotonic() > ends:
            break
    return doc if doc["pieces"] < len(parts) else _ended({**doc, "removed": 0})


_PIECES: Final = {SAVE: _save, REMOVE: _remove, RESTORE: _restore}


def _with_piece(doc: ArchiveYear, outcome: Outcome, looked_at: int) -> ArchiveYear:
    """A piece done again counts the same: what is where it should be counts as done."""
    done = doc["orders"] + looked_at - len(outcome.left)
    return {**_with_left(doc, outcome), "pieces": doc["pieces"] + 1, "orders": done}


def _with_left(doc: ArchiveYear, outcome: Outcome) -> ArchiveYear:
    """The first SHOWN by name, all of them counted."""
    left = {**doc["left"], **dict(list(outcome.left.items())[: SHOWN - len(doc["left"])])}
    return {**doc, "left": left, "left_count": doc["left_count"] + len(outcome.left)}


def _ended(doc: ArchiveYear) -> ArchiveYear:
    return {**doc, "state": DONE, "all_pieces": doc["pieces"]}


def _all_pieces(act: str, files: ArchiveFiles) -> int:
    """0 of an archive that is still to be written."""
    return {SAVE: 0, REMOVE: 2 * len(files.parts), RESTORE: len(files.parts)}[act]


def _shown(deps: Dependencies, year: str, doc: ArchiveYear | None) -> dict[str, Any]:
    files = _files(deps, year) if deps.settings.archive_dir else None
    holds = files and files.parts
    names = (
        "act",
        "state",
        "by",
        "pieces",
        "all_pieces",
        "orders",
        "left",
        "left_count",
        "problem",
        "begun",
        "date",
    )
    return {
        "archive": {
            "orders": files.orders,
            "bytes": files.size,
            "files": len(files.parts),
            "whole": files.is_whole,
        }
        if files and holds
        else None,
        "removed": doc["removed"] if doc else 0,
        "last": {name: doc[name] for name in names} if doc else None,  # type: ignore[literal-required]  # names of its fields
    }


def _paid_orders(deps: Dependencies) -> Mapping[str, int]:
    """By year; those that are archived count, too."""
    counted: dict[str, int] = {}
    for row in reports.sales(deps, "year", Span(None, None))["rows"]:
        counted[row["period"]] = counted.get(row["period"], 0) + row["orders"]
    return counted


def _folders(deps: Dependencies) -> list[str]:
    if not deps.settings.archive_dir:
        return []
    found = Path(deps.settings.archive_dir).glob("orders-[0-9][0-9][0-9][0-9]/manifest.json")
    return [path.parent.name.removeprefix("orders-") for path in found]


def _files(deps: Dependencies, year: str) -> ArchiveFiles:
    return ArchiveFiles(Path(deps.settings.archive_dir) / f"orders-{year}")


def _is_writable(deps: Dependencies) -> bool:
    """Whether the folder is there for us, or can be made."""
    if not deps.settings.archive_dir:
        return False
    folder = Path(deps.settings.archive_dir)
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)


def _check_year(year: str) -> None:
    """Raises NoSuchYear."""
    if not (year.isdecimal() and len(year) == 4 and 1970 <= int(year) < _this_year()):
        raise NoSuchYear("Name a year that has ended, such as 2024.")


def _this_year() -> int:
    return datetime.now(UTC).year


def _say_nothing(_: str) -> None:
    """What is done is counted instead."""
