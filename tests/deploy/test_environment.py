"""Every container of compose and of both overlays gets the variables its program asks for, and none that nobody reads."""

import importlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from deploy.checks.kubernetes import OVERLAYS, build, pods
from shared.settings import load
from tests.deploy.compose import secrets, services

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("users", "products", "orders", "storefront", "worker")
READ_BY_DEPLOY = {
    "BIND",
    "WEB_WORKERS",
    "WEB_THREADS",
    "HEARTBEAT_FILE",
    "REDIS_PASSWORD",
    "COUCHDB_SECRET",
    "COUCHDB_ERLANG_COOKIE",
}
Container = tuple[str, list[str], dict[str, str]]


def of_compose() -> Iterator[Container]:
    for name, service in services(secrets()).items():
        if "build" in service:
            yield (
                name,
                service["command"],
                {key: str(value) for key, value in (service.get("environment") or {}).items()},
            )


def of_overlay(overlay: str, *components: str) -> Iterator[Container]:
    objects = build(overlay, *components)
    held = {(item["kind"], item["metadata"]["name"]): item for item in objects}
    for owner, template in pods(objects):
        for container in template["spec"]["containers"]:
            if container["image"].startswith("registry.example/aisle:"):
                yield owner["metadata"]["name"], container["command"], _environment(container, held)


def _environment(container: dict, held: dict[tuple[str, str], dict]) -> dict[str, str]:
    given: dict[str, str] = {}
    for source in container.get("envFrom", []):
        if "configMapRef" in source:
            given |= held["ConfigMap", source["configMapRef"]["name"]]["data"]
        else:
            given |= dict.fromkeys(held["Secret", source["secretRef"]["name"]]["data"], "a secret")
    return given | {item["name"]: item["value"] for item in container.get("env", [])}


DEPLOYMENTS = {
    "compose": of_compose,
    "couchdb": lambda: of_overlay("couchdb"),
    "cloudant": lambda: of_overlay("cloudant"),
}


needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl builds the overlays; it is not here"
)


@pytest.fixture(
    scope="module",
    params=["compose", *(pytest.param(name, marks=needs_kubectl) for name in ("couchdb", "cloudant"))],
)
def containers(request: pytest.FixtureRequest) -> list[Container]:
    return list(DEPLOYMENTS[request.param]())


def settings_classes(service: str) -> list[type]:
    module = importlib.import_module(f"services.{service}.settings")
    return [
        item for item in vars(module).values() if is_dataclass(item) and item.__module__ == module.__name__
    ]


def asked_by(command: list[str]) -> list[type]:
    """The settings that a program reads at its start."""
    words = " ".join(command)
    if found := re.search(r"services\.(\w+)\.app:create_app", words):
        return [importlib.import_module(f"services.{found[1]}.settings").Settings]
    if "services.worker" in words:
        does_jobs = "worker.follower" not in words
        jobs = [
            item
            for name in SERVICES
            for item in settings_classes(name)
            if item.__name__ == "JobSettings" and does_jobs
        ]
        ran = [*settings_classes("orders")] if "worker.app" in words else []
        return [*settings_classes("worker"), *jobs, *ran]
    return []


def test_nothing_that_is_asked_for_is_missing(containers: list[Container]) -> None:
    asked = [(name, cls) for name, command, env in containers for cls in asked_by(command)]
    assert len(asked) >= 7
    for _, command, env in containers:
        for cls in asked_by(command):
            load(cls, env)


def test_who_asks_carriers_is_told_which(containers: list[Container]) -> None:
    given = {name: set(env) & {"RATE_PROVIDERS", "LABEL_PROVIDER"} for name, _, env in containers}
    assert given["orders"] == given["worker"] == {"RATE_PROVIDERS", "LABEL_PROVIDER"}
    assert "LABEL_PROVIDER" in given["storefront"]


def test_nothing_is_given_that_nobody_reads(containers: list[Container]) -> None:
    read = {
        item.metadata["env"] for name in SERVICES for cls in settings_classes(name) for item in fields(cls)
    }
    for name, _, env in containers:
        assert set(env) - read - READ_BY_DEPLOY == set(), name


def test_the_storefront_holds_no_key_to_the_database(containers: list[Container]) -> None:
    ((_, _, env),) = [container for container in containers if container[0] == "storefront"]
    assert not {"COUCH_PASSWORD", "COUCH_APIKEY", "COUCH_USERNAME", "JWT_PRIVATE_KEY_FILE"} & set(env)


@needs_kubectl
def test_kubernetes_runs_the_commands_that_compose_runs() -> None:
    compose = {name: command for name, command, _ in of_compose()}
    cluster = {name: command for name, command, _ in of_overlay("couchdb")}
    both = compose.keys() & cluster.keys()
    assert both == {"users", "products", "orders", "storefront", "worker", "schedule", "follower", "prepare"}
    assert {name: compose[name] for name in both} == {name: cluster[name] for name in both}


@needs_kubectl
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_where_the_archive_is_turned_on_service_and_worker_share_a_volume(overlay: str) -> None:
    templates = {
        owner["metadata"]["name"]: template["spec"] for owner, template in pods(build(overlay, "archive"))
    }
    shared = {
        name
        for name, pod in templates.items()
        if "archive" in [each["name"] for each in pod.get("volumes", [])]
    }
    assert shared == {"orders", "worker"}
    for name in shared:
        (container,) = templates[name]["containers"]
        assert {"name": "archive", "mountPath": "/archive"} in container["volumeMounts"]
        assert {"name": "tmp", "mountPath": "/tmp"} in container["volumeMounts"], "what it had is still there"
        assert templates[name]["securityContext"]["fsGroup"] == 10001
    told = {name for name, _, env in of_overlay(overlay, "archive") if env.get("ARCHIVE_DIR") == "/archive"}
    assert told == shared
    assert not any("ARCHIVE_DIR" in env for _, _, env in of_overlay(overlay)), "not turned on"


def test_no_secret_has_a_default_in_compose() -> None:
    with pytest.raises(KeyError, match="missing in .env"):
        services({})
