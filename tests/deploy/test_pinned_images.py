"""Images get their digests by one command, and none may be forgotten afterwards. A registry of the specification stands in for Docker Hub."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy import pin_images
from deploy.registry import Image, Registries, image
from tests.deploy.registry_standin import RegistryStandIn
from tests.processes import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for file in (*pin_images.files(ROOT), ROOT / "deploy" / "pin_images.py", ROOT / "deploy" / "registry.py"):
        target = tmp_path / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return tmp_path


@pytest.fixture
def registry() -> Iterator[RegistryStandIn]:
    registry = RegistryStandIn()
    yield registry
    registry.close()


@pytest.fixture
def pushed(registry: RegistryStandIn) -> dict[str, str]:
    """Each image that the files name, with the digest of its list of platforms."""
    names = {each.name for each in pin_images.references(ROOT)}
    return {name: registry.push(where(name)) for name in names}


def where(name: str) -> str:
    """repository:tag on Docker Hub."""
    found = image(name)
    return f"{found.repository}:{found.tag}"


def run(copy: Path, registry: RegistryStandIn) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deploy.pin_images", "--mirror", registry.url]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=60)


def pinned(copy: Path) -> dict[str, str]:
    return {each.name: each.digest for each in pin_images.references(copy)}


def test_every_image_of_others_is_found() -> None:
    names = {each.name.partition(":")[0] for each in pin_images.references(ROOT)}
    assert {"python", "node", "couchdb", "redis", "nginx", "axllent/mailpit"} == names
    assert list(pin_images.problems(ROOT)) == []


def test_one_command_pins_all_and_takes_newer_ones(
    copy: Path, registry: RegistryStandIn, pushed: dict[str, str]
) -> None:
    done = run(copy, registry)
    assert done.returncode == 0, done.stderr
    assert pinned(copy) == pushed
    assert list(pin_images.problems(copy)) == []
    name = min(pushed)
    newer = registry.push(where(name), build=2)
    assert run(copy, registry).returncode == 0
    assert pinned(copy) == {**pushed, name: newer}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("gone", "404 MANIFEST_UNKNOWN: it says"),
        ("busy", "429 TOOMANYREQUESTS: it says (try again in 60 s)"),
        ("lies", "the registry calls it sha256:0000"),
    ],
)
def test_a_tag_that_is_not_to_be_had_leaves_all_as_it_was(
    copy: Path, registry: RegistryStandIn, pushed: dict[str, str], fault: str, said: str
) -> None:
    name = max(pushed)
    if fault == "gone":
        del registry.images[where(name)]
    elif fault == "busy":
        registry.busy = where(name)
    else:
        registry.lies.add(where(name))
    texts = [file.read_text() for file in pin_images.files(copy)]
    done = run(copy, registry)
    assert done.returncode == 1
    assert f"Nothing was pinned. {name}: {said}" in done.stderr
    assert [file.read_text() for file in pin_images.files(copy)] == texts


def test_a_registry_that_does_not_answer_is_named(copy: Path, registry: RegistryStandIn) -> None:
    registry.close()
    done = run(copy, registry)
    assert done.returncode == 1
    assert "Nothing was pinned. " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_token_is_for_one_repository(registry: RegistryStandIn) -> None:
    digest = registry.push("library/redis:7")
    assert Registries(registry.url).digest("redis:7") == digest
    assert registry.asked == [("library/redis:7", "Bearer for repository:library/redis:pull")]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("redis:7.2-alpine", Image("https://registry-1.docker.io", "library/redis", "7.2-alpine")),
        ("axllent/mailpit:v1", Image("https://registry-1.docker.io", "axllent/mailpit", "v1")),
        ("quay.io/a/b/c:1", Image("https://quay.io", "a/b/c", "1")),
        ("localhost/a:1", Image("https://localhost", "a", "1")),
    ],
)
def test_a_name_is_where_docker_looks_for_it(name: str, found: Image) -> None:
    assert image(name) == found


def test_once_pinned_none_may_be_without_a_digest(
    copy: Path, registry: RegistryStandIn, pushed: dict[str, str]
) -> None:
    assert run(copy, registry).returncode == 0
    redis = copy / "deploy" / "kubernetes" / "base" / "redis.yaml"
    [name] = [each.name for each in pin_images.references(copy) if each.file == redis]
    redis.write_text(re.sub(rf"{re.escape(name)}@\S+", name, redis.read_text()))
    found = list(pin_images.problems(copy))
    assert any(f"redis.yaml: {name} is not pinned" in problem for problem in found)
    assert any("has several digests" in problem for problem in found)
