"""Both gateways, compose's and the Ingress, lead every path of every service to it, and the inside of none."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from deploy.signing_key import signing_key
from shared.settings import load
from tests.deploy.compose import secrets, services

ROOT = Path(__file__).resolve().parents[2]
INSIDE = ("/v1/internal/", "/health/", "/metrics")
OF_ONE_SERVICE = ("/docs", "/openapi.json", "/static/")
Routes = list[tuple[str, str, bool]]


def of_nginx() -> Routes:
    """(path, service or "", exact) of each location."""
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    found = re.findall(r"^        location (= )?(\S+) \{(.*?)\}", text, re.MULTILINE | re.DOTALL)
    return [
        (path, "".join(re.findall(r"proxy_pass http://(\w+);", body)), bool(exact))
        for exact, path, body in found
    ]


def of_ingress() -> Routes:
    documents = yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "base" / "ingress.yaml").read_text())
    paths = [
        path
        for item in documents
        if item["kind"] == "Ingress"
        for rule in item["spec"]["rules"]
        for path in rule["http"]["paths"]
    ]
    nowhere = {"nowhere": ""}
    names = [path["backend"]["service"]["name"] for path in paths]
    return [
        (path["path"], nowhere.get(name, name), path["pathType"] == "Exact")
        for path, name in zip(paths, names, strict=True)
    ]


def leads(routes: Routes, path: str) -> str:
    """The service that a path is led to: an exact location, else the longest prefix."""
    exact = [service for place, service, whole in routes if whole and place == path]
    prefixes = sorted(
        (len(place), service) for place, service, whole in routes if not whole and path.startswith(place)
    )
    return exact[0] if exact else prefixes[-1][1]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Every path of every service, with an example in each variable's place."""
    key = tmp_path_factory.mktemp("keys") / "jwt.pem"
    key.write_text(signing_key())
    return {name: list(_paths(name, key)) for name in ("users", "products", "orders", "storefront")}


def _paths(name: str, key: Path) -> Iterator[str]:
    given = services(secrets())[name]["environment"]
    env = {variable: str(value) for variable, value in given.items()} | {"JWT_PRIVATE_KEY_FILE": str(key)}
    settings = load(importlib.import_module(f"services.{name}.settings").Settings, env)
    app = importlib.import_module(f"services.{name}.app").create_app(settings)
    for rule in app.url_map.iter_rules():
        yield re.sub(r"<[^>]+>", "x", rule.rule)


@pytest.mark.parametrize("routes", [of_nginx(), of_ingress()], ids=["compose", "kubernetes"])
def test_every_path_finds_its_service(routes: Routes, paths: dict[str, list[str]]) -> None:
    for name, own in paths.items():
        outside = [path for path in own if not path.startswith((*INSIDE, *OF_ONE_SERVICE))]
        assert len(outside) > 5
        assert {path: leads(routes, path) for path in outside} == dict.fromkeys(outside, name)


IMPORTS = {
    "/v1/products/import",
    "/v1/admin/orders/import",
    "/v1/admin/customers/import",
    "/admin/customers/import",
    "/admin/import",
}


def test_compose_lets_imports_of_any_size_through() -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    unlimited = r"location (?:= )?(\S+) \{\s+client_max_body_size 0;\s+proxy_request_buffering off;"
    assert set(re.findall(unlimited, text)) == IMPORTS
    assert text.count("limit_conn imports 4;") == len(IMPORTS)


def test_kubernetes_lets_imports_of_any_size_through() -> None:
    documents = yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "base" / "ingress.yaml").read_text())
    imports = next(item for item in documents if item["metadata"]["name"] == "imports")
    assert imports["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-body-size"] == "0"
    assert {path["path"] for path in imports["spec"]["rules"][0]["http"]["paths"]} == IMPORTS


@pytest.mark.parametrize("path", ["/metrics", "/health/ready", "/health/live"])
@pytest.mark.parametrize("routes", [of_nginx(), of_ingress()], ids=["compose", "kubernetes"])
def test_health_and_metrics_lead_nowhere(routes: Routes, path: str) -> None:
    assert leads(routes, path) == ""


def test_what_services_ask_each_other_reaches_none_of_the_apis() -> None:
    assert leads(of_nginx(), "/v1/internal/users/x/checkout") == ""
    assert leads(of_ingress(), "/v1/internal/users/x/checkout") == "storefront"  # which has no such page
