"""minicouch's fixtures for other people's tests, used as such a test uses them; `make wheels` does it from the wheel."""

import subprocess
import sys
from pathlib import Path

from deploy.checks.packages import example

ROOT = Path(__file__).resolve().parents[4]
FRESH = """
import urllib3

seen = []


def names(server):
    auth = urllib3.make_headers(basic_auth=urllib3.util.parse_url(server).auth)
    found = urllib3.request("GET", server + "/_all_dbs", headers=auth).json()
    return [name for name in found if not name.startswith("_")]


def test_first(minicouch_url, minicouch_database):
    seen.append(minicouch_database)
    assert minicouch_database.removeprefix(minicouch_url + "/") in names(minicouch_url)


def test_second(minicouch_url, minicouch_database):
    assert minicouch_database not in seen
    assert names(minicouch_url) == [minicouch_database.removeprefix(minicouch_url + "/")]
"""


def test_the_readmes_example_and_databases_of_each_tests_own(tmp_path: Path) -> None:
    (tmp_path / "test_readme.py").write_text(example(ROOT / "deploy/local/minicouch/README.md"))
    (tmp_path / "test_fresh.py").write_text(FRESH)
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "deploy.local.minicouch.pytest_plugin"),
        *("--rootdir", str(tmp_path), "-c", "/dev/null", str(tmp_path)),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout
