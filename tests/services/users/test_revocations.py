"""Access tokens whose session has ended or whose owner has lost a role: powerless at once for staff's writes, soon for all else."""

import time
from collections.abc import Callable
from functools import partial

import pytest
from redis import Redis

from shared.settings import WebSettings, load
from tests.patience import patient
from tests.services.users.conftest import ADMIN, PASSWORD, Api, Person, log_in

SECONDS = 0.5


@pytest.fixture(scope="module")
def users_settings() -> dict[str, str]:
    return {"SESSION_CHECK_SECONDS": str(SECONDS)}


@pytest.fixture(scope="module")
def replica(users_url: str, service: Callable[..., str], users_settings: dict[str, str]) -> str:
    """A second users service on the same database."""
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100", **users_settings)


@pytest.fixture
def rogue(admin: Person, person: Callable[..., Person], nobody: Api) -> Person:
    """An admin whose token is live and who is about to lose the role."""
    email = person(name="Rogue").email
    assert admin.post("/v1/admin/staff", {"email": email, "roles": ["admin"]}).status_code == 200
    return log_in(nobody, email)


def at(base: str, who: Person) -> Person:
    """The same person, asking another replica."""
    return Person(base, who.token, {}, who.userid, who.email, who.refresh_token)


def writes_of(who: Person, victim: str, accomplice: str) -> dict[str, int]:
    """What each admin write of the users service answers, its restoring oneself and its adding an accomplice among them."""
    tries = {
        "restore oneself": ("PUT", f"/v1/admin/staff/{who.userid}", {"roles": ["admin"]}),
        "open oneself": ("DELETE", f"/v1/admin/users/{who.userid}/closure", None),
        "add an accomplice": ("POST", "/v1/admin/staff", {"email": accomplice, "roles": ["admin"]}),
        "dismiss": ("PUT", f"/v1/admin/staff/{victim}", {"roles": []}),
        "put into a group": ("PUT", f"/v1/admin/users/{victim}/group", {"group": "friends"}),
        "close": ("PUT", f"/v1/admin/users/{victim}/closure", {"reason": "revenge", "password": PASSWORD}),
        "note on": ("POST", f"/v1/admin/customers/{victim}/notes", {"text": "x"}),
        "send an e-mail": ("POST", f"/v1/admin/customers/{victim}/emails", {"kind": "new-password"}),
        "export": ("POST", f"/v1/admin/customers/{victim}/export", None),
        "import customers": ("POST", "/v1/admin/customers/import", {"email": accomplice}),
        "export customers": ("POST", "/v1/admin/customers/export", None),
        "look up": ("POST", "/v1/admin/users/lookup", {"email": accomplice}),
        "erase": ("DELETE", f"/v1/admin/users/{victim}", {"password": PASSWORD}),
    }
    return {name: who.call(*way[:2], json=way[2]).status_code for name, way in tries.items()}


def test_every_admin_write_of_the_api_is_among_those_tried(nobody: Api, rogue: Person) -> None:
    paths = nobody.get("/openapi.json").json()["paths"]
    declared = {
        (method, path)
        for path, methods in paths.items()
        if path.startswith("/v1/admin")
        for method in methods.keys() & {"post", "put", "patch", "delete"}
    }
    assert (
        len(declared) == len(writes_of(rogue, rogue.userid, rogue.email)) - 1
    )  # one path is tried on two people


@pytest.mark.parametrize("where", ["the same service", "a replica"])
@pytest.mark.parametrize(
    ("loss", "status"), [("role", 403), ("account", 401), ("session", 401), ("password", 401)]
)
def test_an_admin_without_the_role_or_the_session_changes_nothing_from_that_moment(
    admin: Person,
    rogue: Person,
    person: Callable[..., Person],
    nobody: Api,
    replica: str,
    where: str,
    loss: str,
    status: int,
) -> None:
    victim, accomplice = person(name="Victim"), person(name="Accomplice")
    elsewhere = at(replica if where == "a replica" else nobody.base, rogue)
    assert elsewhere.post("/v1/admin/users/lookup", {"email": accomplice.email}).status_code == 200
    if loss == "role":
        assert admin.put(f"/v1/admin/staff/{rogue.userid}", {"roles": []}).status_code == 200
    elif loss == "account":
        _close(admin, rogue)
    elif loss == "session":
        assert rogue.delete("/v1/sessions").status_code == 204
    else:
        change = {"password": "quite another evening", "current_password": PASSWORD}
        assert rogue.patch("/v1/users/me", change).status_code == 200
    assert set(writes_of(elsewhere, victim.userid, accomplice.email).values()) == {status}
    found = {each["email"] for each in admin.get("/v1/admin/staff").json()["items"]}
    assert accomplice.email not in found
    assert log_in(nobody, victim.email).userid == victim.userid, "nobody was closed or erased"
    if loss == "account":
        assert admin.delete(f"/v1/admin/users/{rogue.userid}/closure").status_code == 200
        assert set(writes_of(elsewhere, victim.userid, accomplice.email).values()) == {401}, (
            "old tokens stay dead"
        )
    admin.put(f"/v1/admin/staff/{rogue.userid}", {"roles": []})


