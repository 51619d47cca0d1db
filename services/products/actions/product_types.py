"""Product types: add, replace, list."""

from typing import Any

from services.products.dependencies import Dependencies
from services.products.product_types import (
    MAX_TYPES,
    PRODUCT_TYPE,
    PRODUCT_TYPE_FIELDS,
    ProductType,
    product_type_id,
)
from services.products.rules.attributes import contradictions
from shared.cache_tags import SHOP
from shared.couch import UpdateConflict
from shared.errors import Conflict, Invalid, NotFound


class NoSuchType(NotFound):
    code, title = "no_such_product_type", "No such product type"


class TypeExists(Conflict):
    code, title = "product_type_exists", "There is a product type with this code"


class TooManyTypes(Conflict):
    code, title = "too_many_product_types", "There are too many product types"


def all_types(deps: Dependencies) -> list[ProductType]:
    """Every type, by code. 1 partition query."""
    return deps.product_type_documents.all()


def get(deps: Dependencies, code: str) -> ProductType:
    """1 read. Raises NoSuchType."""
    doc = deps.product_type_documents.get(code)
    if doc is None:
        raise NoSuchType(f"There is no product type {code}.")
    return doc


def add(deps: Dependencies, content: dict[str, Any], date: str, *, repeatable: bool) -> ProductType:
    """A `repeatable` request may have written it before, when its answer was lost. Raises Invalid, TypeExists, TooManyTypes."""
    _check(content)
    there = all_types(deps)
    if len(there) >= MAX_TYPES and all(doc["code"] != content["code"] for doc in there):
        raise TooManyTypes(f"There may be {MAX_TYPES} product types.")
    try:
        return _write(deps, content, date, None)
    except UpdateConflict:
        known = deps.product_type_documents.get(content["code"])
        if repeatable and known and PRODUCT_TYPE_FIELDS.are_stored_in(known, content):
            return _announce(deps, known)
        raise TypeExists(f"There is a product type {content['code']} already; PUT replaces it.") from None


def replace(deps: Dependencies, before: ProductType, content: dict[str, Any], date: str) -> ProductType:
    """New content over `before`. Products keep what they have; it is checked when they are written again.

    Raises Invalid, and UpdateConflict when somebody else was quicker.
    """
    if content["code"] != before["code"]:
        raise Invalid(
            "The code cannot change.", errors={"code": [f"Must be {before['code']}, as in the path."]}
        )
    _check(content)
    if content["translations"] is None:
        content = content | {"translations": before.get("translations")}
    return _write(deps, content, date, before["_rev"])


def _check(content: dict[str, Any]) -> None:
    if wrong := list(contradictions(content)):
        raise Invalid(" ".join(wrong), errors={"attributes": wrong})


def _write(deps: Dependencies, content: dict[str, Any], date: str, rev: str | None) -> ProductType:
    doc = PRODUCT_TYPE.build(
        product_type_id(content["code"]), edited=date, **PRODUCT_TYPE_FIELDS.stored(content)
    )
    if rev:
        doc["_rev"] = rev
    return _announce(deps, deps.product_type_documents.put(doc))


def _announce(deps: Dependencies, doc: ProductType) -> ProductType:
    """After it was written: every process hears of it."""
    deps.product_types.changed(doc)
    deps.cache_tags.invalidate([SHOP])
    return doc
