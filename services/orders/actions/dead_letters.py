"""Jobs that failed for good: listed for admins, and sent again through the changes feed."""

from typing import Any

from services.orders.actions.sweep import open_dead_letters
from services.orders.declarations.dead_letters import DEAD_LETTER_FIELDS, DeadLetter
from services.orders.dependencies import Dependencies
from services.orders.documents import DEADLETTERS
from shared.clock import now, parse
from shared.couch import document_id, split_id
from shared.errors import NotFound

RETRY_AFTER_SECONDS = 60


class NoSuchDeadLetter(NotFound):
    code, title = "no_such_dead_letter", "There is no such dead letter"


def add(deps: Dependencies, job: str, subject: str, *, error: str, detail: str, transient: bool) -> None:
    """Stores a job that failed for good. `transient`: something was unavailable, so the sweep tries again by itself."""
    dead_letters, _ = deps.dead_letters.all()
    number = sum(1 for doc in dead_letters if (doc["job"], doc["subject"]) == (job, subject)) + 1
    deps.dead_letters.add(job, subject, number, error=error, detail=detail[:500], transient=transient)


def list_dead_letters(deps: Dependencies) -> list[dict[str, Any]]:
    """The open ones, oldest first. 1 partition query."""
    ordered = sorted(open_dead_letters(deps), key=lambda each: each["date"])
    return [_shown(dead_letter) for dead_letter in ordered]


def retry(deps: Dependencies, dead_letter_id: str, actor: str) -> dict[str, Any]:
    """Sends a dead letter's job again. Raises NoSuchDeadLetter."""
    for dead_letter in open_dead_letters(deps):
        if dead_letter["_id"] == document_id(DEADLETTERS, dead_letter_id):
            deps.dead_letters.add_retry(dead_letter, actor)
            return _shown(dead_letter)
    raise NoSuchDeadLetter("No open dead letter has this id.")


def skipped_subjects(deps: Dependencies) -> frozenset[str]:
    """Subjects of dead letters that wait for an admin; the transient ones are sent again here."""
    skipped = set()
    for dead_letter in open_dead_letters(deps):
        if not dead_letter["passing"]:
            skipped.add(dead_letter["subject"])
        elif (now() - parse(dead_letter["date"])).total_seconds() > RETRY_AFTER_SECONDS:
            deps.dead_letters.add_retry(dead_letter, "sweep")
    return frozenset(skipped)


def _shown(dead_letter: DeadLetter) -> dict[str, Any]:
    return DEAD_LETTER_FIELDS.shown(dead_letter) | {
        "id": split_id(dead_letter["_id"])[1],
        "orderid": dead_letter["subject"],
        "attempts": dead_letter["number"],
    }
