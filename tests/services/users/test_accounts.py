"""Registration, verification and passwords, over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from services.users.actions.verification import Proof, verify
from services.users.documents import claim_id, user_document
from services.users.store import UserStore
from tests.services.users.conftest import PASSWORD, Api, calls, emails_with_token, log_in


@pytest.fixture(scope="module")
def users_settings():
    return {"MAILS_PER_HOUR": "5"}


def register(api, email, password=PASSWORD, **more):
    return api.post("/v1/users", {"name": "Ann", "email": email, "password": password}, **more)


def test_from_registration_to_me(nobody, email, mail):
    answer = register(nobody, email)
    assert answer.status_code == 201
    assert answer.json() == {
        "userid": answer.json()["userid"],
        "name": "Ann",
        "email": email,
        "email_verified": False,
    }
    assert nobody.post("/v1/sessions", {"email": email, "password": PASSWORD}).status_code == 401
    verified = nobody.post("/v1/users/verify", {"token": mail(email)})
    assert (verified.status_code, verified.json()["email_verified"]) == (200, True)
    me = log_in(nobody, email).get("/v1/users/me")
    assert me.json()["email"] == email


@pytest.mark.parametrize("spelling", ["ANN.{}", " ann.{} ", "Ann.{}"])
def test_an_email_has_one_spelling(nobody, email, spelling):
    assert register(nobody, f"ann.{email}").status_code == 201
    taken = register(nobody, spelling.format(email))
    assert (taken.status_code, taken.json()["code"]) == (409, "email_taken")


def test_a_hundred_registrations_at_once_make_one_account(nobody, email, database, mail):
    with ThreadPoolExecutor(32) as pool:
        answers = list(
            pool.map(lambda number: register(nobody, email, f"password number {number}"), range(100))
        )
    made = [number for number, answer in enumerate(answers) if answer.status_code == 201]
    assert len(made) == 1
    assert {answer.status_code for answer in answers} == {201, 409}
    userid = answers[made[0]].json()["userid"]
    assert database.get(claim_id(email))["userid"] == userid
    assert nobody.post("/v1/users/verify", {"token": mail(email)}).status_code == 200
    assert log_in(nobody, email, f"password number {made[0]}").userid == userid


def test_a_crash_between_claim_and_account_heals(nobody, email, database, mail):
    userid = register(nobody, email).json()["userid"]
    for doc in database.partition(f"user{userid}").all():
        database.delete(doc["_id"], doc["_rev"])
    assert database.get(claim_id(email))["userid"] == userid, "the claim alone is left"
    assert register(nobody, email).json()["userid"] == userid
    assert nobody.post("/v1/users/verify", {"token": mail(email, after=1)}).status_code == 200
    assert log_in(nobody, email).userid == userid
    assert register(nobody, email).status_code == 409


def test_a_claim_without_any_account_is_taken_over(nobody, email, database, mail):
    database.put(
        {
            "_id": claim_id(email),
            "type": "claim",
            "schema": 1,
            "userid": "CRASHED",
            "claimed": "2026-01-01T00:00:00.000Z",
        }
    )
    userid = register(nobody, email).json()["userid"]
    assert database.get(claim_id(email))["userid"] == userid
    assert nobody.post("/v1/users/verify", {"token": mail(email)}).status_code == 200
    assert log_in(nobody, email).userid == userid


def test_a_registration_whose_answer_was_lost_is_found_again(nobody, email, redis_url):
    """Redis forgot the key (or the process died before it was kept): the account remembers the request that made it."""
    headers = {"Idempotency-Key": f"lost {email}"}
    first = register(nobody, email, headers=headers).json()
    Redis.from_url(redis_url).flushdb()
    again = register(nobody, email, headers=headers)
    assert (again.status_code, again.json()) == (201, first)
    assert register(nobody, email, headers={"Idempotency-Key": f"other {email}"}).status_code == 409


def test_registering_twice_with_one_idempotency_key_is_one_account(nobody, email):
    headers = {"Idempotency-Key": f"register {email}"}
    first, again = (register(nobody, email, headers=headers) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    other = register(nobody, f"other.{email}", headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_a_verification_token_works_once(nobody, email, mail):
    register(nobody, email)
    token = mail(email)
    assert [nobody.post("/v1/users/verify", {"token": token}).status_code for _ in range(2)] == [200, 400]


def test_a_link_opened_while_the_account_changes_is_not_used_up(nobody, email, mail, database, deps):
    register(nobody, email)
    token = mail(email)

    class Meanwhile(UserStore):
        def put_many(self, docs):
            docs = list(docs)
            self.put({**self.get(docs[0]["_id"]), "name": "Anna"})
            return super().put_many(docs)

    account = verify(replace(deps, store=Meanwhile(deps.store.server)), token, Proof())
    stored = database.get(account["_id"])
    assert (stored["email_verified"], stored["name"]) == (True, "Anna")
    assert log_in(nobody, email).userid == account["userid"]


@pytest.mark.parametrize("token", ["x", "a.b", "a:b.c", ".", "_.x", "no.such.token", "Ö.ü"])
def test_a_wrong_token_is_400(nobody, token):
    answer = nobody.post("/v1/users/verify", {"token": token})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_token")


def test_an_expired_token_is_400(nobody, email, mail, database):
    userid = register(nobody, email).json()["userid"]
    token = mail(email)
    stored = next(doc for doc in database.partition(f"user{userid}").all("token-"))
    database.put({**stored, "expires": "2026-01-01T00:00:00.000Z"})
    assert nobody.post("/v1/users/verify", {"token": token}).status_code == 400


def test_the_token_itself_is_not_stored(nobody, email, mail, database):
    userid = register(nobody, email).json()["userid"]
    secret = mail(email).partition(".")[2]
    assert secret not in str(database.partition(f"user{userid}").all())


def test_resend_says_the_same_to_everybody(nobody, email, mail):
    register(nobody, email)
    first = mail(email)
    known, unknown = (
        nobody.post("/v1/users/verify/resend", {"email": address}) for address in (email, f"un{email}")
    )
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)
    assert known.status_code == 202
    second = mail(email, after=1)
    assert first != second
    assert nobody.post("/v1/users/verify", {"token": second}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/password-resets", "/v1/users/verify/resend"])
def test_asking_for_a_email_is_the_same_work_for_everybody(nobody, person, email, path):
    """What an answer's time could tell is counted: e-mails are written when the answer is out."""
    register(nobody, email)
    known, unverified, unknown = (
        nobody.post(path, {"email": address}) for address in (person().email, email, f"un{email}")
    )
    assert calls(known) == calls(unverified) == calls(unknown)
    assert calls(known) == {"partition": 0, "global": 0, "read": 2, "write": 0}


