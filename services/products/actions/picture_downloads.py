"""Pictures that an import names by their address: fetched once, and kept as if they had been uploaded."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from services.products.actions import importing, pictures
from services.products.actions.importing import Edit, Outcome, ProductLine
from services.products.clients.picture_downloads import NotFetched
from services.products.dependencies import Dependencies
from services.products.rules.pictures import address as address_here
from shared.errors import AisleError

AT_ONCE = 8


def write_with_pictures(deps: Dependencies, batch: list[ProductLine], edit: Edit, outcome: Outcome) -> None:
    """Fetches the pictures of the lines, then writes these. What cannot be fetched is noted, and shown from where it is."""
    asked: dict[str, int] = {}
    for line in batch:
        for address in _addresses(line):
            asked.setdefault(address, line.number)
    digests = deps.pictures.fetched_before(asked) if asked else {}
    missing = [address for address in asked if address not in digests]
    fresh = _fetch(deps, missing, edit.date, {address: asked[address] for address in missing}, outcome)
    if fresh:
        deps.pictures.remember_fetched(fresh, edit.date)
    known = digests | fresh
    importing.write(deps, [_with_pictures(line, known) for line in batch], edit, outcome)


def _fetch(
    deps: Dependencies, addresses: list[str], date: str, lines: Mapping[str, int], outcome: Outcome
) -> dict[str, str]:
    """{address: id of the picture}, AT_ONCE at a time, so that no more of them are in memory."""
    kept: dict[str, str] = {}
    with ThreadPoolExecutor(AT_ONCE, "picture-downloads") as executor:
        for first in range(0, len(addresses), AT_ONCE):
            some = addresses[first : first + AT_ONCE]
            for address, content in zip(some, executor.map(deps.picture_downloads.fetch, some), strict=True):
                try:
                    if isinstance(content, NotFetched):
                        raise content
                    kept[address] = pictures.keep(deps, content, deps.settings.picture_bytes, date)["id"]
                except AisleError as error:
                    outcome.note(lines[address], "picture_not_fetched", f"{address}: {error.detail}")
    return kept


def _addresses(line: ProductLine) -> Iterable[str]:
    yield from (each.address for each in line.pictures)
    for variant in line.content["variants"]:
        if variant.get("picture", "").startswith("http"):
            yield variant["picture"]


def _with_pictures(line: ProductLine, known: Mapping[str, str]) -> ProductLine:
    """The line with the pictures that are here; the first one's address where none is."""
    content: dict[str, Any] = dict(line.content)
    kept = {known[each.address]: each.alt for each in reversed(line.pictures) if each.address in known}
    if kept:
        content["pictures"] = [{"id": digest, "alt": alt} for digest, alt in reversed(kept.items())]
    elif line.pictures:
        content["image"] = line.pictures[0].address
    content["variants"] = [
        variant | {"picture": address_here(known[variant["picture"]])}
        if variant.get("picture") in known
        else variant
        for variant in content["variants"]
    ]
    return replace(line, product=line.product._replace(content=content))
