"""The categories that a customer keeps: one document each; devices sync the products of each from the products service."""

from collections.abc import Iterable, Mapping
from typing import Any

from services.users.declarations.kept import (
    KEPT_CATEGORY,
    KEPT_CATEGORY_FIELDS,
    KEPT_PREFIX,
    KeptCategory,
    kept_key,
)
from services.users.dependencies import Dependencies
from services.users.documents import user_document
from services.users.rules.accounts import MAX_KEPT_CATEGORIES
from shared.clock import timestamp
from shared.couch import NoSuchDocument, UpdateConflict
from shared.errors import Conflict, Invalid


class NoSuchCategory(Invalid):
    code, title = "no_such_category", "There is no such category"


class TooManyKept(Conflict):
    code, title = "too_many_kept", "No more categories can be kept"


def kept(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """By name. 1 partition query."""
    docs = KEPT_CATEGORY.among(deps.store.documents_with_prefix(userid, KEPT_PREFIX))
    return [kept_answer(doc) for doc in sorted(docs, key=lambda doc: doc["category"])]


def keep(deps: Dependencies, userid: str, content: dict[str, Any]) -> dict[str, Any]:
    """Keeps a category, or changes whether those below it are kept too; again it changes nothing.

    1 partition query and 1 write; the category is asked for at products. Raises NoSuchCategory, TooManyKept, Unavailable.
    """
    present = KEPT_CATEGORY.among(deps.store.documents_with_prefix(userid, KEPT_PREFIX))
    docid = user_document(userid, KEPT_PREFIX + kept_key(content["category"]))
    before = next((doc for doc in present if doc["_id"] == docid), None)
    if before is None:
        check_kept(len(present), is_known=deps.products.has_category(content["category"]))
    doc = kept_document(userid, content, before)
    if doc is not before and not deps.store.try_put(doc):
        raise UpdateConflict("It changed just now; try again.")
    return kept_answer(doc)


def stop_keeping(deps: Dependencies, userid: str, key: str) -> None:
    """Nothing happens when it is not kept. 1 read and 1 write."""
    doc = deps.store.of_user(userid, KEPT_PREFIX + key)
    if doc is not None:
        try:
            deps.store.delete(doc)
        except (NoSuchDocument, UpdateConflict):
            stop_keeping(deps, userid, key)


def check_kept(present: int, *, is_known: bool) -> None:
    """Whether one more may be kept. Raises NoSuchCategory, TooManyKept."""
    if not is_known:
        raise NoSuchCategory(
            "The shop has no such category (any more).", errors={"category": ["No category of the shop."]}
        )
    if present >= MAX_KEPT_CATEGORIES:
        raise TooManyKept(f"At most {MAX_KEPT_CATEGORIES} categories are kept; remove one first.")


def kept_document(userid: str, content: dict[str, Any], before: KeptCategory | None) -> KeptCategory:
    """As it is written; the same when nothing changes."""
    if before is not None and before["subtree"] == content["subtree"]:
        return before
    moment = timestamp()
    doc = KEPT_CATEGORY.build(
        user_document(userid, KEPT_PREFIX + kept_key(content["category"])),
        userid=userid,
        **content,
        added=before["added"] if before else moment,
        updated=moment,
    )
    return {**doc, "_rev": before["_rev"]} if before else doc


def kept_answer(doc: KeptCategory) -> dict[str, Any]:
    return {"id": kept_key(doc["category"]), **KEPT_CATEGORY_FIELDS.shown(doc)}


def named_categories(docs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Which categories pushed documents name, as many as may be kept."""
    named = [doc.get("category") for doc in docs if doc.get("type") == KEPT_CATEGORY.name]
    known = {each for each in named if isinstance(each, str) and 1 <= len(each) <= 1000}
    return sorted(known)[:MAX_KEPT_CATEGORIES]
