"""Logging in, refreshing, logging out, and what keeps guessers out."""

import secrets
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from argon2 import PasswordHasher
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from redis import Redis

from services.users.documents import auth_id
from services.users.security.keys import load_keys
from services.users.security.passwords import Passwords
from shared.clock import iso, now
from shared.errors import Unauthorized
from shared.limits import Limit, Limits
from tests.services.users.conftest import PASSWORD, Api, calls, log_in


@pytest.fixture(scope="module")
def users_settings():
    return {
        "LOGIN_TRIES_PER_ACCOUNT": "5",
        "LOGIN_TRIES_PER_ADDRESS": "100000",
        "ARGON2_MEMORY_KIB": "19456",
        "ARGON2_PASSES": "2",
    }


def refresh(api, token):
    return api.post("/v1/sessions/refresh", {"refresh_token": token})


def test_a_refresh_token_rotates_and_its_reuse_ends_the_family(nobody, person):
    ann = person()
    second = refresh(nobody, ann.refresh_token).json()["refresh_token"]
    third = refresh(nobody, second).json()["refresh_token"]
    assert refresh(nobody, second).status_code == 401
    assert refresh(nobody, third).status_code == 401, (
        "the thief's or the owner's: nobody can tell, so both end"
    )
    assert refresh(nobody, log_in(nobody, ann.email).refresh_token).status_code == 200, (
        "another login is another family"
    )


def test_a_refresh_token_raced_by_many_is_used_once(nobody, person):
    ann = person()
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: refresh(nobody, ann.refresh_token), range(10)))
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert refresh(nobody, won[0].json()["refresh_token"]).status_code == 401


def test_a_service_whose_answer_was_lost_may_ask_again_at_once(users_url, nobody, person, environment):
    ann, service = (
        person(),
        Api(users_url, headers={"Authorization": f"Service {environment['SERVICE_SECRET']}"}),
    )
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: refresh(service, ann.refresh_token), range(10)))
    assert {answer.status_code for answer in answers} == {200}
    (second,) = {answer.json()["refresh_token"] for answer in answers}
    third = refresh(service, second).json()["refresh_token"]
    assert refresh(service, ann.refresh_token).status_code == 401, "two steps back is no lost answer"
    assert refresh(service, third).status_code == 401


@pytest.mark.parametrize("why", ["no service", "too late"])
def test_reuse_ends_the_family_also_of_what_a_service_asked_for(
    users_url, nobody, person, environment, database, why
):
    ann, service = (
        person(),
        Api(users_url, headers={"Authorization": f"Service {environment['SERVICE_SECRET']}"}),
    )
    second = refresh(service, ann.refresh_token).json()["refresh_token"]
    if why == "no service":
        service.headers["Authorization"] = "Service guessed"
    else:
        (doc,) = [row for row in database.partition(f"user{ann.userid}").all() if row["type"] == "session"]
        database.put({**doc, "updated": iso(now() - timedelta(seconds=61))})
    assert refresh(service, ann.refresh_token).status_code == 401
    assert refresh(nobody, second).status_code == 401


def test_a_session_that_has_run_out_says_so_unless_somebody_ended_it(nobody, person, database):
    ann = person()
    second = refresh(nobody, ann.refresh_token).json()["refresh_token"]
    (doc,) = [row for row in database.partition(f"user{ann.userid}").all() if row["type"] == "session"]
    idle = {**doc, "updated": iso(now() - timedelta(days=31))}
    revision = database.put(idle)
    answer = refresh(nobody, second)
    assert (answer.status_code, answer.json()["code"]) == (401, "session_expired")
    database.put({**idle, "_rev": revision, "revoked": iso(now() - timedelta(days=31)), "reason": "logout"})
    answer = refresh(nobody, second)
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_refresh_token")


@pytest.mark.parametrize("token", ["x", "AAAA" * 20, "ü", "e30", "=" * 8])
def test_a_made_up_refresh_token_is_401(nobody, token):
    answer = refresh(nobody, token)
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_refresh_token")


def test_log_out_ends_this_session_only(nobody, person):
    ann = person()
    other = log_in(nobody, ann.email)
    assert ann.delete("/v1/sessions").status_code == 204
    assert refresh(nobody, ann.refresh_token).status_code == 401
    assert refresh(nobody, other.refresh_token).status_code == 200


