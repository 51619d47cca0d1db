"""Reads the query string of the product list by hand: it is the shop's hottest path, and a schema costs more than the query."""

import re
import unicodedata
from functools import lru_cache
from typing import Any

from flask import request
from werkzeug.datastructures import MultiDict

from services.products.actions.question import Question
from services.products.declarations.limits import MAX_PRICE
from services.products.documents import taxonomy_of
from services.products.rules.facets import FACET_FIELDS, is_facet, is_pair
from services.products.rules.searching import SORTS
from shared.errors import Invalid
from shared.language_codes import LANGUAGE, LANGUAGE_MESSAGE
from shared.money import CURRENCIES
from shared.web import unsign

MAX_QUERY, MAX_CHOICES, MAX_LIMIT, MAX_FACETS = 200, 20, 100, 500
MAX_CACHED_QUERY = 500
_LANGUAGE = re.compile(LANGUAGE)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_FLAGS_OR_EMPTY = {**_FLAGS, "": False}


def group_at_hand() -> str:
    """The customer group that this request's query string names; that of a list's first page is read once."""
    query = request.query_string
    if len(query) > MAX_CACHED_QUERY or b"cursor" in query:
        return request.args.get("group", "")
    return _group_in(query)


@lru_cache(1000)
def _group_in(query: bytes) -> str:
    """`query` is the text of `request.args`."""
    return request.args.get("group", "")


def question_at_hand(group: str = "") -> tuple[Question, dict[str, Any]]:
    """`question_from` this request's query string; that of a list's first page is read once."""
    query = request.query_string
    if len(query) > MAX_CACHED_QUERY or b"cursor" in query:
        return question_from(request.args, group)
    return _question_of(query, group)


@lru_cache(1000)
def _question_of(query: bytes, group: str) -> tuple[Question, dict[str, Any]]:
    """`query` is the text of `request.args`, and all that these depend on."""
    return question_from(request.args, group)


def question_from(args: MultiDict[str, str], group: str = "") -> tuple[Question, dict[str, Any]]:
    """What is asked, by the prices of a customer group, and what a cursor of it is bound to. Raises Invalid naming every wrong parameter, BadCursor."""
    errors: dict[str, list[str]] = {}
    category = args.get("category") or None
    taxonomy = _taxonomy(category, errors)
    bound = {
        "category": category,
        "subcategories": _choice(args, "subcategories", _FLAGS_OR_EMPTY, False, errors),
        "q": args.get("q", ""),
        "choices": _choices(args),
        "min_price": _whole(args, "min_price", 0, MAX_PRICE, None, errors),
        "max_price": _whole(args, "max_price", 0, MAX_PRICE, None, errors),
        "currency": args.get("currency") or None,
        "sort": args.get("sort") or None,
        "facets": [name for name in args.get("facets", "").split(",") if name],
    }
    language = args.get("language", "")
    if language:
        bound["language"] = language
    if group:
        bound["customer group"] = group
    stale_facets = _choice(args, "stale_facets", _FLAGS_OR_EMPTY, False, errors)
    analytics = _choice(args, "analytics", _FLAGS, True, errors)
    collapse = _choice(args, "collapse", _FLAGS, False, errors)
    limit = _whole(args, "limit", 1, MAX_LIMIT, 20, errors)
    _check(bound, errors)
    if errors:
        raise Invalid("See `errors` for each parameter.", errors=errors)
    return Question(
        category=taxonomy,
        subcategories=bound["subcategories"],
        q=bound["q"],
        choices={name: tuple(values) for name, values in bound["choices"].items()},
        min_price=bound["min_price"],
        max_price=bound["max_price"],
        currency=bound["currency"],
        group=group,
        language=language,
        sort=bound["sort"],
        facets=tuple(dict.fromkeys(bound["facets"])),
        stale_facets=stale_facets,
        collapse=collapse,
        analytics=analytics,
        limit=limit or 20,
        cursor=unsign(args.get("cursor") or None, bound),
    ), bound


def _check(bound: dict[str, Any], errors: dict[str, list[str]]) -> None:
    if len(bound["q"]) > MAX_QUERY:
        errors["q"] = [f"At most {MAX_QUERY} characters."]
    if bound["sort"] is not None and bound["sort"] not in SORTS:
        errors["sort"] = [f"One of {', '.join(SORTS)}."]
    if bound["currency"] is not None and bound["currency"] not in CURRENCIES:
        errors["currency"] = ["A currency the shop takes, such as GBP."]
    if not _LANGUAGE.fullmatch(bound.get("language", "en")):
        errors["language"] = [LANGUAGE_MESSAGE]
    if unknown := [name for name in bound["facets"] if not is_facet(name)]:
        errors["facets"] = [f"{unknown[0]!r} is not a facet: choose from {', '.join(FACET_FIELDS)}."]
    if sum(map(len, bound["facets"])) + len(bound["facets"]) > MAX_FACETS + 1:
        errors["facets"] = [f"At most {MAX_FACETS} characters."]
    for name, values in bound["choices"].items():
        if len(values) > MAX_CHOICES:
            errors[name] = [f"At most {MAX_CHOICES}."]
    if len(bound["choices"]) > MAX_CHOICES:
        errors.setdefault("choices", [f"At most {MAX_CHOICES} filters."])


def _taxonomy(path: str | None, errors: dict[str, list[str]]) -> tuple[str, ...] | None:
    if path is None:
        return None
    levels = taxonomy_of(path)
    if len(path) > 2500 or not all(levels):
        errors["category"] = ["The levels of a category joined by `#`, none of them empty."]
    return tuple(levels)


def _choices(args: MultiDict[str, str]) -> dict[str, list[str]]:
    """The values chosen of each facet that is asked for by its name; one that is given empty is not chosen."""
    names = [name for name in args if name in ("brand", "colour") or is_pair(name)]
    chosen = {
        name: [unicodedata.normalize("NFC", each) for each in args.getlist(name) if each] for name in names
    }
    return {name: values for name, values in chosen.items() if values}


def _whole(
    args: MultiDict[str, str],
    name: str,
    minimum: int,
    maximum: int,
    default: int | None,
    errors: dict[str, list[str]],
) -> int | None:
    text = args.get(name)
    if text is None or text == "":
        return default
    if len(text) < 16 and text.isascii() and text.isdecimal() and minimum <= int(text) <= maximum:
        return int(text)
    errors[name] = [f"A whole number, {minimum} to {maximum}."]
    return default


def _choice(
    args: MultiDict[str, str], name: str, choices: dict[str, Any], default: Any, errors: dict[str, list[str]]
) -> Any:
    text = args.get(name)
    if text is None:
        return default
    if text.lower() not in choices:
        errors[name] = ["true or false."]
    return choices.get(text.lower(), default)
