"""`python -m deploy.pin_images`: puts the digest beside the tag of every image that is not ours, so that nobody can exchange it.

Run it where registries can be reached (`--mirror URL` for one that stands in for Docker Hub), and again to take a tag's newer build: a
digest stays until then. Each is that of the whole list of platforms; nothing is written when one of them is not to be had.
Our own image gets its digest from whoever pushes it: `digest:` in `deploy/kubernetes/version/kustomization.yaml`, in place of `newTag`.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from deploy.registry import DOCKER_HUB, Registries

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGE: Final = re.compile(
    r"^(?P<before>\s*image: |FROM )(?P<name>[a-z0-9][a-z0-9./-]*:[\w.-]+)(?:@(?P<digest>sha256:[0-9a-f]{64}))?(?=\s|$)",
    re.MULTILINE,
)


class Reference(NamedTuple):
    """An image as a file names it: `redis:7.2.11-alpine`, and its digest or ""."""

    file: Path
    name: str
    digest: str


def files(root: Path) -> list[Path]:
    manifests = sorted((root / "deploy" / "kubernetes").rglob("*.yaml"))
    return [root / "deploy" / "Dockerfile", root / "docker-compose.yml", *manifests]


def references(root: Path = ROOT) -> Iterator[Reference]:
    for file in files(root):
        for found in IMAGE.finditer(file.read_text()):
            yield Reference(file, found["name"], found["digest"] or "")


def problems(root: Path = ROOT) -> Iterator[str]:
    """Once one image is pinned all must be, each tag to one digest wherever it stands."""
    found = list(references(root))
    digests: dict[str, set[str]] = {}
    for each in found:
        digests.setdefault(each.name, set()).add(each.digest)
    for name, several in digests.items():
        if len(several) > 1:
            yield f"{name} has several digests, or one that is not everywhere: run python -m deploy.pin_images"
    if any(each.digest for each in found):
        for each in found:
            if not each.digest:
                yield f"{each.file.relative_to(root)}: {each.name} is not pinned: run python -m deploy.pin_images"


def pin(root: Path, digest_of: Callable[[str], str]) -> list[str]:
    """Writes the digests; what is pinned now, by name. Raises LookupError before anything is written."""
    digests = {name: digest_of(name) for name in sorted({each.name for each in references(root)})}
    for file in files(root):
        text = file.read_text()
        pinned = IMAGE.sub(lambda found: f"{found['before']}{found['name']}@{digests[found['name']]}", text)
        if pinned != text:
            file.write_text(pinned)
    return [f"{name}@{digest}" for name, digest in digests.items()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.pin_images", description=__doc__)
    parser.add_argument(
        "--mirror", default=DOCKER_HUB, metavar="URL", help="a registry in place of Docker Hub"
    )
    options = parser.parse_args()
    try:
        print("\n".join(pin(ROOT, Registries(options.mirror).digest)))
    except LookupError as error:
        print(f"Nothing was pinned. {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