def test_log_out_everywhere_ends_all(nobody, person):
    ann = person()
    others = [log_in(nobody, ann.email) for _ in range(2)]
    refreshed = refresh(nobody, others[1].refresh_token).json()["refresh_token"]
    assert ann.delete("/v1/sessions?everywhere=true").status_code == 204
    time.sleep(0.01)
    for token in (ann.refresh_token, others[0].refresh_token, refreshed):
        assert refresh(nobody, token).status_code == 401
    assert refresh(nobody, log_in(nobody, ann.email).refresh_token).status_code == 200


def test_failed_logins_answer_alike(nobody, person, email):
    ann, unverified = person(), f"un.{email}"
    nobody.post("/v1/users", {"name": "U", "email": unverified, "password": PASSWORD})
    tries = [(ann.email, "wrong password"), (f"no.{email}", PASSWORD), (unverified, PASSWORD)]
    answers = [
        nobody.post("/v1/sessions", {"email": address, "password": password}) for address, password in tries
    ]
    assert {answer.status_code for answer in answers} == {401}
    bodies = [{key: value for key, value in answer.json().items() if key != "instance"} for answer in answers]
    assert bodies[0] == bodies[1] == bodies[2]


def test_failed_logins_ask_the_database_alike(nobody, person, email):
    ann, unverified = person(), f"un.{email}"
    nobody.post("/v1/users", {"name": "U", "email": unverified, "password": PASSWORD})
    tries = [(ann.email, "wrong password"), (f"no.{email}", PASSWORD), (unverified, PASSWORD)]
    asked = [calls(nobody.post("/v1/sessions", {"email": e, "password": p})) for e, p in tries]
    assert asked == [{"partition": 0, "global": 1, "read": 2, "write": 0}] * 3


def test_nobodys_password_takes_as_much_work_as_a_wrong_one():
    """Processor time of this thread, so that other work on the machine does not count."""
    passwords = Passwords(memory_kib=19456, passes=2, at_once=1)
    stored = passwords.hash(PASSWORD)

    def work(stored_hash):
        began = time.thread_time()
        assert passwords.check("wrong password", stored_hash) is False
        return time.thread_time() - began

    wrong, nobodys = (statistics.median(work(each) for _ in range(9)) for each in (stored, None))
    assert 0.5 < wrong / nobodys < 2


def test_too_many_wrong_passwords_of_an_account_are_429(nobody, person):
    ann = person()
    wrong = {"email": ann.email, "password": "wrong password"}
    assert [nobody.post("/v1/sessions", wrong).status_code for _ in range(5)] == [401] * 5
    blocked = nobody.post("/v1/sessions", {"email": ann.email.upper(), "password": PASSWORD})
    assert (blocked.status_code, blocked.headers["Content-Type"]) == (429, "application/problem+json")
    assert 1 <= int(blocked.headers["Retry-After"]) <= 900


def test_spelling_an_email_in_other_letters_gives_no_further_guesses(nobody, person):
    """`ａ` in a domain is `a` to whoever normalises it, and so it must be to the limit: each letter would double the guesses."""
    ann = person()
    spellings = [ann.email.replace("@example", f"@{wide}") for wide in ("ｅxample", "eｘample", "ⓔxample")]
    statuses = [
        nobody.post("/v1/sessions", {"email": each, "password": "wrong password"}).status_code
        for each in [*spellings, *spellings]
    ]
    assert statuses == [401] * 5 + [429]


def test_a_count_that_lost_its_end_gets_one(redis_url):
    """As when a counter runs out between the making and the counting: it must not block somebody for ever."""
    redis, limit = Redis.from_url(redis_url), Limit("end", secrets.token_hex(8), 3, 60)
    redis.set(limit.key, 1)
    Limits(redis).take([limit])
    assert 0 < redis.ttl(limit.key) <= 60
    redis.persist(limit.key)
    with pytest.raises(Unauthorized), Limits(redis).attempt(limit):
        raise Unauthorized
    assert (0 < redis.ttl(limit.key) <= 60, redis.get(limit.key)) == (True, b"3")


