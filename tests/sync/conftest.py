"""A users service with goods beside it, people, and devices of theirs that run PouchDB."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN
from tests.processes import Process, free_port, start_service
from tests.services.users.conftest import Api, Person, admin, create_admin, database, mail, person
from tests.services.users.test_basket import sell
from tests.sync.devices import Device, missing

__all__ = ["admin", "create_admin", "database", "mail", "person"]
GOODS = 40


@pytest.fixture(autouse=True)
def _needs_node() -> None:
    if reason := missing():
        pytest.skip(reason)


class RunningService:
    """The users service, which may be killed and started again at the same address."""

    def __init__(self, log: Path, env: dict[str, str]) -> None:
        self._log, self._env = log, env
        self.port = int(env["USERS_URL"].rpartition(":")[2])
        self.process: Process
        self.start()

    def start(self) -> None:
        self.process, self.url = start_service("users", self._log, self._env, self.port)

    def kill(self) -> None:
        self.process.kill()


@pytest.fixture(scope="module")
def users(prepared, service, environment, tmp_path_factory) -> Iterator[RunningService]:
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    environment |= {"ARGON2_MEMORY_KIB": "64", "ARGON2_PASSES": "1", "MAILS_PER_HOUR": "1000"}
    prepared(DESIGN, PRODUCTS)
    service("products")
    running = RunningService(tmp_path_factory.mktemp("users") / "log", environment)
    yield running
    running.process.stop()


@pytest.fixture(scope="module")
def users_url(users: RunningService) -> str:
    return users.url


@pytest.fixture(scope="module")
def goods(admin: Person, environment: dict[str, str]) -> list[str]:
    """Products that anybody may buy."""
    products = Api(environment["PRODUCTS_URL"], admin.token)
    names = [f"kept-{number:02}" for number in range(GOODS)]
    for name in names:
        sell(products, name)
    return names


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Callable[..., Device]]:
    """device(person) is a device of theirs with nothing on it yet."""
    made: list[Device] = []

    def make(owner: Person) -> Device:
        made.append(Device(tmp_path / f"device{len(made)}", f"{owner.base}/v1/users/me/sync", owner.token))
        return made[-1]

    yield make
    for each in made:
        each.close()
