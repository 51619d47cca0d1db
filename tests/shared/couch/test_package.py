"""The client library is a package of its own: what it lists is there, and its README works without the shop."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from deploy.checks.packages import example
from shared import couch
from tests.processes import ROOT

FOLDER = ROOT / "shared/couch"


def test_it_depends_on_what_the_shop_installs():
    own = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]["dependencies"]
    locked = {
        line.partition("==")[0]
        for line in (ROOT / "deploy/requirements.lock").read_text().splitlines()
        if "==" in line
    }
    assert set(own) <= locked


def test_every_public_name_is_there_and_no_other_is():
    assert {name: getattr(couch, name) for name in couch.__all__}.keys() == couch._MODULE_OF.keys()
    assert not hasattr(couch, "no_such_name")


def test_its_readme_works_without_the_shop(couch_url: str, tmp_path: Path):
    """Under its own name, in a process that sees nothing of this repository but the library's folder; and once more, on what it left."""
    (tmp_path / "aisle_couch").symlink_to(FOLDER)
    environment = {**os.environ, "COUCH_URL": couch_url, "PYTHONPATH": str(tmp_path)}
    program = example(FOLDER / "README.md") + "\nimport sys\nassert 'shared' not in sys.modules\n"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_errors_and_deadlines_are_had_without_the_sdk():
    """They are what a process without a database imports."""
    program = "import sys, shared.errors, shared.couch.deadline, shared.couch.http\nassert 'ibmcloudant' not in sys.modules\n"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
