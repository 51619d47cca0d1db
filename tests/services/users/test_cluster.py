"""On a cluster a 409 is no lock: services that write through three nodes still make one account of one e-mail.

COUCH_URLS names the nodes, separated by spaces; without it there is nothing to prove here.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.users.actions.conflicts import settle_conflicts
from services.users.documents import DESIGN, claim_id, user_partition
from tests.patience import patient
from tests.services.users.conftest import Api, log_in

NODES = os.environ.get("COUCH_URLS", "").split()

pytestmark = [pytest.mark.faults, pytest.mark.skipif(len(NODES) < 2, reason="COUCH_URLS names no cluster")]


@pytest.fixture(scope="module")
def couch_url() -> str:
    return NODES[0]


@pytest.fixture(scope="module")
def apis(prepared, service) -> list[Api]:
    """One users service at each node."""
    prepared(DESIGN)
    cheap = {"ARGON2_MEMORY_KIB": "64", "ARGON2_PASSES": "1", "MAILS_PER_HOUR": "1000", "ACCESS_LOG": "false"}
    return [Api(service("users", COUCH_URL=node, **cheap)) for node in NODES]


@pytest.fixture(scope="module")
def users_url(apis) -> str:
    return apis[0].base


@pytest.mark.parametrize("_round", range(5))
def test_racing_registrations_at_every_node_are_one_account(apis, email, database, deps, mail, _round):
    def register(number: int):
        body = {"name": "Ann", "email": email, "password": f"a long quiet evening {number}"}
        return apis[number % len(apis)].post("/v1/users", body)

    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(register, range(99)))
    assert {answer.status_code for answer in answers} <= {201, 409, 503}, [each.text for each in answers]
    made = [number for number, answer in enumerate(answers) if answer.status_code == 201]
    assert len({answers[number].json()["userid"] for number in made}) == 1
    settle_conflicts(deps)
    claim = database.get(claim_id(email), conflicts=True)
    userid = answers[made[0]].json()["userid"]
    assert (claim["userid"], "_conflicts" in claim) == (userid, False)
    auth = database.partition(user_partition(userid)).all("auth", conflicts=True)
    assert ["_conflicts" in doc for doc in auth] == [False]
    token = {"token": mail(email)}
    assert patient(lambda: apis[1].post("/v1/users/verify", token)).status_code == 200
    passwords = [{"email": email, "password": f"a long quiet evening {number}"} for number in made]
    assert 200 in {
        patient(lambda body=body: apis[2].post("/v1/sessions", body)).status_code for body in passwords
    }


@pytest.mark.parametrize("_round", range(5))
def test_a_refresh_token_used_at_every_node_leaves_no_session(apis, person, deps, _round):
    ann = person()
    with ThreadPoolExecutor(9) as pool:
        answers = list(
            pool.map(
                lambda number: apis[number % len(apis)].post(
                    "/v1/sessions/refresh", {"refresh_token": ann.refresh_token}
                ),
                range(9),
            )
        )
    assert {answer.status_code for answer in answers} <= {200, 401, 409, 503}
    settle_conflicts(deps)
    for answer in answers:
        if answer.status_code == 200:
            token = answer.json()["refresh_token"]
            assert apis[0].post("/v1/sessions/refresh", {"refresh_token": token}).status_code == 401
    assert log_in(apis[0], ann.email).userid == ann.userid