def test_parallel_guesses_do_not_slip_through(nobody, person):
    ann = person()
    wrong = {"email": ann.email, "password": "wrong password"}
    with ThreadPoolExecutor(12) as pool:
        statuses = sorted(pool.map(lambda _: nobody.post("/v1/sessions", wrong).status_code, range(12)))
    assert statuses == [401] * 5 + [429] * 7


def test_honest_parallel_logins_all_get_in(nobody, person):
    ann = person()
    with ThreadPoolExecutor(8) as pool:
        people = list(pool.map(lambda _: log_in(nobody, ann.email).userid, range(8)))
    assert set(people) == {ann.userid}


def test_a_success_starts_the_count_afresh(nobody, person):
    ann = person()
    for _ in range(3):
        for _ in range(4):
            nobody.post("/v1/sessions", {"email": ann.email, "password": "wrong password"})
        log_in(nobody, ann.email)


def test_an_old_hash_is_upgraded_at_login(nobody, person, database):
    ann = person()
    doc = database.get(auth_id(ann.userid))
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    database.put({**doc, "password": old})
    log_in(nobody, ann.email)
    new = database.get(auth_id(ann.userid))["password"]
    assert new != old
    assert new.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert log_in(nobody, ann.email).userid == ann.userid


def test_an_access_token_verifies_offline_against_the_published_key(nobody, person):
    ann = person()
    keys = jwt.PyJWKSet.from_dict(nobody.get("/.well-known/jwks.json").json())
    header = jwt.get_unverified_header(ann.token)
    claims = jwt.decode(ann.token, keys[header["kid"]].key, algorithms=["EdDSA"], issuer="aisle")
    assert header["alg"] == "EdDSA"
    assert (claims["sub"], claims["roles"], claims["email_verified"]) == (ann.userid, ["customer"], True)
    assert claims["exp"] - claims["iat"] == 600


def forged(ann, **changes):
    claims = jwt.decode(ann.token, options={"verify_signature": False}) | changes.pop("claims", {})
    return claims, jwt.get_unverified_header(ann.token)["kid"]


def test_forged_tokens_are_refused(nobody, person):
    ann = person()
    claims, kid = forged(ann, claims={"roles": ["admin"]})
    stranger = Ed25519PrivateKey.generate()
    public = stranger.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    head, body, signature = ann.token.split(".")
    tokens = [
        jwt.encode(claims, stranger, "EdDSA", headers={"kid": kid}),
        jwt.encode(claims, stranger, "EdDSA", headers={"kid": "unknown"}),
        jwt.encode(claims, None, "none", headers={"kid": kid}),
        jwt.encode(claims, public * 2, "HS256", headers={"kid": kid}),
        f"{head}.{body}.{signature[:-6]}AAAAAA",
        f"{head}.{body}",
        "x.y.z",
        "Bearer",
        ann.refresh_token,
    ]
    for token in tokens:
        answer = Api(nobody.base, token).get("/v1/users/me")
        assert answer.status_code == 401, token
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_keys_rotate_without_ending_sessions(tmp_path):
    """The next key is published before it signs; the last one is accepted till its tokens have expired."""
    files = []
    for name in ("old", "new"):
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        files.append(tmp_path / f"{name}.pem")
        files[-1].write_bytes(pem)
    before = load_keys(files[0], str(files[1]), seconds=600)
    after = load_keys(files[1], str(files[0]), seconds=600)
    old, new = before.access_token("u", "s", []), after.access_token("u", "s", [])
    for keys in (before, after):
        published = jwt.PyJWKSet.from_dict(keys.jwks())
        for token in (old, new):
            assert (
                jwt.decode(token, published[jwt.get_unverified_header(token)["kid"]].key, ["EdDSA"])["sub"]
                == "u"
            )
    assert jwt.get_unverified_header(old)["kid"] != jwt.get_unverified_header(new)["kid"]


def test_a_key_of_another_kind_is_named(tmp_path: Path):
    from_elsewhere = tmp_path / "key.pem"
    from_elsewhere.write_text("not a key")
    with pytest.raises(ValueError, match=r"key\.pem|PEM"):
        load_keys(from_elsewhere, "", seconds=1)
