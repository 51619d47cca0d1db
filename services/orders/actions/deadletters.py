"""Jobs that were given up: listed for admins, and sent again through the changes feed."""

from typing import Any

from services.orders.actions.shop import Shop
from services.orders.actions.sweeping import open_letters
from services.orders.documents import DEADLETTERS
from shared.clock import now, parse
from shared.couch import Doc, document_id
from shared.errors import NotFound

REST_SECONDS = 60


class NoSuchLetter(NotFound):
    code, title = "no_such_dead_letter", "There is no such dead letter"


def give_up(shop: Shop, job: str, subject: str, *, error: str, detail: str, passing: bool) -> None:
    """Keeps a job that failed for good. `passing`: something was away, so the sweep tries again by itself."""
    earlier = [doc for doc in shop.deadletters.all() if doc["type"] == "deadletter"]
    number = sum(1 for doc in earlier if (doc["job"], doc["subject"]) == (job, subject)) + 1
    shop.deadletters.add(job, subject, number, error=error, detail=detail[:500], passing=passing)


def list_letters(shop: Shop) -> list[dict[str, Any]]:
    """The open ones, oldest first. 1 partition query."""
    letters = sorted(open_letters(shop), key=lambda letter: letter["date"])
    return [_shown(letter) for letter in letters]


def retry(shop: Shop, letterid: str, by: str) -> dict[str, Any]:
    """Sends a dead letter's job again. Raises NoSuchLetter."""
    for letter in open_letters(shop):
        if letter["_id"] == document_id(DEADLETTERS, letterid):
            shop.deadletters.add_retry(letter, by)
            return _shown(letter)
    raise NoSuchLetter("No open dead letter has this id.")


def skipped_subjects(shop: Shop) -> frozenset[str]:
    """Subjects of dead letters that only an admin can help; those whose cause passes are sent again here."""
    kept = set()
    for letter in open_letters(shop):
        if not letter["passing"]:
            kept.add(letter["subject"])
        elif (now() - parse(letter["date"])).total_seconds() > REST_SECONDS:
            shop.deadletters.add_retry(letter, "sweep")
    return frozenset(kept)


def _shown(letter: Doc) -> dict[str, Any]:
    return {
        "id": letter["_id"].partition(":")[2], "job": letter["job"], "orderid": letter["subject"],
        "attempts": letter["number"], "error": letter["error"], "detail": letter["detail"], "date": letter["date"],
    }  # fmt: skip
