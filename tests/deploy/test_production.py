"""Production names how it is paid and who delivers: what is forgotten or contradicts itself ends the start, not a sale."""

import subprocess
import sys
from pathlib import Path

import pytest

from deploy.signing_key import signing_key
from tests.deploy.compose import secrets, services
from tests.processes import ROOT

PROGRAMS = ("orders", "storefront", "worker", "schedule")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "jwt.pem"
    path.write_text(signing_key())
    return path


def start(name: str, key: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """The program of compose as far as its settings are read: what it prints and its exit code."""
    service = services(secrets())[name]
    env = {**service["environment"], "JWT_PRIVATE_KEY_FILE": str(key), **changed}
    program, *arguments = service["command"]
    if program == "gunicorn":
        command = [sys.executable, "-m", "gunicorn", *arguments, "--check-config"]
    else:
        command = [sys.executable, "-c", "import services.worker.app"]
    given = {variable: value for variable, value in env.items() if value != ""}
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_environment_of_compose_is_enough(name: str, key: Path) -> None:
    done = start(name, key)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("variable", ["PAYMENT_PROVIDERS", "COURIER"])
def test_a_forgotten_variable_ends_the_start(name: str, variable: str, key: Path) -> None:
    done = start(name, key, **{variable: ""})
    read = {"storefront": {"PAYMENT_PROVIDERS"}}.get(name, {"PAYMENT_PROVIDERS", "COURIER"})
    assert (done.returncode != 0) == (variable in read)
    assert (f"{variable} is not set" in done.stderr) == (variable in read)


@pytest.mark.parametrize(
    ("name", "changed", "says"),
    [
        ("orders", {"PAYMENT_PROVIDERS": "stripe"}, "STRIPE_API_KEY"),
        ("orders", {"PAYMENT_PROVIDERS": "cash"}, "PAYMENT_PROVIDERS is 'cash'"),
        ("orders", {"PAYMENT_PROVIDERS": " , "}, "PAYMENT_PROVIDERS"),
        ("orders", {"COURIER": "pigeon"}, "COURIER is 'pigeon'"),
        ("orders", {"DELIVERY_PER": "parcel"}, "DELIVERY_PER is 'parcel'"),
        ("orders", {"SMTP_URL": ""}, "SMTP_URL"),
        ("users", {"SMTP_URL": ""}, "SMTP_URL"),
        ("orders", {"COUCH_APIKEY": "a key"}, "COUCH_APIKEY"),
        ("products", {"COUCH_PASSWORD": ""}, "COUCH_PASSWORD"),
        ("storefront", {"PAYMENT_PROVIDERS": "stripe"}, "PAYMENT_PROVIDER is 'sandbox'"),
        ("storefront", {"PAYMENT_PROVIDER": "cash"}, "PAYMENT_PROVIDER is 'cash'"),
    ],
)
def test_what_contradicts_itself_ends_the_start(
    name: str, changed: dict[str, str], says: str, key: Path
) -> None:
    done = start(name, key, **changed)
    assert done.returncode != 0
    assert says in done.stderr


@pytest.mark.parametrize("name", ["orders", "storefront"])
def test_the_sandbox_in_production_is_warned_of(name: str, key: Path) -> None:
    warned = start(name, key).stdout
    assert '"level":"warning"' in warned
    assert "PAYMENT_PROVIDER" in warned
    three = {"PAYMENT_PROVIDERS": "stripe", "STRIPE_API_KEY": "sk_live", "STRIPE_WEBHOOK_SECRET": "whsec"}
    sold = {**three, "PAYMENT_PROVIDER": ""}
    assert "PAYMENT_PROVIDER" not in start(name, key, **sold, COURIER="manual").stdout


def test_the_sandbox_courier_in_production_is_warned_of(key: Path) -> None:
    assert "COURIER" in start("orders", key).stdout
    assert "COURIER" not in start("orders", key, COURIER="manual").stdout
