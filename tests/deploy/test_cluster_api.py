"""Every manifest goes through a real Kubernetes API: admission, server-side apply, an upgrade and the way back.

    TEST_KUBECONFIG=/path/to/kubeconfig .venv/bin/python -m pytest -m deployment tests/deploy/test_cluster_api.py

An API server with its etcd and kube-controller-manager is enough, no node is needed. Everything happens in namespaces of the test's own, which
go afterwards. The variable is not KUBECONFIG, so that nobody tries this on the cluster that happens to be theirs.
"""

import json
import os
import secrets
import subprocess
import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml

from deploy.checks.kubernetes import OPERATOR_KINDS, VARIANTS, build, pods
from tests.waiting import eventually

CONFIG = os.environ.get("TEST_KUBECONFIG", "")
RUNNING = "deployments,statefulsets,jobs,cronjobs"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "all"},
    "spec": {"hard": {"requests.cpu": "64", "requests.memory": "64Gi", "limits.memory": "128Gi"}},
}

pytestmark = [
    pytest.mark.deployment,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not CONFIG, reason="TEST_KUBECONFIG names no cluster's API: manifests are not applied"
    ),
]


def kubectl(*arguments: str, objects: list[dict[str, Any]] | None = None) -> subprocess.CompletedProcess[str]:
    text = yaml.safe_dump_all(objects) if objects is not None else None
    command = ["kubectl", "--kubeconfig", CONFIG, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)


def apply(objects: list[dict[str, Any]], *more: str) -> subprocess.CompletedProcess[str]:
    """As a deployment tool does it: the server merges, and takes what another manager has."""
    return kubectl("apply", "--server-side", "--force-conflicts", *more, "-f", "-", objects=objects)


