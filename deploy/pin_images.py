"""`python -m deploy.pin_images`: puts the digest beside the tag of every image that is not ours, so that nobody can exchange it.

Run it where Docker is and registries can be reached, and again to take a tag's newer build: a digest stays until then. It asks
`docker buildx imagetools inspect` for the digest of the whole list of platforms, and writes nothing when one of them is not to be had.
Our own image gets its digest from whoever pushes it: `digest:` in `deploy/kubernetes/version/kustomization.yaml`, in place of `newTag`.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGE: Final = re.compile(
    r"^(?P<before>\s*image: |FROM )(?P<name>[a-z0-9][a-z0-9./-]*:[\w.-]+)(?:@(?P<digest>sha256:[0-9a-f]{64}))?(?=\s|$)",
    re.MULTILINE,
)
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


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


def inspected(name: str) -> str:
    """What the registry says of a tag now. Raises LookupError."""
    command = ["docker", "buildx", "imagetools", "inspect", name, "--format", "{{.Manifest.Digest}}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise LookupError(f"{name}: {error}") from error
    digest = answer.stdout.strip()
    if answer.returncode or not DIGEST.fullmatch(digest):
        raise LookupError(f"{name}: {(answer.stderr or answer.stdout).strip() or 'no digest'}")
    return digest


def main() -> int:
    try:
        print("\n".join(pin(ROOT, inspected)))
    except LookupError as error:
        print(f"Nothing was pinned. {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
