"""Kubernetes: both overlays build, every object fits the published schema, and every pod is as careful as it should be."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import kubernetes_validate
import yaml

from deploy import env

ROOT = Path(__file__).resolve().parents[2]
OVERLAYS = ("couchdb", "cloudant")
COMPONENTS = ("archive",)
"""What an overlay may turn on."""
VARIANTS: tuple[tuple[str, ...], ...] = (*product(OVERLAYS), *product(OVERLAYS, COMPONENTS))
"""Every overlay as it is, and with each of what it may turn on."""
VERSIONS = ("1.32.0", "1.37.0")
OPERATOR_KINDS = ("ServiceMonitor", "PrometheusRule")
ONE_OFF = ("Job", "CronJob")


def problems() -> Iterator[str]:
    for variant in VARIANTS:
        name = " with ".join(variant)
        try:
            objects = build(*variant)
        except subprocess.CalledProcessError as error:
            yield f"{name}: {error.stderr.strip()}"
            continue
        except FileNotFoundError:
            yield "kubectl is not here: install it (https://kubernetes.io/docs/tasks/tools)"
            return
        for item in objects:
            yield from (f"{name}: {problem}" for problem in _object_problems(item))
        yield from (f"{name}: {problem}" for problem in _reference_problems(objects))


def build(overlay: str, *components: str) -> list[dict]:
    """The objects of an overlay, with fresh secrets, as `kubectl kustomize` gives them, and with what it may turn on beside."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        shutil.copytree(ROOT / "deploy" / "kubernetes", root / "deploy" / "kubernetes")
        env.write(root, overlay)
        folder = root / "deploy" / "kubernetes" / "overlays" / overlay
        for name in components:
            _turn_on(folder / "kustomization.yaml", name)
        command = ["kubectl", "kustomize", str(folder)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(answer.stdout))


def _turn_on(kustomization: Path, component: str) -> None:
    """As who deploys does: one more name among the overlay's components."""
    wanted = yaml.safe_load(kustomization.read_text())
    wanted["components"].append(f"../../{component}")
    kustomization.write_text(yaml.safe_dump(wanted))


def pods(objects: list[dict]) -> Iterator[tuple[dict, dict]]:
    """(object, pod template) for every object that makes pods."""
    for item in objects:
        spec = item.get("spec", {})
        if item["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if item["kind"] in ("Deployment", "StatefulSet", *ONE_OFF):
            yield item, spec["template"]


def _object_problems(item: dict) -> Iterator[str]:
    name = f"{item['kind']} {item['metadata']['name']}"
    if item["kind"] not in OPERATOR_KINDS:
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                yield f"{name}: Kubernetes {version}: {'.'.join(map(str, error.path))}: {error.message}"
    for owner, template in pods([item]):
        for container in template["spec"]["containers"] + template["spec"].get("initContainers", []):
            lacks = list(
                _lacks(
                    container,
                    template["spec"],
                    init=container not in template["spec"]["containers"],
                    one_off=owner["kind"] in ONE_OFF,
                )
            )
            if lacks:
                yield f"{name}: container {container['name']} lacks {', '.join(lacks)}"


def _lacks(container: dict, pod: dict, *, init: bool, one_off: bool) -> Iterator[str]:
    security = container.get("securityContext", {})
    ours = container["image"].startswith("registry.example/aisle:")
    if not pod.get("securityContext", {}).get("runAsNonRoot"):
        yield "runAsNonRoot"
    if ours and not security.get("readOnlyRootFilesystem"):
        yield "readOnlyRootFilesystem"
    if security.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation: false"
    if security.get("capabilities", {}).get("drop") != ["ALL"]:
        yield "capabilities drop ALL"
    if "memory" not in container.get("resources", {}).get("limits", {}):
        yield "a memory limit"
    if {"cpu", "memory"} - set(container.get("resources", {}).get("requests", {})):
        yield "requests"
    if ":" not in container["image"] or container["image"].endswith(":latest"):
        yield "a pinned image"
    if not (init or one_off) and "livenessProbe" not in container:
        yield "a liveness probe"
    if container.get("ports") and "readinessProbe" not in container:
        yield "a readiness probe"


def _reference_problems(objects: list[dict]) -> Iterator[str]:
    """Names that lead nowhere: ConfigMaps, Secrets, claims, the targets of HPA and PDB, the back ends of Ingress."""
    there = {_id(item) for item in objects}
    labels = [template["metadata"]["labels"] for _, template in pods(objects)]
    for owner, template in pods(objects):
        for wanted in _references(template["spec"]):
            if wanted not in there:
                yield f"{owner['kind']} {owner['metadata']['name']} names {' '.join(wanted)}, which is not there"
    for item in objects:
        name = f"{item['kind']} {item['metadata']['name']}"
        if item["kind"] == "HorizontalPodAutoscaler":
            target = item["spec"]["scaleTargetRef"]
            if (target["kind"], target["name"]) not in there:
                yield f"{name} scales {target['name']}, which is not there"
            if any(
                _id(other) == (target["kind"], target["name"]) and "replicas" in other["spec"]
                for other in objects
            ):
                yield f"{name} and the replicas of {target['name']} would undo each other"
        if item["kind"] in ("PodDisruptionBudget", "NetworkPolicy"):
            selector = item["spec"].get("selector") or item["spec"].get("podSelector")
            wanted = (selector or {}).get("matchLabels", {})
            if wanted and not any(wanted.items() <= given.items() for given in labels):
                yield f"{name} selects no pod"
        if item["kind"] == "Ingress":
            for rule in item["spec"]["rules"]:
                for path in rule["http"]["paths"]:
                    if ("Service", path["backend"]["service"]["name"]) not in there:
                        yield f"{name}: {path['path']} leads to no service"


def _id(item: dict) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _references(pod: dict) -> Iterator[tuple[str, str]]:
    for container in pod["containers"] + pod.get("initContainers", []):
        for source in container.get("envFrom", []):
            if "configMapRef" in source:
                yield "ConfigMap", source["configMapRef"]["name"]
            if "secretRef" in source:
                yield "Secret", source["secretRef"]["name"]
        for variable in container.get("env", []):
            if "secretKeyRef" in variable.get("valueFrom", {}):
                yield "Secret", variable["valueFrom"]["secretKeyRef"]["name"]
    for volume in pod.get("volumes", []):
        if "secret" in volume:
            yield "Secret", volume["secret"]["secretName"]
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"]
        if "persistentVolumeClaim" in volume:
            yield "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]
    if pod.get("serviceAccountName"):
        yield "ServiceAccount", pod["serviceAccountName"]