@pytest.fixture(scope="module", params=VARIANTS, ids="-with-".join)
def variant(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """An overlay, and what is turned on of it."""
    return request.param


@pytest.fixture(scope="module")
def manifests(variant: tuple[str, ...]) -> Iterator[list[dict[str, Any]]]:
    """All of an overlay in a namespace of its own. Kinds that the cluster lacks stay out, and are named."""
    namespace = f"aisle-{secrets.token_hex(4)}"
    known = kubectl("api-resources", "--no-headers", "-o", "name").stdout
    objects = []
    for item in moved(build(*variant), namespace):
        if item["kind"] in OPERATOR_KINDS and "monitoring.coreos.com" not in known:
            warnings.warn(f"{item['kind']} is not applied: the cluster has no such kind", stacklevel=1)
            continue
        objects.append(item)
    yield objects
    kubectl("delete", "namespace", namespace, "--wait=false")


def moved(objects: list[dict[str, Any]], namespace: str) -> list[dict[str, Any]]:
    """The same objects in another namespace."""
    for item in objects:
        item["metadata"]["name" if item["kind"] == "Namespace" else "namespace"] = namespace
    return objects


@pytest.fixture(scope="module")
def applied(manifests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = apply(manifests)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return manifests


def namespace_of(objects: list[dict[str, Any]]) -> str:
    return next(str(item["metadata"]["name"]) for item in objects if item["kind"] == "Namespace")


def stored(objects: list[dict[str, Any]], kinds: str) -> dict[str, dict[str, Any]]:
    """What the API keeps, by kind and name."""
    answer = kubectl("-n", namespace_of(objects), "get", kinds, "-o", "json")
    assert answer.returncode == 0, answer.stderr
    return {_key(item): item for item in json.loads(answer.stdout)["items"]}


def _key(item: dict[str, Any]) -> str:
    return f"{item['kind']} {item['metadata']['name']}"


def bare_pods(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A pod of each template, as its controller would make it."""
    made = []
    for owner, template in pods(objects):
        labels = template["metadata"]["labels"]
        name = {"name": f"{owner['metadata']['name']}-try", "namespace": namespace_of(objects)}
        spec = deepcopy(template["spec"])
        for claim in owner["spec"].get("volumeClaimTemplates", []):
            spec.setdefault("volumes", []).append({"name": claim["metadata"]["name"], "emptyDir": {}})
        made.append({"apiVersion": "v1", "kind": "Pod", "metadata": name | {"labels": labels}, "spec": spec})
    return made


def test_everything_is_taken_without_a_warning_and_a_second_time_changes_nothing(
    applied: list[dict[str, Any]],
) -> None:
    kinds = "deployments,statefulsets,cronjobs,ingresses,networkpolicies,poddisruptionbudgets"
    before = generations(stored(applied, kinds))
    again = apply(applied)
    assert again.returncode == 0, again.stderr
    after = generations(stored(applied, kinds))
    assert before == after
    assert set(after) >= {_key(item) for item in applied if item["kind"] == "Deployment"}


def test_every_controller_may_make_its_pods(applied: list[dict[str, Any]]) -> None:
    makers = {owner["metadata"]["name"] for owner, _ in pods(applied) if owner["kind"] != "CronJob"}

    def made() -> bool:
        return makers <= {pod["metadata"]["labels"].get("app") for pod in stored(applied, "pods").values()}

    eventually(made)
    refused = kubectl("-n", namespace_of(applied), "get", "events", "--field-selector", "reason=FailedCreate")
    assert "No resources found" in refused.stderr, refused.stdout


def test_the_cluster_lets_every_pod_in_and_one_without_its_settings_not(
    applied: list[dict[str, Any]],
) -> None:
    """By the admission of PodSecurity, as the namespace's labels ask for it, and by a quota that wants requests and limits of all."""
    quota = deepcopy(QUOTA) | {"metadata": {"name": "all", "namespace": namespace_of(applied)}}
    assert apply([quota]).returncode == 0
    wanted = bare_pods(applied)
    assert len(wanted) >= 10
    for pod in wanted:
        done = kubectl("create", "--dry-run=server", "-f", "-", objects=[pod])
        assert done.returncode == 0, done.stderr
    careless, unlimited = deepcopy(wanted[0]), deepcopy(wanted[0])
    del careless["spec"]["securityContext"]
    refused = kubectl("create", "--dry-run=server", "-f", "-", objects=[careless])
    assert "violates PodSecurity" in refused.stderr, refused.stderr
    del unlimited["spec"]["containers"][0]["resources"]
    refused = kubectl("create", "--dry-run=server", "-f", "-", objects=[unlimited])
    assert "must specify limits.memory" in refused.stderr, refused.stderr
    kubectl("-n", namespace_of(applied), "delete", "resourcequota", "all")


def test_a_new_version_and_the_way_back(applied: list[dict[str, Any]]) -> None:
    """README's way: jobs cannot change, so they are deleted before the new version is applied."""
    newer = _with_tag(applied, "9.9.9")
    refused = apply(newer)
    assert "field is immutable" in refused.stderr, refused.stderr
    for version in (newer, applied):
        upgrade(version)
        wanted = {_key(item): item for item, _ in pods(version)}
        assert _images(stored(applied, RUNNING)) == _images(wanted)


def test_a_rollout_is_undone_and_then_is_what_the_manifests_say(applied: list[dict[str, Any]]) -> None:
    names = [f"deployment/{item['metadata']['name']}" for item in applied if item["kind"] == "Deployment"]
    for version in (applied, _with_tag(applied, "9.9.9")):
        upgrade(version)
        eventually(lambda: all(is_observed(item) for item in stored(applied, "deployments").values()))
    undone = kubectl("-n", namespace_of(applied), "rollout", "undo", *names)
    assert undone.returncode == 0, undone.stderr
    before = stored(applied, "deployments")
    assert _images(before) == _images({_key(item): item for item in applied if item["kind"] == "Deployment"})
    upgrade(applied)
    after = stored(applied, "deployments")
    assert generations(after) == generations(before)


def test_what_is_turned_on_is_turned_off_again(
    applied: list[dict[str, Any]], variant: tuple[str, ...]
) -> None:
    if len(variant) == 1:
        pytest.skip("nothing is turned on")
    on = volumes(stored(applied, "deployments"))
    plain = moved(build(variant[0]), namespace_of(applied))
    for version, expected in ((plain, volumes({_key(item): item for item in plain})), (applied, on)):
        upgrade([item for item in version if item["kind"] not in OPERATOR_KINDS])
        assert volumes(stored(applied, "deployments")) == expected
    assert on != volumes({_key(item): item for item in plain})


def upgrade(version: list[dict[str, Any]]) -> None:
    jobs = [item["metadata"]["name"] for item in version if item["kind"] == "Job"]
    kubectl("-n", namespace_of(version), "delete", "job", *jobs, "--ignore-not-found")
    done = apply(version)
    assert done.returncode == 0, done.stderr


def is_observed(deployment: dict[str, Any]) -> bool:
    """Whether its controller has made the ReplicaSet of what it says now."""
    return bool(deployment["status"].get("observedGeneration") == deployment["metadata"]["generation"])


def generations(items: dict[str, dict[str, Any]]) -> dict[str, int]:
    return {name: item["metadata"]["generation"] for name, item in items.items()}


def volumes(items: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    return {
        name: {each["name"] for each in item["spec"]["template"]["spec"]["volumes"]}
        for name, item in items.items()
        if item["kind"] == "Deployment"
    }


def _with_tag(objects: list[dict[str, Any]], tag: str) -> list[dict[str, Any]]:
    """The manifests as they are when the tag is changed in `version/kustomization.yaml`."""
    text = yaml.safe_dump_all(objects)
    [image] = {
        each["image"]
        for _, template in pods(objects)
        for each in template["spec"]["containers"]
        if each["image"].startswith("registry.example/aisle:")
    }
    return list(yaml.safe_load_all(text.replace(image, f"{image.rpartition(':')[0]}:{tag}")))


def _images(items: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Of all that makes pods, by kind and name."""
    return {
        _key(owner): [each["image"] for each in template["spec"]["containers"]]
        for owner, template in pods(list(items.values()))
    }
