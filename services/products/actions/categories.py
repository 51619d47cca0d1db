"""What the shop says of its categories: list, write, remove, import."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from services.products.category_documents import (
    CATEGORY,
    CATEGORY_FIELDS,
    MAX_CATEGORIES,
    Category,
    category_id,
)
from services.products.dependencies import Dependencies
from services.products.rules.categories import comes_back
from shared.cache_tags import CATALOGUE
from shared.couch import Doc, UpdateConflict
from shared.errors import AisleError, Conflict, Invalid, NotFound


class NoSuchCategory(NotFound):
    code, title = "no_such_category", "Nothing is said of this category"


class CategoryExists(Conflict):
    code, title = "category_exists", "Something is said of this category already"


class TooManyCategories(Conflict):
    code, title = "too_many_categories", "There are too many categories"


class BadCategory(Invalid):
    code, title = "invalid_category", "Some fields of the category are wrong"


@dataclass
class Imported:
    """What became of the lines of an import."""

    written: int = 0
    unchanged: int = 0
    failed: list[Doc] = field(default_factory=list)

    def fail(self, line: int, error: AisleError) -> None:
        self.failed.append({"line": line, "code": error.code, "detail": error.detail})


def all_categories(deps: Dependencies) -> list[Category]:
    """Every category of which something is said, by path. 1 partition query."""
    return deps.category_documents.all()


def get(deps: Dependencies, path: str) -> Category:
    """1 read. Raises NoSuchCategory."""
    doc = deps.category_documents.get(path)
    if doc is None:
        raise NoSuchCategory(f"Nothing is said of {path!r}.")
    return doc


def put(deps: Dependencies, content: Doc, before: Category | None, *, actor: str, date: str) -> Category:
    """New content, over `before`. Raises BadCategory, CategoryExists, TooManyCategories, UpdateConflict."""
    known = {doc["path"]: doc for doc in all_categories(deps)}
    if before is None and len(known) >= MAX_CATEGORIES:
        raise TooManyCategories(f"There may be {MAX_CATEGORIES} categories with a document.")
    _check_move(known, content)
    content = _with_unsaid(content, before)
    try:
        written = deps.category_documents.put(_document(content, before, actor, date))
    except UpdateConflict:
        if before is None:
            raise CategoryExists("Somebody else wrote it just now: read it again.") from None
        raise
    _changed(deps, written)
    return written


def remove(deps: Dependencies, doc: Category) -> None:
    """The category is shown by its name again. Raises UpdateConflict."""
    deps.category_documents.delete(doc)
    _changed(deps)


def import_lines(deps: Dependencies, lines: Iterable[tuple[int, Any]], *, actor: str, date: str) -> Imported:
    """Writes each line's category over the one that is there. 1 partition query, 1 write for all."""
    outcome, known = Imported(), {doc["path"]: doc for doc in all_categories(deps)}
    wanted: dict[str, tuple[int, Category]] = {}
    for number, data in lines:
        try:
            content = _checked(data)
            path = content["path"]
            if path not in known and len(known) >= MAX_CATEGORIES:
                raise TooManyCategories(f"There may be {MAX_CATEGORIES} categories with a document.")
            _check_move(known, content)
        except AisleError as error:
            outcome.fail(number, error)
            continue
        before = known.get(path)
        content = _with_unsaid(content, before)
        if before is not None and CATEGORY_FIELDS.content(before) == content:
            outcome.unchanged += 1
            continue
        known[path] = _document(content, before, actor, date)
        wanted[path] = number, known[path]
    _write_all(deps, list(wanted.values()), outcome)
    return outcome


def _write_all(deps: Dependencies, wanted: list[tuple[int, Category]], outcome: Imported) -> None:
    if not wanted:
        return
    for (number, doc), row in zip(
        wanted, deps.category_documents.put_many([doc for _, doc in wanted]), strict=True
    ):
        if row.error:
            outcome.fail(number, Conflict(f"{doc['path']} changed just now: send the line again."))
        else:
            outcome.written += 1
    _changed(deps)


def _checked(data: Any) -> Doc:
    """Raises BadCategory."""
    if isinstance(data, AisleError):
        raise data
    if not isinstance(data, dict):
        raise BadCategory("A category is a JSON object.", errors={"_schema": ["Not an object."]})
    content, errors = CATEGORY_FIELDS.check(data)
    if errors:
        summary = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in sorted(errors.items()))
        raise BadCategory(summary, errors=errors)
    return content


def _with_unsaid(content: Doc, before: Category | None) -> Doc:
    """What an older client does not know, it does not undo."""
    if content["translations"] is not None or before is None:
        return content
    return content | {"translations": before.get("translations")}


def _check_move(known: dict[str, Category], content: Doc) -> None:
    """A move that leads back would send browsers round and round. Raises BadCategory."""
    moves = {path: doc["moved_to"] for path, doc in known.items() if doc.get("moved_to")}
    if content["moved_to"] and comes_back(moves, content["path"], content["moved_to"]):
        words = "Leads back to this category."
        raise BadCategory(words, errors={"moved_to": [words]})


def _document(content: Doc, before: Category | None, actor: str, date: str) -> Category:
    doc = CATEGORY.build(
        category_id(content["path"]), edited=date, edited_by=actor, **CATEGORY_FIELDS.stored(content)
    )
    if before is not None and "_rev" in before:
        doc["_rev"] = before["_rev"]
    return doc


def _changed(deps: Dependencies, written: Category | None = None) -> None:
    """Menus are counted anew, and every page shows one."""
    deps.categories.changed(written)
    deps.cache_tags.invalidate([CATALOGUE])