def test_an_erased_admin_is_powerless_at_once(
    admin: Person, rogue: Person, person: Callable[..., Person], replica: str
) -> None:
    victim = person(name="Victim")
    assert rogue.delete("/v1/users/me", json={"current_password": PASSWORD}).status_code == 204
    assert set(writes_of(at(replica, rogue), victim.userid, victim.email).values()) == {401}


@pytest.mark.parametrize("where", ["the same service", "a replica"])
@pytest.mark.parametrize("end", ["log-out", "log-out everywhere", "password", "closure", "erasure"])
def test_an_ended_session_reads_nothing_any_more_though_redis_forgets(
    admin: Person,
    person: Callable[..., Person],
    nobody: Api,
    replica: str,
    redis_url: str,
    where: str,
    end: str,
) -> None:
    ann = person()
    elsewhere = at(replica if where == "a replica" else nobody.base, ann)
    look = partial(elsewhere.get, "/v1/users/me/basket")
    assert patient(look).status_code == 200
    ends = {
        "log-out": lambda: ann.delete("/v1/sessions"),
        "log-out everywhere": lambda: ann.delete("/v1/sessions?everywhere=true"),
        "password": lambda: ann.patch(
            "/v1/users/me", {"password": "quite another evening", "current_password": PASSWORD}
        ),
        "closure": lambda: _close(admin, ann),
        "erasure": lambda: ann.delete("/v1/users/me"),
    }
    assert ends[end]().status_code in (200, 204)
    Redis.from_url(redis_url).flushdb()
    within_the_bound(lambda: look().status_code == 401)
    Redis.from_url(redis_url).flushdb()
    time.sleep(4 * SECONDS)
    answer = patient(look)
    assert (answer.status_code, answer.json()["code"]) == (401, "session_ended")


def test_a_lost_role_reads_nothing_any_more_and_a_new_one_counts(
    admin: Person, rogue: Person, replica: str, nobody: Api
) -> None:
    elsewhere = at(replica, rogue)
    assert elsewhere.get("/v1/admin/staff").status_code == 200
    assert admin.put(f"/v1/admin/staff/{rogue.userid}", {"roles": []}).status_code == 200
    within_the_bound(lambda: elsewhere.get("/v1/admin/staff").status_code == 403)
    assert elsewhere.get("/v1/users/me").status_code == 200, "a customer's session goes on"
    assert admin.put(f"/v1/admin/staff/{rogue.userid}", {"roles": ["staff"]}).status_code == 200
    again = log_in(nobody, rogue.email)
    within_the_bound(lambda: again.get(f"/v1/admin/users/{rogue.userid}").status_code == 200)
    assert admin.put(f"/v1/admin/staff/{rogue.userid}", {"roles": []}).status_code == 200


def test_a_log_in_after_a_log_out_everywhere_is_a_session_of_its_own(
    person: Callable[..., Person], replica: str, nobody: Api
) -> None:
    ann = person()
    assert ann.delete("/v1/sessions?everywhere=true").status_code == 204
    again = log_in(nobody, ann.email)
    within_the_bound(lambda: ann.get("/v1/users/me/basket").status_code == 401)
    for base in (nobody.base, replica):
        assert at(base, again).get("/v1/users/me/basket").status_code == 200


def test_what_a_process_trusts_is_less_than_a_minute_old() -> None:
    """It asks what the users service knows, which is as old as that service's own question."""
    seconds = load(WebSettings, {"AISLE_ENV": "local"}).session_check_seconds
    assert 3 * seconds + 2.5 < 60


def within_the_bound(holds: Callable[[], bool]) -> None:
    """Four times as long as an answer is trusted, and generous: only that it happens is tested."""
    ends = time.monotonic() + 12 * SECONDS + 20
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.1)


def _close(admin: Person, who: Person):
    body = {"reason": "left", "password": ADMIN[1]}
    return admin.put(f"/v1/admin/users/{who.userid}/closure", body)
