"""COVERAGE.md says of every endpoint whether it is served; the route tables are the truth."""

import re
from pathlib import Path

import pytest

from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.routes import ROUTES

PAGE = Path(__file__).parents[4] / "deploy" / "local" / "minicouch" / "COVERAGE.md"
ROW = re.compile(
    r"^\| `(?P<path>/[^`]*)` \| (?P<methods>[A-Z, ]+) \| (?P<served>yes|no|404|405)\b.*\|$", re.MULTILINE
)
REFUSING = {
    "handler": "no",
    "not_served": "no",
    "nothing_here": "404",
    "other_view": "405",
    "temporary_view": "no",
}


def told() -> dict[str, tuple[set[str], str]]:
    return {
        row["path"]: (set(row["methods"].split(", ")), row["served"])
        for row in ROW.finditer(PAGE.read_text())
    }


def routed() -> dict[str, tuple[set[str], str]]:
    found: dict[str, tuple[set[str], str]] = {}
    for method, path, handler, _name in ROUTES:
        served = REFUSING.get(handler.__name__, "yes")
        methods, before = found.get(path, (set(), served))
        found[path] = (methods | {method}, before if before == "yes" else served)
    return found


def test_the_table_names_every_route_and_no_other():
    assert told().keys() == routed().keys()


def test_the_table_tells_methods_and_what_is_refused():
    assert told() == routed()


def test_what_is_refused_says_its_name():
    for _method, path, handler, _name in ROUTES:
        if REFUSING.get(handler.__name__) == "no":
            with pytest.raises(CouchError) as refused:
                handler(None)
            assert refused.value.status in (404, 410, 501), path
            assert refused.value.reason, path
