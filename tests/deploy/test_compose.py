"""The walk of the README over docker-compose.yml's own commands and environment, through its gateway."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from deploy.checks.files import gateway_for
from deploy.local.redis_server import redis_server
from tests.collector import Collector
from tests.deploy.compose import Here, secrets, services
from tests.deploy.mailbox import Mailbox
from tests.processes import ROOT, Process, free_port, start_minicouch
from tests.services.storefront.visitor import Visitor

pytestmark = pytest.mark.deployment
HTTP = ("users", "products", "orders", "storefront")
PRODUCT = {
    "productid": "mug1",
    "taxonomy": ["Home", "Kitchen", "Mugs & Cups"],
    "keywords": ["mug"],
    "brand": "Fernlea",
    "name": "Fernlea Mug",
    "description": "A mug.",
    "colours": ["sage"],
    "price": {"amount": 900, "currency": "GBP"},
    "delivery": {"amount": 295, "currency": "GBP"},
    "image": "",
    "stock": 5,
}


class Compose:
    """`docker compose up` in processes; health checks and start order are the file's."""

    def __init__(self, folder: Path, couch_url: str, couch_password: str, mail: Mailbox, traces: str) -> None:
        self.env = {**secrets(), "COUCH_PASSWORD": couch_password, "OTEL_EXPORTER_OTLP_ENDPOINT": traces}
        self.services = services(self.env)
        self.ports = {name: free_port() for name in (*HTTP, "redis", "gateway")}
        self.folder, self.running, self.couch_url = folder, {}, couch_url
        server = urlsplit(couch_url)
        self.here = Here(
            folder,
            {
                **{f"{name}:8000": f"127.0.0.1:{self.ports[name]}" for name in HTTP},
                "couchdb:5984": f"{server.hostname}:{server.port}",
                "redis:6379": f"127.0.0.1:{self.ports['redis']}",
                "mail:1025": f"127.0.0.1:{mail.server_address[1]}",
                "localhost:8080": f"127.0.0.1:{self.ports['gateway']}",
            },
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['gateway']}"

    def environment(self, name: str) -> dict[str, str]:
        own = {"BIND": f"127.0.0.1:{self.ports[name]}"} if name in HTTP else {}
        if "HEARTBEAT_FILE" in (self.services[name].get("environment") or {}):
            own["HEARTBEAT_FILE"] = str(
                self.folder / f"{name}.heartbeat"
            )  # each container has a /tmp of its own
        return self.here.environment(self.services[name], **own)

    def run_once(self, name: str) -> None:
        command = self.here.command(self.services[name])
        subprocess.run(
            command, cwd=ROOT, env=self.environment(name), check=True, capture_output=True, timeout=60
        )

    def start(self, name: str, command: list[str] | None = None) -> None:
        env = self.environment(name)
        command = [
            "env",
            "-i",
            *(f"{key}={value}" for key, value in env.items()),
            *(command or self.here.command(self.services[name])),
        ]
        self.running[name] = Process(name, command, self.folder / f"{name}.log")

    def wait_healthy(self, name: str) -> None:
        """As the image's HEALTHCHECK says it."""
        self.running[name].wait_until(lambda: self.healthy(name))

    def healthy(self, name: str) -> bool:
        check = [sys.executable, "-m", "deploy.health"]
        return (
            subprocess.run(check, cwd=ROOT, env=self.environment(name), capture_output=True).returncode == 0
        )

    def start_redis(self) -> None:
        shell, flag, script = self.here.command(self.services["redis"])
        local = f"{script} --port {self.ports['redis']} --bind 127.0.0.1 --dir {self.here.folders['/data']}"
        self.start("redis", [shell, flag, local.replace("redis-server", redis_server(), 1)])

    def start_gateway(self) -> None:
        conf = self.folder / "nginx.conf"
        text = gateway_for({name: f"127.0.0.1:{self.ports[name]}" for name in HTTP})
        text = text.replace("listen 8080", f"listen 127.0.0.1:{self.ports['gateway']}").replace(
            "/tmp/", f"{self.here.folders['/tmp']}/"
        )
        conf.write_text(text)
        self.start("gateway", ["nginx", "-e", "/dev/stderr", "-g", "daemon off;", "-c", str(conf)])
        self.running["gateway"].wait_until(lambda: answers(f"{self.url}/gateway/health"))


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).status_code == 200
    except requests.RequestException:
        return False


def until(found: Callable[[], object], seconds: float = 60) -> object:
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "nothing in time"
        time.sleep(0.2)
    return value


