"""What admins do to the rules of search: list, write and remove synonyms, redirects and pinned products."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from services.products.dependencies import Dependencies
from services.products.documents import taxonomy_of
from services.products.rules.search_rules import rule_query
from services.products.search_documents import (
    HIDDEN_QUERY,
    HIDDEN_QUERY_FIELDS,
    MAX_RULE_QUERY,
    MAX_RULES,
    PIN,
    PIN_FIELDS,
    REDIRECT,
    REDIRECT_FIELDS,
    REMOVED,
    SEARCH_RULE_CHANGE,
    SYNONYM,
    SYNONYM_FIELDS,
    WRITTEN,
    new_change_id,
    rule_id,
)
from shared.cache_tags import SHOP
from shared.couch import Doc, DocumentType, UpdateConflict
from shared.errors import Conflict, Invalid, NotFound
from shared.fields import Declaration

_TRIES = 5


class NoSuchRule(NotFound):
    code, title = "no_such_rule", "No such rule"


class TooManyRules(Conflict):
    code, title = "too_many_rules", "There are too many rules of this kind"


@dataclass(frozen=True)
class RuleKind:
    """`complete` checks what no field alone can, and returns the content as the document holds it."""

    name: str
    type: DocumentType
    fields: Declaration
    complete: Callable[[Dependencies, str, Doc], Doc]


def rules(deps: Dependencies, kind: RuleKind) -> list[Doc]:
    """All of a kind, by query. 1 partition query."""
    return deps.rule_documents.all(kind.name)


def find(deps: Dependencies, kind: RuleKind, text: str) -> Doc | None:
    """1 read."""
    query = rule_query(text)
    return deps.rule_documents.get(kind.name, query) if _may_have_a_rule(query) else None


def get(deps: Dependencies, kind: RuleKind, text: str) -> Doc:
    """Raises NoSuchRule."""
    if (doc := find(deps, kind, text)) is None:
        raise NoSuchRule(f"There is no {kind.name} for {text!r}.")
    return doc


def put(
    deps: Dependencies,
    kind: RuleKind,
    text: str,
    content: dict[str, Any],
    before: Doc | None,
    *,
    only_before: bool,
    actor: str,
    date: str,
) -> Doc:
    """Writes a rule over `before`; `only_before`: over nothing else. Raises UpdateConflict, TooManyRules, Invalid."""
    query = _query(text)
    complete = kind.complete(deps, query, content)
    if before is None and len(rules(deps, kind)) >= MAX_RULES:
        raise TooManyRules(f"There may be {MAX_RULES} of a kind: remove some first.")
    for _ in range(_TRIES):
        doc = kind.type.new(
            rule_id(kind.name, query),
            query=query,
            edited=date,
            edited_by=actor,
            **kind.fields.stored(complete),
        )
        try:
            change = _change(kind.name, doc, WRITTEN, kind.fields.content(doc), actor, date)
            written = deps.rule_documents.put(doc | ({"_rev": before["_rev"]} if before else {}), change)
        except UpdateConflict:
            if only_before:
                raise
            before = find(deps, kind, query)
            continue
        _changed(deps, written)
        return written
    raise Conflict("This rule is changing too often just now; try again.")


def remove(deps: Dependencies, kind: RuleKind, doc: Doc, *, actor: str, date: str) -> None:
    """Raises UpdateConflict when it changed since it was read."""
    deps.rule_documents.delete(doc, _change(kind.name, doc, REMOVED, kind.fields.content(doc), actor, date))
    _changed(deps)


def history(deps: Dependencies, limit: int, begin_at: str | None) -> tuple[list[Doc], str | None]:
    """What was changed in any rule, the last first, and the id with which the next page begins. 1 partition query."""
    docs = deps.rule_documents.history(limit + 1, begin_at)
    return docs[:limit], docs[limit]["_id"] if len(docs) > limit else None


def _change(kind: str, rule: Doc, action: str, content: Doc, actor: str, date: str) -> Doc:
    content = {
        name: value
        for name, value in content.items()
        if name != "query" and value not in ("", [], None, False)
    }
    return SEARCH_RULE_CHANGE.new(
        new_change_id(),
        kind=kind,
        query=rule["query"],
        action=action,
        content=content,
        date=date,
        actor=actor,
    )


def _changed(deps: Dependencies, written: Doc | None = None) -> None:
    deps.search_rules.changed(written)
    deps.cache_tags.invalidate([SHOP])


def _query(text: str) -> str:
    query = rule_query(text)
    if not _may_have_a_rule(query):
        raise Invalid(
            "A rule is about the words of a query.",
            errors={"query": [f"Must have a word, and at most {MAX_RULE_QUERY} characters."]},
        )
    return query


def _may_have_a_rule(query: str) -> bool:
    return 1 <= len(query) <= MAX_RULE_QUERY


def _synonyms(deps: Dependencies, query: str, content: Doc) -> Doc:
    found = list(dict.fromkeys(rule_query(text) for text in content["synonyms"]))
    if not all(found):
        raise _invalid("synonyms", "Each must have a word: letters or digits.")
    if not (others := [text for text in found if text != query]):
        raise _invalid("synonyms", f"Name another word than {query!r} itself.")
    return content | {"synonyms": others}


def _redirect(deps: Dependencies, query: str, content: Doc) -> Doc:
    category, address = content["category"], content["address"]
    if bool(category) == bool(address):
        raise _invalid("category", "Give either a category or an address.")
    if address.partition("?")[0].rstrip("/") == "/search":
        raise _invalid("address", "A search cannot lead to another search: make a synonym instead.")
    if category:
        levels = taxonomy_of(category)
        if not all(levels) or not deps.catalogue.categories(levels, 0):
            raise _invalid("category", "There is no such category: write its levels joined by #.")
    return content


def _pin(deps: Dependencies, query: str, content: Doc) -> Doc:
    productids = list(dict.fromkeys(content["productids"]))
    found = deps.catalogue.all_by_productid(productids)
    if missing := [each for each in productids if each not in found]:
        raise _invalid("productids", f"There is no product {', '.join(missing)}.")
    return {"productids": productids, "places": [found[each]["_id"] for each in productids]}


def _invalid(field: str, message: str) -> Invalid:
    return Invalid("Some fields are not right; see errors.", errors={field: [message]})


SYNONYMS: Final = RuleKind("synonym", SYNONYM, SYNONYM_FIELDS, _synonyms)
REDIRECTS: Final = RuleKind("redirect", REDIRECT, REDIRECT_FIELDS, _redirect)
PINS: Final = RuleKind("pin", PIN, PIN_FIELDS, _pin)
HIDDEN_QUERIES: Final = RuleKind(
    "hidden", HIDDEN_QUERY, HIDDEN_QUERY_FIELDS, lambda deps, query, content: content
)