def test_a_password_reset_ends_sessions_and_works_once(nobody, person, mail):
    ann = person()
    known, unknown = (
        nobody.post("/v1/password-resets", {"email": address}) for address in (ann.email, f"un{ann.email}")
    )
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)
    assert known.status_code == 202
    token = mail(ann.email, after=1)
    body = {"token": token, "password": "another password"}
    assert [nobody.post("/v1/password-resets/confirm", body).status_code for _ in range(2)] == [204, 400]
    assert nobody.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token}).status_code == 401
    assert nobody.post("/v1/sessions", {"email": ann.email, "password": PASSWORD}).status_code == 401
    assert log_in(nobody, ann.email, "another password").userid == ann.userid


def test_a_reset_token_raced_by_two_sets_one_password(nobody, person, mail):
    ann = person()
    nobody.post("/v1/password-resets", {"email": ann.email})
    token = mail(ann.email, after=1)
    with ThreadPoolExecutor(8) as pool:
        bodies = [{"token": token, "password": f"new password {number}"} for number in range(8)]
        answers = list(pool.map(lambda body: nobody.post("/v1/password-resets/confirm", body), bodies))
    assert sorted(answer.status_code for answer in answers) == [204] + [400] * 7


def test_a_new_email_counts_once_verified(nobody, person, mail, email, database):
    ann = person()
    change = {"email": email, "current_password": PASSWORD}
    changed = ann.patch("/v1/users/me", change)
    assert (changed.status_code, changed.json()["email"], changed.json()["pending_email"]) == (
        200,
        ann.email,
        email,
    )
    assert nobody.post("/v1/users/verify", {"token": mail(email)}).json()["email"] == email
    assert log_in(nobody, email).userid == ann.userid
    assert nobody.post("/v1/sessions", {"email": ann.email, "password": PASSWORD}).status_code == 401
    assert register(nobody, ann.email).status_code == 201, "the old address is free again"
    assert register(nobody, email).status_code == 409
    assert database.get(user_document(ann.userid, "auth"))["pending_email"] is None


def test_of_two_who_change_one_version_at_once_one_is_told(person):
    """The other is not told that theirs holds: 503 where too few of a cluster's nodes took it."""
    ann = person()
    for _ in range(8):
        version = {"If-Match": ann.get("/v1/users/me").headers["ETag"]}
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(
                lambda name, version=version: ann.patch("/v1/users/me", {"name": name}, headers=version),
                ("Anna", "Anne"),
            )
            won, lost = sorted(answer.status_code for answer in answers)
        assert (won, lost in (409, 412, 503)) == (200, True)


def test_asking_for_the_email_one_has_takes_back_the_other(nobody, person, mail, email):
    """Somebody mistyped it, and the e-mail lies in a stranger's mailbox."""
    ann = person()
    ann.patch("/v1/users/me", {"email": email, "current_password": PASSWORD})
    kept = ann.patch("/v1/users/me", {"email": ann.email, "current_password": PASSWORD})
    assert (kept.status_code, kept.json()["pending_email"]) == (200, None)
    assert nobody.post("/v1/users/verify", {"token": mail(email)}).status_code == 400
    assert log_in(nobody, ann.email).userid == ann.userid


