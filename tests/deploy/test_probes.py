"""What the probes of the manifests find in the running shop while its database or Redis is away.

What is away is away for every pod: one that is taken out for it, or started again, mends nothing. A Service whose pods are all out has the gateway
answer instead of the shop, which says when to come again, and sells without Redis. So only a new pod waits until all that it needs has answered.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from deploy.checks.kubernetes import pods
from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN as USERS
from tests.processes import ROOT, Process, free_port, start_redis, start_service
from tests.services.orders.conftest import until
from tests.services.worker.test_bad_days import Stores, couch_url, redis_url, stores

__all__ = ["couch_url", "redis_url", "stores"]

pytestmark = pytest.mark.faults
BASE = ROOT / "deploy" / "kubernetes" / "base"
HTTP = ("users", "products", "orders", "storefront")
WORK = ("worker", "schedule", "follower")
MENU = "/v1/categories"
PAUSE = 5
"""Seconds of the grace that the hook before the stop takes."""


@dataclass
class Pod:
    """A container of the manifests as a process of this machine."""

    template: dict[str, Any]
    process: Process
    url: str = ""
    heartbeat: Path = Path()

    @property
    def container(self) -> dict[str, Any]:
        return self.template["containers"][0]

    def passes(self, kind: str) -> bool:
        """As the kubelet finds it; a machine that others use has more time."""
        probe = self.container[kind]
        if "httpGet" in probe:
            return requests.get(f"{self.url}{probe['httpGet']['path']}", timeout=30).status_code < 400
        command = [sys.executable, *probe["exec"]["command"][1:]]
        environment = {**os.environ, "HEARTBEAT_FILE": str(self.heartbeat)}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode == 0

    def lives_on(self) -> bool:
        """Whether the sign of life is given again."""
        long_ago = time.time() - 3600
        os.utime(self.heartbeat, (long_ago, long_ago))
        return bool(until(lambda: self.passes("livenessProbe"), 30))


@pytest.fixture(scope="module")
def templates() -> dict[str, dict[str, Any]]:
    """The pods of the manifests, by the name of their Deployment."""
    objects = [item for file in BASE.glob("*.yaml") for item in yaml.safe_load_all(file.read_text()) if item]
    return {
        owner["metadata"]["name"]: template["spec"]
        for owner, template in pods([item for item in objects if item["kind"] == "Deployment"])
    }


@pytest.fixture(scope="module")
def running(
    prepared: Callable[..., None],
    environment: dict[str, str],
    templates: dict[str, dict[str, Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Pod]]:
    prepared(USERS, PRODUCTS, DESIGN, SANDBOX_LEDGER)
    folder, ports = tmp_path_factory.mktemp("pods"), {name: free_port() for name in HTTP}
    env = environment | {f"{name.upper()}_URL": f"http://127.0.0.1:{port}" for name, port in ports.items()}
    found = {}
    for name in HTTP:
        process, url = start_service(name, folder / f"{name}.log", env, port=ports[name])
        found[name] = Pod(templates[name], process, url)
    for name in WORK:
        program, *arguments = templates[name]["containers"][0]["command"]
        command = [sys.executable, *(["-m", program] if program != "python" else []), *arguments]
        heartbeat = folder / f"{name}.heartbeat"
        started = Process(name, command, folder / f"{name}.log", env | {"HEARTBEAT_FILE": str(heartbeat)})
        found[name] = Pod(templates[name], started, heartbeat=heartbeat)
    yield found
    for pod in found.values():
        if pod.process.popen.poll() is None:
            pod.process.kill()


def all_is_well(running: dict[str, Pod]) -> bool:
    return all(
        pod.passes(kind) for pod in running.values() for kind in pod.container if kind.endswith("Probe")
    )


def test_every_probe_passes_while_all_is_there(running: dict[str, Pod]) -> None:
    assert running.keys() == {"users", "products", "orders", "storefront", "worker", "schedule", "follower"}
    until(lambda: all_is_well(running))


def test_the_database_away_takes_no_pod_out(running: dict[str, Pod], stores: Stores) -> None:
    until(lambda: all_is_well(running))
    stores.couch.kill()
    try:
        until(lambda: not running["products"].passes("startupProbe"))
        stay_and_let_none_in(running, waiting=("users", "products", "orders"))
        answer = requests.get(f"{running['products'].url}{MENU}?depth=9", timeout=30)
        assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
    finally:
        stores.restart_couch()
    until(lambda: all_is_well(running))


def test_redis_away_takes_no_pod_out(running: dict[str, Pod], stores: Stores) -> None:
    """Celery gives no sign of life while it waits for Redis: the worker was started again, and again, and waited longer each time."""
    until(lambda: all_is_well(running))
    stores.redis.kill()
    try:
        until(lambda: not running["products"].passes("startupProbe"))
        stay_and_let_none_in(running, waiting=HTTP)
        assert requests.get(f"{running['products'].url}{MENU}", timeout=30).status_code == 200
    finally:
        stores.restart_redis()
    until(lambda: all_is_well(running))


def stay_and_let_none_in(running: dict[str, Pod], waiting: tuple[str, ...]) -> None:
    for name in HTTP:
        assert running[name].passes("readinessProbe"), name
        assert running[name].passes("livenessProbe"), name
    for name in waiting:
        assert not running[name].passes("startupProbe"), f"a new pod of {name} would be let in"
    for name in WORK:
        assert running[name].lives_on(), name


@pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not here")
def test_a_redis_that_takes_no_command_is_not_ready(tmp_path: Path) -> None:
    """redis-cli ends with 0 whatever Redis answers (it wants a password, it still reads its file), unless it is told not to."""
    [(_, template)] = pods(list(yaml.safe_load_all((BASE / "redis.yaml").read_text())))
    container = template["spec"]["containers"][0]
    check = container["readinessProbe"]["exec"]["command"]
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["redis"]["healthcheck"]
    assert check == container["startupProbe"]["exec"]["command"] == compose["test"][1:]
    redis, url = start_redis(tmp_path, "--requirepass", "right")
    command = [check[0], "-u", url, *check[1:]]
    try:
        codes = {
            password: subprocess.run(command, env={**os.environ, "REDISCLI_AUTH": password}).returncode
            for password in ("right", "wrong")
        }
    finally:
        redis.kill()
    assert codes == {"right": 0, "wrong": 1}


def test_all_leave_in_the_time_that_is_left_to_them_without_redis_too(
    running: dict[str, Pod], stores: Stores
) -> None:
    until(lambda: all_is_well(running))
    stores.redis.kill()
    until(lambda: not running["products"].passes("startupProbe"))
    for pod in running.values():
        pod.process.ask_to_stop()
    for name, pod in running.items():
        left = pod.template["terminationGracePeriodSeconds"] - (PAUSE if "lifecycle" in pod.container else 0)
        assert pod.process.popen.wait(left) == 0, name
