"""A service that is added is added everywhere: one that is forgotten somewhere is named here."""

import os
import re
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from deploy.local.layout import SERVICES
from services.prepare import DESIGNS
from shared import jobs
from shared.couch import DatabaseDesign

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "deploy" / "kubernetes" / "base"
BESIDE = {"worker"}
"""Folders of services/ that answer no HTTP."""


def documents(name: str) -> list[dict]:
    return [each for each in yaml.safe_load_all((BASE / name).read_text()) if each]


def named(name: str, kind: str) -> set[str]:
    return {each["metadata"]["name"] for each in documents(name) if each["kind"] == kind}


def test_every_folder_that_answers_http_is_started_by_make_run() -> None:
    folders = {path.parent.name for path in ROOT.glob("services/*/app.py")} - BESIDE
    assert set(SERVICES) == folders


def test_the_databases_of_every_service_are_prepared() -> None:
    declared = {
        design.name
        for path in ROOT.glob("services/*/documents.py")
        for design in vars(import_module(f"services.{path.parent.name}.documents")).values()
        if isinstance(design, DatabaseDesign)
    }
    assert {design.name for design in DESIGNS} == declared


def test_the_rooms_of_every_service_are_kept_apart() -> None:
    rules = ConfigParser()
    rules.read(ROOT / ".importlinter")
    contracts = ("rooms", "storefront-rooms")
    containers = [
        each for name in contracts for each in rules[f"importlinter:contract:{name}"]["containers"].split()
    ]
    assert set(containers) == {f"services.{service}" for service in SERVICES}


def test_every_service_is_in_compose() -> None:
    blocks = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert set(SERVICES) | {"worker", "follower"} <= blocks.keys()


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_is_in_the_gateway(service: str) -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    assert f"upstream {service} " in text
    assert f"proxy_pass http://{service};" in text


def test_every_service_has_its_kubernetes_file_and_scales() -> None:
    resources = yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]
    assert {f"{service}.yaml" for service in SERVICES} <= set(resources)
    assert set(SERVICES) <= named("scaling.yaml", "HorizontalPodAutoscaler")
    assert set(SERVICES) <= named("scaling.yaml", "PodDisruptionBudget")


def test_every_service_has_its_paths_in_the_ingress() -> None:
    backends = {
        path["backend"]["service"]["name"]
        for each in documents("ingress.yaml")
        for rule in each["spec"].get("rules", [])
        for path in rule["http"]["paths"]
    }
    assert set(SERVICES) <= backends


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_is_reached_and_watched(service: str) -> None:
    """A network policy chooses its pods, the monitor its Kubernetes service, both by labels."""
    kinds = {each["kind"]: each for each in documents(f"{service}.yaml")}
    pods = kinds["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert any(_selects(each, pods) for each in documents("network.yaml"))
    assert any(
        _selects(each, kinds["Service"]["metadata"]["labels"]) for each in documents("monitoring.yaml")
    )


def test_an_alert_watches_every_service() -> None:
    rules = [
        rule
        for each in documents("monitoring.yaml")
        for group in each["spec"].get("groups", [])
        for rule in group["rules"]
    ]
    down = next(rule for rule in rules if rule.get("alert") == "AisleServiceDown")
    watched = re.search(r'service=~"([^"]+)"', down["expr"])
    assert watched
    assert set(SERVICES) <= set(watched[1].split("|"))


def _selects(resource: dict, labels: dict[str, str]) -> bool:
    spec = resource["spec"]
    selector = spec.get("podSelector") or spec.get("selector") or {}
    wanted = selector.get("matchLabels", {})
    either = selector.get("matchExpressions", [])
    chosen = all(labels.get(each["key"]) in each["values"] for each in either)
    return bool(wanted or either) and chosen and wanted.items() <= labels.items()


def test_every_row_of_the_timetable_and_every_change_has_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    from services.orders.feed import FEED
    from services.worker.schedule import TIMETABLE

    declared = {value for name, value in vars(jobs).items() if name.isupper() and isinstance(value, str)}
    wanted = {row.job for row in TIMETABLE} | {job for job, _ in FEED.routes.values() if job}
    wanted |= set(FEED.several.values())
    assert wanted <= declared
    assert {name for name in declared if "." in name} == wanted, "a job that nothing starts"
    for name, value in {
        "AISLE_ENV": "local",
        "COUCH_URL": "http://127.0.0.1:1",
        "SECRET_KEY": "s" * 32,
        "SERVICE_SECRET": "t" * 32,
        "JWT_PRIVATE_KEY_FILE": str(ROOT / "none.pem"),
        "MAIL_DIR": os.devnull,
    }.items():
        monkeypatch.setenv(name, value)
    from services.worker.app import app

    assert wanted <= app.tasks.keys()
