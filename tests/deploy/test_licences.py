"""Everything the lock file brings may be used in a closed shop: permissive licences, MPL, which stays within its files,
or the licence of open fonts, which lets documents carry them.
"""

import json
import re
import subprocess
import sys

import pytest

from tests.processes import ROOT

ALLOWED = re.compile(
    r"Apache|BSD|MIT|ISC|MPL|Mozilla Public|PSF|Python Software Foundation|CNRI|Unlicense|0BSD|\bOFL\b"
)
READ_BY_HAND = {"axe-playwright-python": "MIT"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def licences() -> dict[str, str]:
    program = [sys.executable, "-m", "piplicenses", "--from=mixed", "--format=json", "--with-system"]
    rows = json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    return {normal(row["Name"]): READ_BY_HAND.get(normal(row["Name"]), row["License"]) for row in rows}


@pytest.mark.parametrize("lock", ["requirements.lock", "deploy/requirements.lock"])
def test_every_locked_package_has_a_licence_that_lets_us_use_it(lock: str, licences: dict[str, str]) -> None:
    names = re.findall(r"^([A-Za-z0-9][\w.-]*)==", (ROOT / lock).read_text(), re.MULTILINE)
    installed = {normal(name) for name in names} & licences.keys()
    assert len(installed) > len(names) * 0.9
    assert {name: licences[name] for name in installed if not allowed(licences[name])} == {}


def allowed(licence: str) -> bool:
    """`A OR B` lets us choose; of `A AND B` (or several, separated by semicolons) each must do."""
    parts = re.split(r" AND |; ", licence.replace("(", "").replace(")", ""))
    return all(
        any(ALLOWED.search(choice) for choice in part.split(" OR "))
        for part in parts
        if part != "DFSG approved"
    )


@pytest.mark.parametrize(
    "licence", ["GPL-3.0-only", "GNU Affero General Public License v3", "UNKNOWN", "MIT AND GPL-2.0-only"]
)
def test_other_licences_are_noticed(licence: str) -> None:
    assert not allowed(licence)
