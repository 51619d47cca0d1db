"""The pictures that products name: they have to be there before."""

from collections.abc import Mapping
from typing import Any

from services.products.dependencies import Dependencies
from services.products.rules.pictures import pictures_of
from services.products.rules.product import BadProduct
from shared.couch import Doc


def check_named(deps: Dependencies, content: Doc, before: Mapping[str, Any] | None = None) -> None:
    """1 read when it names pictures that `before`, the product as it is, does not. Raises BadProduct."""
    if named := newly_named(content, before):
        refuse_missing(content, before, deps.pictures.missing(named))


def newly_named(content: Doc, before: Mapping[str, Any] | None) -> set[str]:
    """The pictures that a client names and the product did not have."""
    had = {each["id"] for each in pictures_of(before)} if before else set()
    return {each["id"] for each in content["pictures"] or ()} - had


def refuse_missing(content: Doc, before: Mapping[str, Any] | None, missing: set[str]) -> None:
    """Raises BadProduct for a new picture that is among the `missing` ones."""
    if unknown := sorted(newly_named(content, before) & missing):
        words = f"There is no picture {unknown[0]}: POST /v1/pictures stores one and answers its id."
        raise BadProduct(f"pictures: {words}", errors={"pictures": [words]})