@pytest.fixture(scope="module")
def mail() -> Iterator[Mailbox]:
    with Mailbox() as mailbox:
        yield mailbox
        mailbox.shutdown()


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.server.shutdown()


@pytest.fixture(scope="module")
def told() -> set[str]:
    """What customers told the shop: no log line and no span may hold it."""
    return {"4242424242424242", "4242 4242", "hidden lane", "quillfeather"}


@pytest.fixture(scope="module")
def compose(
    tmp_path_factory: pytest.TempPathFactory, mail: Mailbox, collector: Collector
) -> Iterator[Compose]:
    if shutil.which("nginx") is None:
        pytest.fail("nginx is not here: install it (apt install nginx-light)")
    folder = tmp_path_factory.mktemp("compose")
    password = secrets()["COUCH_PASSWORD"]
    couch, url = start_minicouch(folder / "couch", "--admin", f"aisle:{password}")
    compose = Compose(folder, url, password, mail, collector.url)
    compose.start_redis()
    compose.run_once("keys")
    compose.run_once("prepare")
    for name in ("users", "products", "orders", "worker", "schedule", "follower"):
        compose.start(name)
    for name in ("users", "products", "orders"):
        compose.wait_healthy(name)
    compose.start("storefront")
    compose.wait_healthy("storefront")
    compose.start_gateway()
    yield compose
    for process in reversed(compose.running.values()):
        if process.popen.poll() is None:
            process.kill()
    couch.stop()


def log_in(compose: Compose, email: str, password: str) -> dict[str, str]:
    answer = requests.post(f"{compose.url}/v1/sessions", json={"email": email, "password": password})
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


@pytest.fixture(scope="module")
def admin(compose: Compose) -> dict[str, str]:
    """The first admin, made as the README says."""
    command = [sys.executable, "-m", "services.users", "create-admin"]
    env = {
        **compose.environment("users"),
        "ADMIN_EMAIL": "keeper@example.com",
        "ADMIN_PASSWORD_FILE": "/dev/stdin",
    }
    made = subprocess.run(
        command, cwd=ROOT, env=env, input="the keeper's long password", text=True, capture_output=True
    )
    assert made.returncode == 0, made.stderr
    return log_in(compose, "keeper@example.com", "the keeper's long password")


def test_the_walk_through_the_gateway(
    compose: Compose, mail: Mailbox, admin: dict[str, str], told: set[str]
) -> None:
    url = compose.url
    done = requests.post(
        f"{url}/v1/products/import", json=PRODUCT, headers={**admin, "Content-Type": "application/x-ndjson"}
    )
    assert done.json()["created"] == 1, done.text
    account = {"name": "Ada Quillfeather", "email": "ada@example.com", "password": "a long quiet evening"}
    assert requests.post(f"{url}/v1/users", json=account).status_code == 201
    email = until(lambda: next((email for email in mail.emails if "token=" in email), None))
    link = re.search(r"http://\S+\?token=([\w.-]+)", email)
    assert link[0].startswith(f"{url}/")
    assert requests.post(f"{url}/v1/users/verify", json={"token": link[1]}).status_code == 200
    ada = log_in(compose, account["email"], account["password"])
    page = requests.get(f"{url}/v1/products", params={"category": "Home#Kitchen#Mugs & Cups"}).json()
    assert [item["productid"] for item in page["items"]] == ["mug1"]
    basket = {
        "items": [{"productid": "mug1", "quantity": 2}],
        "payment": {"provider": "sandbox", "token": "tok_ok"},
        "address": {"name": "Ada Quillfeather", "address": "1 Hidden Lane"},
    }
    order = requests.post(f"{url}/v1/orders", json=basket, headers={**ada, "Idempotency-Key": "one"})
    assert order.status_code == 201, order.text
    where = f"{url}/v1/orders/{order.json()['orderid']}"
    until(lambda: requests.get(where, headers=ada).json()["status"] == "delivered")
    report = requests.get(f"{url}/v1/admin/reports/sales", params={"by": "total"}, headers=admin).json()
    assert report["rows"][0]["orders"] == 1
    assert until(lambda: [email for email in mail.emails if "has arrived" in email])
    told |= {
        account["email"],
        account["password"],
        link[1],
        ada["Authorization"][7:],
        ada["Authorization"][7:60],
    }


