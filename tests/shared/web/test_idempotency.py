"""`Idempotency-Key`: one effect, one answer."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis


@pytest.fixture(autouse=True)
def _fresh(redis_url):
    Redis.from_url(redis_url).flushdb()


def post(client, key, **body):
    return client.post("/v1/things", json={"name": "x", **body}, headers={"Idempotency-Key": key})


def test_the_same_key_and_body_get_the_same_answer(client, made):
    first, again = post(client, "k"), post(client, "k")
    assert (first.status_code, first.data) == (again.status_code, again.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(made) == 1


def test_redis_shows_nothing_of_what_was_sent_and_answered(client, redis_url):
    sent = b'{"name":"Ann Exemplary"}'

    def send():
        headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
        return client.post("/v1/things", data=sent, headers=headers)

    first, again, redis = send(), send(), Redis.from_url(redis_url)
    assert (b"Exemplary" in first.data, again.data) == (True, first.data)
    (place,) = redis.keys()
    kept = place + redis.get(place)
    assert b"Exemplary" not in kept
    assert hashlib.sha256(sent).hexdigest().encode() not in kept


def test_another_body_is_422(client, made):
    post(client, "k")
    answer = post(client, "k", size=2)
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (422, "idempotency_key_reused")
    assert len(made) == 1


def test_another_user_has_other_keys(client, made, bearer):
    post(client, "k")
    answer = client.post("/v1/things", json={"name": "x", "size": 9}, headers={"Idempotency-Key": "k2"})
    assert answer.status_code == 201
    assert len(set(made)) == 2


def test_refusals_are_kept_and_our_faults_are_not(client, made):
    for _ in range(2):
        assert post(client, "refused", name="sold out").status_code == 409
    assert len(made) == 1
    for _ in range(2):
        assert post(client, "broken", name="broken").status_code == 500
    assert len(made) == 3


def test_parallel_requests_have_one_effect(app, made):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(app.test_client(), "k", name="slow"), range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.data for answer in answers}) == 1
    assert len(made) == 1


def test_the_id_of_a_key_is_fixed(client, made, redis_url):
    post(client, "k")
    Redis.from_url(redis_url).flushdb()
    post(client, "k")
    assert len(made) == 2
    assert made[0] == made[1]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_a_malformed_key_is_422(client, key):
    assert post(client, key).status_code == 422
