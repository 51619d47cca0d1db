"""The readiness probe of the nodes of CouchDB: who is cut off from the others is not ready, though `/_up` says so.

export COUCH_URLS="http://name:password@HOST:PORT1 http://name:password@HOST:PORT2 http://name:password@HOST:PORT3"
.venv/bin/python -m pytest tests/deploy/test_readiness.py
"""

import os
import subprocess
import threading
from urllib.parse import unquote, urlsplit

import orjson
import pytest
import yaml

from tests.forwarding import Forward, Response, forwarding
from tests.processes import ROOT

OVERLAY = ROOT / "deploy" / "kubernetes" / "overlays" / "couchdb"
JSON = {"Content-Type": "application/json"}
NODES = ["couchdb@node1", "couchdb@node2", "couchdb@node3"]


def probed(url: str) -> subprocess.CompletedProcess[str]:
    parts = urlsplit(url)
    environment = {
        **os.environ,
        "COUCHDB_USER": unquote(parts.username or ""),
        "COUCHDB_PASSWORD": unquote(parts.password or ""),
    }
    command = ["sh", str(OVERLAY / "ready.sh"), f"http://{parts.hostname}:{parts.port}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_every_node_that_is_joined_is_ready(couch_url: str) -> None:
    for url in os.environ.get("COUCH_URLS", couch_url).split():
        ready = probed(url)
        assert ready.returncode == 0, ready.stdout + ready.stderr


def test_credentials_that_the_node_refuses_are_no_readiness(couch_url: str) -> None:
    parts = urlsplit(couch_url)
    ready = probed(f"http://nobody:wrong@{parts.hostname}:{parts.port}")
    assert (ready.returncode, ready.stdout.strip()) == (1, "no answer to /_membership")


@pytest.mark.parametrize(("reached", "code"), [(3, 0), (2, 0), (1, 1)])
def test_a_node_is_ready_that_reaches_most_of_its_cluster(couch_url: str, reached: int, code: int) -> None:
    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        if path == "/_membership":
            return 200, JSON, orjson.dumps({"all_nodes": NODES[:reached], "cluster_nodes": NODES})
        return forward()

    with forwarding(couch_url, answer) as url:
        ready = probed(url)
    assert ready.returncode == code, ready.stdout + ready.stderr
    assert code == 0 or ready.stdout == "reaches 1 of 3 nodes\n"


def test_a_node_that_was_just_cut_off_is_not_ready_before_it_knows(couch_url: str) -> None:
    """It still counts all three, and waits for a copy that never comes."""
    closed = threading.Event()

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        if path.startswith("/_users/"):
            closed.wait(30)
        return forward()

    with forwarding(couch_url, answer) as url:
        ready = probed(url)
        closed.set()
    assert (ready.returncode, ready.stdout) == (1, "a read of several copies is not answered\n")


def test_pods_are_asked_by_it() -> None:
    documents = yaml.safe_load_all((OVERLAY / "couchdb.yaml").read_text())
    nodes = next(each for each in documents if each["kind"] == "StatefulSet")
    (container,) = nodes["spec"]["template"]["spec"]["containers"]
    shell, path = container["readinessProbe"]["exec"]["command"]
    mounted = {each["mountPath"]: each.get("subPath") for each in container["volumeMounts"]}
    assert (shell, mounted[path]) == ("sh", "ready.sh")
    generated = yaml.safe_load((OVERLAY / "kustomization.yaml").read_text())["configMapGenerator"]
    assert "ready.sh" in next(each for each in generated if each["name"] == "couchdb")["files"]
