"""SIGKILL to the users service in the middle of a push, aimed at each of its writes: before and after the documents, before and after what is told."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import pytest
import requests

from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN
from tests.forwarding import Forward, Response, forwarding
from tests.processes import Process, free_port, start_service
from tests.services.users.sync_devices import (
    ADDRESS,
    SYNC,
    basket,
    edited,
    goods,
    line,
    made,
    products,
    pull,
    push,
)

__all__ = ["goods", "products"]

MOMENTS = ("before documents", "after documents", "before told", "after told")


@dataclass
class Service:
    """The users service behind a database that tells when a push comes to `aim`."""

    log: Path
    env: dict[str, str]
    aim: str = ""
    hit: str = ""
    process: Process | None = None

    def start(self) -> None:
        port = int(self.env["USERS_URL"].rpartition(":")[2])
        self.process, _ = start_service("users", self.log, self.env, port)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        step = "told" if method in ("PUT", "POST") and _is_told(path, body) else ""
        step = step or ("documents" if path.partition("?")[0].endswith("/_bulk_docs") else "")
        if step and self.aim == f"before {step}":
            self._kill()
        found = forward()
        if step and self.aim == f"after {step}":
            self._kill()
        return found

    def _kill(self) -> None:
        assert self.process is not None
        self.hit, self.aim = self.aim, ""
        self.process.kill()
        raise requests.ConnectionError("its client is dead")


def _is_told(path: str, body: bytes) -> bool:
    return unquote(path.partition("?")[0]).endswith(":sync") or b'"type":"syncstate"' in body


@pytest.fixture(scope="module")
def users(prepared, service, environment, tmp_path_factory) -> Iterator[Service]:
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS)
    service("products")
    running = Service(tmp_path_factory.mktemp("users") / "log", dict(environment))
    with forwarding(environment["COUCH_URL"], running.answer) as url:
        cheap = {"ARGON2_MEMORY_KIB": "64", "ARGON2_PASSES": "1", "MAILS_PER_HOUR": "100", "WEB_WORKERS": "1"}
        running.env |= {**cheap, "COUCH_URL": url}
        running.start()
        yield running
        assert running.process is not None
        running.process.stop()


@pytest.fixture(scope="module")
def users_url(users: Service) -> str:
    return users.env["USERS_URL"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_push_that_is_killed_there_and_sent_again_loses_and_doubles_nothing(users, person, goods, moment):
    ann = person(name="Ann")
    (first, _), (one, two, three, four, *_) = pull(ann), goods
    profile = next(doc for doc in first if doc["_id"] == "profile")
    lines = [made(f"basket-{name}", type="basketline", productid=name, quantity=9) for name in (three, four)]
    assert push(ann, *lines) == []
    fewer, gone = (line(ann, name) for name in (three, four))
    sent = [
        edited(profile, name="Ann Doe"),
        made(f"basket-{one}", type="basketline", productid=one, quantity=2),
        made(f"basket-{two}", type="basketline", productid=two, quantity=3),
        made("deliveryphone001", type="userdelivery", default=True, **ADDRESS),
        made(f"wish-{one}", type="wish", productid=one),
        edited(fewer, quantity=4),
        edited(gone, _deleted=True),
    ]
    users.aim = moment
    sending = Thread(target=_push_in_vain, args=(ann, sent))
    sending.start()
    sending.join(60)
    assert users.hit == moment, "it was killed there"
    users.hit = ""
    users.start()
    for _ in range(2):  # the device heard nothing, and asks for what it had sent
        answer = push(ann, *sent)
        assert answer == []
    assert basket(ann) == {one: 2, two: 3, three: 4}
    assert [each["name"] for each in ann.get("/v1/users/me/addresses").json()["items"]] == ["Ann Doe"]
    assert [each["productid"] for each in ann.get("/v1/users/me/wishes").json()["items"]] == [one]
    assert ann.get("/v1/users/me").json()["name"] == "Ann Doe"
    found, _ = pull(ann)
    alive = [doc for doc in found if not doc.get("_deleted")]
    assert len({doc["_id"] for doc in alive}) == len(alive), "a device is told one version of each"
    assert {doc["_id"] for doc in alive if doc["_id"] != "preferences"} == {doc["_id"] for doc in sent[:-1]}
    known = {rev for doc in found for rev in revisions_of(doc)}
    assert {doc["_rev"] for doc in sent} <= known, "and that its own has arrived"
    since = ann.get(f"{SYNC}/_changes").json()["last_seq"]
    assert push(ann, *sent) == []
    assert ann.get(f"{SYNC}/_changes", params={"since": since}).json()["results"] == []


def revisions_of(doc) -> Iterator[str]:
    start, ids = doc["_revisions"]["start"], doc["_revisions"]["ids"]
    return (f"{start - place}-{each}" for place, each in enumerate(ids))


def _push_in_vain(person, docs) -> None:
    with contextlib.suppress(requests.RequestException):
        person.post(f"{SYNC}/_bulk_docs", {"docs": docs, "new_edits": False})
