"""Customers from a file, and into one. An import makes accounts that are not there and changes none that is, so the same file
again changes nothing. It sends no e-mail.

An account is written behind what belongs to it, so one that is there is whole; what a crash has left behind without its
account is written again under the same ids. E-mails are claimed as at registration.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from services.users.actions.accounts import new_user
from services.users.actions.addresses import address_document, addresses_of
from services.users.actions.customers import NOTE_PREFIX
from services.users.actions.email_claims import claim_for_new_accounts, userids_for_new_accounts
from services.users.dependencies import Dependencies
from services.users.documents import (
    CUSTOMER_NOTE,
    PREFERENCE_FIELDS,
    PREFERENCES,
    USER,
    auth_id,
    claim_id,
    user_document,
)
from services.users.rules.accounts import is_live
from services.users.rules.customer_lines import PREFERRED, CustomerLine, customer_line
from shared.clock import timestamp
from shared.couch import Doc, Document
from shared.errors import AisleError, Invalid, Unavailable

log = logging.getLogger(__name__)

BATCH: Final = 100
MAX_FAILURES: Final = 1000
_LOCK_WAIT_SECONDS: Final = 12
_EXPORT_PAGE: Final = 1000
_FIRST: Final = "user"
_LAST: Final = "user\ufff0"
_IMPORTED: Final = "imported"
Line = tuple[int, Any]
"""A number, and what a line said or the error that made it unreadable."""


@dataclass
class Imported:
    """What became of the lines so far; `line` is the last one dealt with."""

    line: int = 0
    lines: int = 0
    created: int = 0
    unchanged: int = 0
    without_password: int = 0
    failures: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)

    def fail(self, line: int, error: AisleError) -> None:
        self.failures += 1
        if len(self.failed) < MAX_FAILURES:
            self.failed.append({"line": line, "code": error.code, "detail": error.detail})

    def summary(self) -> dict[str, int]:
        return {
            "lines": self.lines,
            "created": self.created,
            "updated": 0,
            "unchanged": self.unchanged,
            "without_password": self.without_password,
            "failures": self.failures,
        }

    def answer(self) -> dict[str, Any]:
        return {**self.summary(), "failed": sorted(self.failed, key=lambda each: each["line"])}


def import_customers(deps: Dependencies, lines: Iterable[Line], by: str) -> Iterator[Imported]:
    """Imports each line; yields the result so far after every batch, to show progress, and at the end.

    An error of the database ends it, and says from which line on to go on. `by` is who made the notes.
    """
    result = Imported()
    batch: dict[str, tuple[int, CustomerLine]] = {}
    try:
        for number, data in lines:
            result.lines += 1
            try:
                if isinstance(data, AisleError):
                    raise data
                line = customer_line(data)
            except Invalid as error:
                result.fail(number, error)
                continue
            if line.email in batch or len(batch) == BATCH:
                yield _written(deps, batch, by, result)
                batch = {}
            batch[line.email] = number, line
        yield _written(deps, batch, by, result)
    except AisleError as error:
        error.extra |= {"resume_from_line": result.line + 1, **result.summary()}
        raise


def export_customers(deps: Dependencies) -> Iterator[dict[str, Any]]:
    """Every open account as an import line takes it, without its password. A global query for each 1000 documents of people."""
    for _, docs in groupby(_people(deps), key=lambda doc: doc["_id"].partition(":")[0]):
        of_person = list(docs)
        for user in USER.among(of_person):
            if is_live(user):
                preferences: Doc = next(
                    (doc["values"] for doc in of_person if doc["type"] == PREFERENCES.name), {}
                )
                notes = sorted(CUSTOMER_NOTE.among(of_person), key=lambda note: (note["date"], note["_id"]))
                yield {
                    "email": user["email"],
                    "name": user["name"],
                    "group": user.get("group", ""),
                    "email_verified": user["email_verified"],
                    "created": user["created"],
                    **{name: PREFERENCE_FIELDS.shown(preferences)[name] for name in PREFERRED},
                    "addresses": addresses_of(of_person),
                    "notes": [note["text"] for note in notes],
                }


def _people(deps: Dependencies) -> Iterator[Doc]:
    """All documents of all people, those of one together."""
    start, end = _FIRST, _LAST
    while docs := deps.store.documents_between(start, end, _EXPORT_PAGE):
        yield from docs
        start = f"{docs[-1]['_id']}\0"


def _written(
    deps: Dependencies, batch: dict[str, tuple[int, CustomerLine]], by: str, result: Imported
) -> Imported:
    if not batch:
        return result
    with deps.locks.hold(
        *(f"register:{claim_id(email)}" for email in batch), wait=_LOCK_WAIT_SECONDS
    ) as acquired:
        if not acquired:
            raise Unavailable("Some of these e-mails are just being registered; try again.", retry_after=2)
        found = userids_for_new_accounts(deps, list(batch))
        fresh = {email: userid for email, (userid, is_taken) in found.items() if not is_taken}
        result.unchanged += len(batch) - len(fresh)
        for email, error in claim_for_new_accounts(deps, fresh).items():
            del fresh[email]
            result.fail(batch[email][0], error)
        if fresh:
            _create(deps, {email: (*batch[email], userid) for email, userid in fresh.items()}, by, result)
    result.line = max(number for number, _ in batch.values())
    log.info("import of customers: line %s, %s accounts made", result.line, result.created)
    return result


def _create(
    deps: Dependencies, fresh: dict[str, tuple[int, CustomerLine, str]], by: str, result: Imported
) -> None:
    """What belongs to the accounts, then these; what a read finds afterwards is what counts, as at registration."""
    belongings = [doc for _, line, userid in fresh.values() for doc in _belongings(line, userid, by)]
    refused = {row.id: row for row in deps.store.put_many(belongings)} if belongings else {}
    broken = {
        docid.partition(":")[0] for docid, row in refused.items() if row.error not in (None, "conflict")
    }
    accounts = {
        email: _account(line, userid)
        for email, (_, line, userid) in fresh.items()
        if auth_id(userid).partition(":")[0] not in broken
    }
    deps.store.put_many(accounts.values())
    stored = deps.store.get_many(
        [name for email, doc in accounts.items() for name in (doc["_id"], claim_id(email))]
    )
    for email, (number, line, userid) in fresh.items():
        account, claim = USER.typed(stored.get(auth_id(userid))), stored.get(claim_id(email))
        if account is None or claim is None or claim["userid"] != userid:
            result.fail(number, Unavailable("The database did not take it; import the line again."))
            continue
        result.created += 1
        result.without_password += not line.password_hash


def _account(line: CustomerLine, userid: str) -> Document:
    more: dict[str, Any] = {"email_verified": line.email_verified}
    if line.group:
        more["group"] = line.group
    if line.created:
        more["created"] = line.created
    if line.preferences.get("language"):
        more["language"] = line.preferences["language"]
    if line.email_verified:
        more["verified"] = timestamp()
    return new_user(userid, line.name, line.email, line.password_hash, **more)


def _belongings(line: CustomerLine, userid: str, by: str) -> Iterator[Document]:
    moment = timestamp()
    default = next((n for n, each in enumerate(line.addresses) if each["default"]), 0)
    for number, address in enumerate(line.addresses):
        key = f"{_IMPORTED}{number + 1:02}"
        yield address_document(userid, key, address, number == default)
    if line.preferences:
        yield PREFERENCES.new(
            user_document(userid, "preferences"), userid=userid, values=line.preferences, updated=moment
        )
    for number, text in enumerate(line.notes):
        docid = user_document(userid, f"{NOTE_PREFIX}{_IMPORTED}{number + 1:02}")
        yield CUSTOMER_NOTE.build(docid, userid=userid, text=text, by=by, date=moment)
