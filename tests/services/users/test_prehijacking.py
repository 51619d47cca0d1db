"""Somebody registers an address that is not theirs and waits for its owner to confirm it: seen from both sides."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.maildir import read_mail
from tests.services.users.conftest import PASSWORD, Api, Person, emails_with_token, log_in

ATTACKERS, OWNERS = "the attacker's password", "the owner's password"
SECRET = "a-secret-of-one-browser"
Mail = Callable[..., str]


@pytest.fixture(scope="module")
def users_settings() -> dict[str, str]:
    return {"LOGIN_TRIES_PER_ADDRESS": "100000", "LOGIN_TRIES_PER_ACCOUNT": "5"}


def ask(api: Api, email: str, password: str, **more: str) -> requests.Response:
    """As a page registers."""
    body = {"name": "Somebody", "email": email, "password": password, **more}
    return api.post("/v1/users/registrations", body)


def verify(api: Api, token: str, **proof: str) -> requests.Response:
    return api.post("/v1/users/verify", {"token": token, **proof})


def gets_in(api: Api, email: str, password: str) -> bool:
    answer = api.post("/v1/sessions", {"email": email, "password": password})
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


def test_a_client_app_registers_and_confirms_as_ever(nobody: Api, email: str, mail: Mail) -> None:
    body = {"name": "Ann", "email": email, "password": OWNERS}
    assert nobody.post("/v1/users", body).status_code == 201
    assert verify(nobody, mail(email)).status_code == 200
    assert gets_in(nobody, email, OWNERS)


def test_the_owner_who_confirms_with_a_new_password_shuts_the_attacker_out(
    nobody: Api, email: str, mail: Mail
) -> None:
    nobody.post("/v1/users", {"name": "Ann", "email": email, "password": ATTACKERS})
    token = mail(email)
    wrong = verify(nobody, token, password=OWNERS)
    assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong_password")
    assert not gets_in(nobody, email, ATTACKERS)
    done = verify(nobody, token, new_password=OWNERS)
    assert (done.status_code, done.json()["email_verified"]) == (200, True)
    assert gets_in(nobody, email, OWNERS)
    assert not gets_in(nobody, email, ATTACKERS)
    assert verify(nobody, token).status_code == 400


@pytest.mark.parametrize("first", ["the API", "a page"])
def test_two_registrations_of_one_address_and_only_the_confirmed_ones_password_counts(
    nobody: Api, email: str, mail: Mail, first: str
) -> None:
    if first == "the API":
        assert (
            nobody.post("/v1/users", {"name": "A", "email": email, "password": ATTACKERS}).status_code == 201
        )
    else:
        assert ask(nobody, email, ATTACKERS, registration=f"{SECRET}-attacker").status_code == 202
    attackers = mail(email)
    assert ask(nobody, email, OWNERS, registration=SECRET).status_code == 202
    owners = mail(email, after=1)
    assert verify(nobody, attackers, registration=SECRET).status_code == 403, (
        "the owner's browser, the wrong e-mail"
    )
    assert verify(nobody, attackers, password=OWNERS).status_code == 403
    assert verify(nobody, owners, registration=SECRET).status_code == 200
    assert gets_in(nobody, email, OWNERS)
    for proof in (
        {},
        {"password": ATTACKERS},
        {"new_password": ATTACKERS},
        {"registration": f"{SECRET}-attacker"},
    ):
        verify(nobody, attackers, **proof)
        assert not gets_in(nobody, email, ATTACKERS), (
            "a confirmed account takes no other registration's password"
        )
    assert gets_in(nobody, email, OWNERS)


def test_the_attacker_registering_last_changes_nothing_for_the_owners_email(
    nobody: Api, email: str, mail: Mail
) -> None:
    ask(nobody, email, OWNERS, registration=SECRET)
    owners = mail(email)
    ask(nobody, email, ATTACKERS, registration=f"{SECRET}-attacker")
    assert nobody.post("/v1/users", {"name": "A", "email": email, "password": ATTACKERS}).status_code == 409
    assert verify(nobody, owners, password=OWNERS).status_code == 200
    assert gets_in(nobody, email, OWNERS)
    assert not gets_in(nobody, email, ATTACKERS)


def test_a_email_asked_for_again_confirms_the_registration_of_who_asks(
    nobody: Api, email: str, mail: Mail
) -> None:
    ask(nobody, email, ATTACKERS, registration=f"{SECRET}-attacker")
    ask(nobody, email, OWNERS, registration=SECRET)
    mail(email, after=1)
    again = {"email": email, "registration": SECRET}
    assert nobody.post("/v1/users/verify/resend", again).status_code == 202
    assert verify(nobody, mail(email, after=2), registration=SECRET).status_code == 200
    assert gets_in(nobody, email, OWNERS)


def test_a_page_learns_nothing_of_whose_addresses_are_known(
    nobody: Api, email: str, person: Callable[..., Person], environment: dict[str, str]
) -> None:
    ann, unverified = person(), f"un.{email}"
    ask(nobody, unverified, PASSWORD)
    folder = Path(environment["MAIL_DIR"])
    before = len(emails_with_token(folder, ann.email))
    answers, seconds = [], []
    for address in (email, unverified, ann.email):
        began = time.monotonic()
        answers.append(ask(nobody, address, OWNERS))
        seconds.append(time.monotonic() - began)
    assert {(answer.status_code, answer.text) for answer in answers} == {(202, "{}")}
    assert min(seconds) >= 0.4, "no quicker for one than for another"
    assert len(emails_with_token(folder, ann.email)) == before
    assert not gets_in(nobody, ann.email, OWNERS)
    assert log_in(nobody, ann.email).userid == ann.userid


def test_the_owner_of_an_account_is_told_that_somebody_registers_again(
    nobody: Api, person: Callable[..., Person], environment: dict[str, str]
) -> None:
    ann = person()
    ask(nobody, ann.email, OWNERS)
    newest = read_mail(environment["MAIL_DIR"], ann.email)[0]
    assert newest.subject == "You have an account already"
    assert "/login" in newest.text


def test_emails_to_unproven_addresses_carry_no_words_of_strangers(
    nobody: Api, email: str, environment: dict[str, str]
) -> None:
    body = {"name": "Win money at evil.example", "email": email, "password": OWNERS}
    nobody.post("/v1/users", body)
    assert "evil.example" not in read_mail(environment["MAIL_DIR"], email)[0].text


def test_moving_an_account_to_somebody_elses_address_needs_its_password_too(
    nobody: Api, person: Callable[..., Person], email: str, mail: Mail
) -> None:
    mallory = person(name="Mallory")
    asked = mallory.patch("/v1/users/me", {"email": email, "current_password": PASSWORD})
    assert asked.json()["pending_email"] == email
    token = mail(email)
    assert verify(nobody, token, password=OWNERS).status_code == 403
    assert verify(nobody, token, new_password=OWNERS).status_code == 400
    assert verify(nobody, token, registration=SECRET).status_code == 403
    assert mallory.get("/v1/users/me").json()["email"] == mallory.email
    assert verify(nobody, token, password=PASSWORD).json()["email"] == email


def test_guesses_with_a_link_are_limited_and_do_not_use_it_up(nobody: Api, email: str, mail: Mail) -> None:
    nobody.post("/v1/users", {"name": "Ann", "email": email, "password": OWNERS})
    token = mail(email)
    statuses = [verify(nobody, token, password=f"guess {number}").status_code for number in range(7)]
    assert statuses == [403] * 5 + [429] * 2
    assert verify(nobody, token, new_password="quite another evening").status_code == 200


@pytest.mark.parametrize(
    "proof",
    [
        {"new_password": "password"},
        {"password": "a", "new_password": OWNERS},
        {"registration": "short"},
        {"other": "x"},
    ],
)
def test_malformed_proofs_are_422_and_use_nothing_up(
    nobody: Api, email: str, mail: Mail, proof: dict[str, str]
) -> None:
    nobody.post("/v1/users", {"name": "Ann", "email": email, "password": OWNERS})
    assert verify(nobody, mail(email), **proof).status_code == 422
    assert verify(nobody, mail(email), password=OWNERS).status_code == 200


def test_both_emails_confirmed_at_once_leave_one_password(nobody: Api, email: str, mail: Mail) -> None:
    ask(nobody, email, ATTACKERS)
    first = mail(email)
    ask(nobody, email, OWNERS)
    second = mail(email, after=1)
    with ThreadPoolExecutor(2) as at_once:
        list(at_once.map(lambda token: verify(nobody, token), (first, second)))
    assert sorted(gets_in(nobody, email, each) for each in (ATTACKERS, OWNERS)) == [False, True]


def test_registrations_of_one_address_at_once_all_get_their_emails(
    nobody: Api, email: str, environment: dict[str, str]
) -> None:
    with ThreadPoolExecutor(3) as at_once:
        answers = list(at_once.map(lambda number: ask(nobody, email, f"the password {number}"), range(3)))
    assert {answer.status_code for answer in answers} == {202}
    assert len(emails_with_token(Path(environment["MAIL_DIR"]), email)) == 3
