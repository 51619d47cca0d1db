"""The audit trail: what staff did, to what, as documents that never change.

    audit{yyyy-mm}:{time-ordered id}     an act, written before it is done
    auditof{hash}:{the same id}          that an act is somebody's, or about something (`audit_pointers`)

Each service keeps its own acts in its own database; the users service merges the trails of all (GET /v1/admin/audit).
Because the entry is written first, nothing is done without one; an act that failed has a second entry, `{action}: failed`.
An act whose process was killed in the middle has its entry alone, whether it was finished or not.
Entries name people by userid, so that erasing somebody needs no change here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any, NotRequired

from shared.audit_pointers import pointed, pointers_to
from shared.clock import iso, now, parse
from shared.couch import (
    Database,
    DocumentType,
    StoredDocument,
    document_id,
    moment_of,
    split_id,
    time_ordered_id,
)
from shared.errors import Invalid
from shared.fields import Declaration, JsonObject, Moment, Text, TextList
from shared.request_id import request_id

FAILED = ": failed"
MAX_SUBJECTS = 500
MAX_MONTHS = 13
"""That one list looks through; each is a partition query."""
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


class AuditEntry(StoredDocument):
    """What a member of staff did, to whom or what."""

    actor: Annotated[str, Text(1, 64, writable=False, description="a userid")]
    action: Annotated[str, Text(1, 100, writable=False)]
    subject: Annotated[str, Text(0, 200, writable=False, description="what was changed, by its id")]
    subjects: NotRequired[
        Annotated[
            list[str],
            TextList(
                Text(1, 200),
                0,
                MAX_SUBJECTS,
                writable=False,
                default=(),
                show_default=False,
                description="of an act on several",
            ),
        ]
    ]
    details: Annotated[dict[str, Any], JsonObject(writable=False)]
    date: Annotated[str, Moment(writable=False)]
    request: NotRequired[
        Annotated[
            str,
            Text(
                0,
                200,
                writable=False,
                default="",
                show_default=False,
                description="the X-Request-ID, as in the logs",
            ),
        ]
    ]


AUDIT = DocumentType.declared("audit", AuditEntry)
AUDIT_FIELDS = Declaration(AuditEntry)


@dataclass(frozen=True)
class Act:
    """What somebody is about to do."""

    actor: str
    action: str
    subject: str
    details: dict[str, Any]
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuditQuery:
    """Entries in [since, until), of an actor or about a subject where these are given."""

    since: datetime
    until: datetime
    actor: str = ""
    subject: str = ""

    @property
    def bounds(self) -> tuple[str, str]:
        """The first key that belongs to it and the first that does not."""
        return _key_at(self.since), _key_at(self.until)

    @property
    def months(self) -> Iterator[str]:
        """The latest first."""
        first, month = _month_of(self.since), self.until.astimezone(UTC) - timedelta(milliseconds=1)
        while _month_of(month) >= first:
            yield _month_of(month)
            month = month.replace(day=1) - timedelta(days=1)


class AuditTrail:
    """The entries of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, act: Act) -> None:
        """Adds an entry that nobody changes, and what it is found by. 1 write of 2 documents and 1 for each subject; whatever of them a
        killed process leaves is of an act that was not begun."""
        moment, request = now(), request_id()
        docid = document_id(audit_partition(_month_of(moment)), time_ordered_id(moment))
        entry = AUDIT.build(
            docid,
            actor=act.actor,
            action=act.action,
            subject=act.subject,
            details=act.details,
            date=iso(moment),
            **({"subjects": list(act.subjects)} if act.subjects else {}),
            **({"request": request} if request else {}),
        )
        self._database.add_many([entry, *pointers_to(entry)])

    def write_failure(self, act: Act, code: str) -> None:
        self.write(replace(act, action=f"{act.action}{FAILED}", details={"code": code}))

    def entries(self, query: AuditQuery, limit: int, before: str | None) -> list[dict[str, Any]]:
        """The newest first, each with its `id`; `before` is the id that they are older than.

        1 partition query for each month that is looked into. For an actor or a subject 1 partition query and 1 read, whatever the
        time; for both as many as the subject's acts by others fill pages.
        """
        first, end = query.bounds
        end = min(end, before or end)
        if end <= first:
            return []
        ask = self._selected if query.actor or query.subject else self._all
        found = (doc for doc in ask(query, limit + 1, end) if first <= _key_of(doc) < end)
        return [{"id": _key_of(doc), **AUDIT_FIELDS.shown(doc)} for doc in islice(found, limit)]

    def _selected(self, query: AuditQuery, limit: int, end: str) -> Iterator[AuditEntry]:
        """By pointers: an entry's id follows from its pointer's key, which begins with its time."""
        span = query.bounds[0], end
        for keys in pointed(self._database, query.actor, query.subject, span, limit):
            ids = [_entry_id(key) for key in keys]
            found = self._database.get_many(ids)
            yield from AUDIT.among(found[docid] for docid in ids if docid in found)

    def _all(self, query: AuditQuery, limit: int, end: str) -> Iterator[AuditEntry]:
        """Month by month, as far as they are taken; no more than the MAX_MONTHS that `parse_span` lets anybody ask for."""
        for month in islice(query.months, MAX_MONTHS):
            name = audit_partition(month)
            docs = self._database.partition(name).all(
                descending=True, limit=limit, begin_at=document_id(name, end)
            )
            yield from AUDIT.among(docs)


def _key_of(entry: AuditEntry) -> str:
    return split_id(entry["_id"])[1]


def _entry_id(key: str) -> str:
    return document_id(audit_partition(_month_of(moment_of(key))), key)


def audit_partition(month: str) -> str:
    """`month` as 2026-11: one partition for each month."""
    return f"audit{month}"


def milliseconds(moment: datetime) -> int:
    """Since 1970, as services say it to each other."""
    return int(moment.timestamp() * 1000)


def from_milliseconds(number: int) -> datetime:
    return datetime.fromtimestamp(number / 1000, UTC)


def parse_span(
    since: str | None, until: str | None, month: str | None = None, *, any_time: bool = False
) -> tuple[datetime, datetime]:
    """From the texts of a request: a month, or what is between two times. Raises Invalid.

    A span ends now and begins with the month that it ends in, with `any_time` whenever, unless they say otherwise.
    """
    if month:
        begin = parse(f"{month}-01")
        return begin, _first_of_next_month(begin)
    end = parse(until) if until else now() + timedelta(seconds=1)
    last = end - timedelta(milliseconds=1)
    begin = parse(since) if since else BEGINNING if any_time else _first_of_month(last)
    if begin >= end:
        raise Invalid("The span ends before it begins.", errors={"from": ["Must be before `to`."]})
    if not any_time and (last.year - begin.year) * 12 + last.month - begin.month >= MAX_MONTHS:
        raise Invalid(
            "The span is too long.",
            errors={"from": [f"At most {MAX_MONTHS} months, unless for an actor or a subject."]},
        )
    return begin, end


def _first_of_month(moment: datetime) -> datetime:
    return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _first_of_next_month(month: datetime) -> datetime:
    return _first_of_month(_first_of_month(month) + timedelta(days=32))


def _key_at(moment: datetime) -> str:
    """What all keys from this moment on follow: keys begin with their time."""
    return time_ordered_id(moment)[:10]


def _month_of(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m}"
