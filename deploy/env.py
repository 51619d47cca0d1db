"""`python -m deploy.env compose|couchdb|cloudant`: writes the secrets of a deployment, fresh ones, and never over old ones.

A template's empty value becomes a new secret, `${NAME}` an earlier value; a `?` is yours to fill in.
"""

import argparse
import secrets
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from string import Template

from deploy.secret_files import keep_secret
from deploy.signing_key import signing_key

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.env", description=__doc__)
    parser.add_argument("deployment", choices=["compose", "couchdb", "cloudant"])
    for path in write(ROOT, parser.parse_args().deployment):
        open_ones = [line.partition("=")[0] for line in path.read_text().splitlines() if line.endswith("=?")]
        print(path, f"  fill in: {', '.join(open_ones)}" if open_ones else "")
    return 0


def write(root: Path, deployment: str) -> list[Path]:
    """The files of a deployment; those that exist stay as they are."""
    if deployment == "compose":
        return [_kept(root / ".env", lambda: filled((root / ".env.example").read_text()))]
    kubernetes = root / "deploy" / "kubernetes"
    overlay = kubernetes / "overlays" / deployment
    templates = [*kubernetes.glob("*.example.env"), *overlay.glob("*.example.env")]
    return [
        *(
            _kept(overlay / path.name.replace(".example", ""), partial(filled, path.read_text()))
            for path in templates
        ),
        _kept(overlay / "jwt.pem", signing_key),
    ]


def filled(template: str) -> str:
    """The template with a secret for each empty value."""
    known: dict[str, str] = {}
    lines = []
    for line in template.splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            known[name] = Template(value).substitute(known) or secrets.token_urlsafe(32)
            line = f"{name}={known[name]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _kept(path: Path, make: Callable[[], str]) -> Path:
    keep_secret(path, make)
    return path


if __name__ == "__main__":
    sys.exit(main())