def test_the_archive_is_a_folder_of_the_service_and_the_worker(
    compose: Compose, admin: dict[str, str]
) -> None:
    year = str(datetime.now(UTC).year - 1)
    archives = f"{compose.url}/v1/admin/archives"
    begun = requests.post(f"{archives}/{year}", json={"act": "save"}, headers=admin)
    assert begun.status_code == 202, begun.text
    until(lambda: requests.get(archives, headers=admin).json()["items"][0]["last"]["state"] == "done")


def test_the_pages_through_the_gateway(compose: Compose) -> None:
    visitor = Visitor(compose.url)
    assert "Fernlea Mug" in visitor.get("/product/mug1").text
    visitor.get("/login")
    visitor.submit("/login", email="ada@example.com", password="a long quiet evening")
    order = next(href for href, _ in visitor.get("/orders").links if href.startswith("/orders/"))
    assert "1 Hidden Lane" in visitor.get(order).text


def test_a_card_number_is_refused_and_kept_nowhere(compose: Compose) -> None:
    ada = log_in(compose, "ada@example.com", "a long quiet evening")
    card = {"provider": "stripe", "reference": "4242 4242 4242 4242"}
    kept = requests.post(f"{compose.url}/v1/users/me/payment-methods", json=card, headers=ada)
    basket = {
        "items": [{"productid": "mug1", "quantity": 1}],
        "address": {"name": "a", "address": "b"},
        "payment": {"provider": "sandbox", "token": "4242424242424242"},
    }
    paid = requests.post(
        f"{compose.url}/v1/orders", json=basket, headers={**ada, "Idempotency-Key": "one-card"}
    )
    assert (kept.status_code, paid.status_code) == (422, 402)
    account = "aisle", compose.env["COUCH_PASSWORD"]
    for name in ("users", "orders"):
        documents = requests.get(
            f"{compose.couch_url}/{name}/_all_docs", params={"include_docs": "true"}, auth=account
        ).text
        assert len(documents) > 1000
        assert "42424242" not in documents.replace(" ", "")


@pytest.mark.parametrize(
    "path", ["/metrics", "/health/ready", "/health/live", "/v1/internal/users/x/checkout"]
)
def test_the_gateway_keeps_the_inside_inside(compose: Compose, path: str) -> None:
    answer = requests.get(
        f"{compose.url}{path}", headers={"Authorization": f"Service {compose.env['SERVICE_SECRET']}"}
    )
    assert answer.status_code == 404


def test_who_works_without_http_is_healthy_too(compose: Compose) -> None:
    for name in ("worker", "follower"):
        until(lambda name=name: compose.healthy(name), 30)


def test_all_leave_when_asked_within_the_files_grace(compose: Compose, admin: dict[str, str]) -> None:
    names = ("storefront", "users", "products", "orders", "worker", "schedule", "follower")
    for name in names:
        grace = float(compose.services[name]["stop_grace_period"].removesuffix("s"))
        process = compose.running[name]
        process.popen.terminate()
        assert process.popen.wait(grace) == 0, (name, process.log.read_text()[-2000:])


def test_no_log_line_tells_what_customers_told(compose: Compose, told: set[str]) -> None:
    """All that ran has ended, so its logs are whole."""
    for process in compose.running.values():
        text = process.log.read_text().lower()
        assert [word for word in told if word.lower() in text] == [], process.name
    for name in (*HTTP, "worker", "follower"):
        _, _, text = compose.running[name].log.read_text().partition("\n{")  # Celery warns of root here
        others = [line for line in text.splitlines()[1:] if line and not line.startswith('{"')]
        assert [line for line in others if "Warm shutdown" not in line] == [], name
    assert '"orderid":' in compose.running["orders"].log.read_text()


def test_no_span_tells_what_customers_told(collector: Collector, told: set[str]) -> None:
    assert [word for word in told if word.lower() in collector.raw.decode("latin-1").lower()] == []


def test_traces_run_from_the_page_to_the_database_and_through_the_changes_to_the_jobs(
    collector: Collector,
) -> None:
    page, checkout = ("storefront", "GET /product/<productid>"), ("orders", "POST /v1/orders")
    change, job = ("follower", "change"), ("worker", "job orders.advance")
    for service, call, above in (
        ("products", "couchdb global", [page]),
        ("worker", "couchdb write", [job, change, checkout]),
    ):
        assert any(
            above == [each for each in collector.ancestors(span) if each in above]
            for name, span in collector.spans
            if (name, span.name) == (service, call)
        ), (above, sorted({(name, span.name) for name, span in collector.spans}))
