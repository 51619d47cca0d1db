"""Customers as the desk sees them: the list with its search, one customer, and what staff note."""

from typing import Any, Final

from services.users.actions.addresses import addresses_of
from services.users.actions.profile import account_answer
from services.users.declarations.accounts import Account
from services.users.declarations.customers import CustomerNote
from services.users.dependencies import Dependencies
from services.users.documents import CUSTOMER_NOTE, PREFERENCE_FIELDS, PREFERENCES, USER, user_document
from services.users.rules.customer_search import search_key
from services.users.rules.errors import NoSuchUser
from shared.clock import timestamp
from shared.couch import Doc, Page, time_ordered_id
from shared.staff_notes import STAFF_NOTE_FIELDS

NOTE_PREFIX: Final = "note-"


def list_customers(deps: Dependencies, q: str, group: str, limit: int, after: list[str] | None) -> Page:
    """Accounts that are not erased, newest first, always a full page while there is one. 1 global query."""
    text = search_key(q)
    if q.strip() and not text:
        return Page([], None)
    page = deps.store.customers(group, text, limit=limit, after=after)
    return Page([account_answer(user) for user in page.items], page.next)


def customer(deps: Dependencies, userid: str) -> dict[str, Any]:
    """Everything that the desk shows of a customer, without secrets; of an erased one that it was. 1 partition query. Raises NoSuchUser."""
    docs = documents_of(deps, userid)
    user = USER.among(docs)[0]
    preferences: Doc = next((doc["values"] for doc in docs if doc["type"] == PREFERENCES.name), {})
    return {
        **account_answer(user),
        **_moments(user),
        "language": user.get("language", ""),
        "erased": bool(user.get("erasure")),
        "addresses": addresses_of(docs),
        "preferences": PREFERENCE_FIELDS.shown(preferences),
        "notes": _notes_among(docs),
    }


def documents_of(deps: Dependencies, userid: str) -> list[Doc]:
    """Of an account that there is or was. 1 partition query. Raises NoSuchUser."""
    docs = deps.store.documents_of_account(userid)
    if not USER.among(docs):
        raise NoSuchUser("There is no such account.")
    return docs


def add_note(deps: Dependencies, userid: str, text: str, actor: str, id: str | None) -> dict[str, Any]:
    """One note more; the same `id` again changes nothing. Raises NoSuchUser, also for an erased account."""
    user = deps.store.user(userid)
    if user is None or user.get("erasure"):
        raise NoSuchUser("There is no such account.")
    note = CUSTOMER_NOTE.build(
        user_document(userid, f"{NOTE_PREFIX}{id or time_ordered_id()}"),
        userid=userid,
        text=text,
        by=actor,
        date=timestamp(),
    )
    if not deps.store.try_put(note):
        known = CUSTOMER_NOTE.typed(deps.store.get(note["_id"]))
        if known is None:
            raise NoSuchUser("There is no such account.")
        note = known
    return _note_answer(note)


def notes_of(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """The latest first. 1 partition query. Raises NoSuchUser."""
    return _notes_among(documents_of(deps, userid))


def _notes_among(docs: list[Doc]) -> list[dict[str, Any]]:
    notes = sorted(CUSTOMER_NOTE.among(docs), key=lambda note: (note["date"], note["_id"]), reverse=True)
    return [_note_answer(note) for note in notes]


def _note_answer(note: CustomerNote) -> dict[str, Any]:
    return {"id": note["_id"].partition(f":{NOTE_PREFIX}")[2], **STAFF_NOTE_FIELDS.shown(note)}


def _moments(user: Account) -> dict[str, str | None]:
    """When it was confirmed, closed and erased; None for what has not happened, or happened before such times were kept."""
    erased, is_closed = bool(user.get("erasure")), not user["active"]
    return {
        "verified": user.get("verified") if user["email_verified"] else None,
        "closed": user.get("roles_changed") if is_closed and not erased else None,
        "erased_at": user["updated"] if erased else None,
    }