@pytest.mark.parametrize("way", ["reset", "change"])
def test_a_new_password_stops_whoever_wanted_the_account_moved(nobody, person, mail, email, way):
    """Somebody who knew the password asked for it; our e-mail about that says: set a new password at once."""
    ann = person()
    ann.patch("/v1/users/me", {"email": email, "current_password": PASSWORD})
    if way == "reset":
        nobody.post("/v1/password-resets", {"email": ann.email})
        reset = {"token": mail(ann.email, after=1), "password": "another password"}
        assert nobody.post("/v1/password-resets/confirm", reset).status_code == 204
    else:
        change = {"password": "another password", "current_password": PASSWORD}
        assert ann.patch("/v1/users/me", change).json()["pending_email"] is None
    assert nobody.post("/v1/users/verify", {"token": mail(email)}).status_code == 400
    assert log_in(nobody, ann.email, "another password").userid == ann.userid


def test_a_reset_link_is_no_good_once_the_password_is_new(nobody, person, mail):
    ann = person()
    tokens = []
    for emails in (1, 2):
        nobody.post("/v1/password-resets", {"email": ann.email})
        tokens.append(mail(ann.email, after=emails))
    bodies = [{"token": token, "password": "another password"} for token in reversed(tokens)]
    answers = [nobody.post("/v1/password-resets/confirm", body).status_code for body in bodies]
    assert (len(set(tokens)), answers) == (2, [204, 400])


def test_changing_email_or_password_needs_the_current_password(person, email):
    ann = person()
    for change in (
        {"email": email},
        {"password": "a new password"},
        {"email": email, "current_password": "wrong"},
    ):
        answer = ann.patch("/v1/users/me", change)
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong_password")
    assert ann.patch("/v1/users/me", {"name": "Anna"}).json()["name"] == "Anna"


def test_an_email_that_is_taken_cannot_be_moved_to(person):
    ann, bob = person(), person()
    answer = ann.patch("/v1/users/me", {"email": bob.email, "current_password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (409, "email_taken")


def test_an_update_of_an_older_version_is_412(person):
    ann = person()
    etag = ann.get("/v1/users/me").headers["ETag"]
    assert ann.get("/v1/users/me", headers={"If-None-Match": etag}).status_code == 304
    assert ann.patch("/v1/users/me", {"name": "One"}, headers={"If-Match": etag}).status_code == 200
    assert ann.patch("/v1/users/me", {"name": "Two"}, headers={"If-Match": etag}).status_code == 412


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "no at"),
        ("email", "a@b"),
        ("email", "a b@example.com"),
        ("email", "a..b@example.com"),
        ("password", "short"),
        ("password", "aaaaaaaaaa"),
        ("name", ""),
        ("name", "   "),
        ("name", "Ann,\n\nyou have won"),
        ("name", 5),
        ("other", "field"),
    ],
)
def test_bad_registrations_are_422_and_name_the_field(nobody, email, field, value):
    body = {"name": "Ann", "email": email, "password": PASSWORD} | {field: value}
    answer = nobody.post("/v1/users", body)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]


def test_nobody_is_flooded_with_emails(nobody, email, mail, environment):
    """Five an hour here; asking goes on to be answered alike."""
    register(nobody, email)
    for _ in range(8):
        assert nobody.post("/v1/password-resets", {"email": email}).status_code == 202
        assert nobody.post("/v1/users/verify/resend", {"email": email}).status_code == 202
    mail(email, after=5)
    assert len(emails_with_token(Path(environment["MAIL_DIR"]), email)) == 1 + 5


def test_a_new_secret_key_loses_nobody(nobody, service, person, mail):
    """Userids of new accounts are made with it, but accounts are found by their claims."""
    ann = person()
    renewed = Api(service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", SECRET_KEY="the next one"))
    assert log_in(renewed, ann.email).userid == ann.userid
    assert register(renewed, ann.email).json()["code"] == "email_taken"
    assert renewed.post("/v1/password-resets", {"email": ann.email}).status_code == 202
    body = {"token": mail(ann.email, after=1), "password": "another password"}
    assert renewed.post("/v1/password-resets/confirm", body).status_code == 204
    assert log_in(nobody, ann.email, "another password").userid == ann.userid


def test_what_it_costs(nobody, person, one_list):
    ann = person()
    login = nobody.post("/v1/sessions", {"email": ann.email, "password": PASSWORD})
    assert calls(login) == {"partition": 0, "global": 1, "read": one_list["read"], "write": 0}
    assert calls(ann.get("/v1/users/me")) == one_list
