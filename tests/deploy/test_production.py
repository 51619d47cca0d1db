"""Production names how it is paid and who delivers: what is forgotten or contradicts itself ends the start, not a sale."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.signing_key import signing_key
from tests.deploy.compose import secrets, services
from tests.forking import fork_server

PROGRAMS = ("orders", "storefront", "worker", "schedule")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "jwt.pem"
    path.write_text(signing_key())
    return path


@dataclass(frozen=True)
class Ended:
    """A program that has ended: its exit code and all that it wrote."""

    code: int
    said: str


@pytest.fixture(scope="module")
def start(key: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ended]:
    """start("orders", COURIER="pigeon"): the program of compose as far as its settings are read, with nothing else of this environment."""
    logs = tmp_path_factory.mktemp("started")

    def run(name: str, **changed: str) -> Ended:
        service = services(secrets())[name]
        env = {**service["environment"], "JWT_PRIVATE_KEY_FILE": str(key), **changed}
        program, *arguments = service["command"]
        command = ["python", "-m", "services.worker.app"]
        if program == "gunicorn":
            command = ["python", "-m", "gunicorn", *arguments, "--check-config"]
        given = {variable: value for variable, value in env.items() if value != ""}
        with tempfile.TemporaryFile(dir=logs) as output:
            code = fork_server({}).start(command, given, output.fileno()).wait(60)
            output.seek(0)
            return Ended(code, output.read().decode())

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_environment_of_compose_is_enough(name: str, start: Callable[..., Ended]) -> None:
    done = start(name)
    assert done.code == 0, done.said


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("variable", ["PAYMENT_PROVIDERS", "COURIER"])
def test_a_forgotten_variable_ends_the_start(name: str, variable: str, start: Callable[..., Ended]) -> None:
    done = start(name, **{variable: ""})
    read = {"storefront": {"PAYMENT_PROVIDERS"}}.get(name, {"PAYMENT_PROVIDERS", "COURIER"})
    assert (done.code != 0) == (variable in read)
    assert (f"{variable} is not set" in done.said) == (variable in read)


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
    name: str, changed: dict[str, str], says: str, start: Callable[..., Ended]
) -> None:
    done = start(name, **changed)
    assert done.code != 0
    assert says in done.said


@pytest.mark.parametrize("name", ["orders", "storefront"])
def test_the_sandbox_in_production_is_warned_of(name: str, start: Callable[..., Ended]) -> None:
    warned = start(name).said
    assert '"level":"warning"' in warned
    assert "PAYMENT_PROVIDER" in warned
    three = {"PAYMENT_PROVIDERS": "stripe", "STRIPE_API_KEY": "sk_live", "STRIPE_WEBHOOK_SECRET": "whsec"}
    sold = {**three, "PAYMENT_PROVIDER": ""}
    assert "PAYMENT_PROVIDER" not in start(name, **sold, COURIER="manual").said


def test_the_sandbox_courier_in_production_is_warned_of(start: Callable[..., Ended]) -> None:
    assert "COURIER" in start("orders").said
    assert "COURIER" not in start("orders", COURIER="manual").said
