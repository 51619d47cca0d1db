"""What is no password: what every guesser tries first."""

from collections.abc import Callable

import pytest

from tests.services.users.conftest import PASSWORD, Api, Person

WEAK = [
    "password",
    "Password",
    "Passw0rd",
    "P@ssw0rd!",
    "password123",
    "12345678",
    "87654321",
    "qwertyuiop",
    "iloveyou",
    "baseball99",
    "aaaaaaaa",
    "abababab",
    "abcdefgh",
    "annannannann",
    "ann.weakling",
    "AnnWeakling",
    "annweakling1!",
]
STRONG = [
    "correct horse battery",
    "a long quiet evening",
    "tr0mbone-Fjord",
    "password of a kind",
    "Müller geht heim",
]


def register(api: Api, email: str, password: str):
    return api.post("/v1/users", {"name": "Ann Weakling", "email": email, "password": password})


@pytest.mark.parametrize("password", WEAK)
def test_a_weak_password_is_refused_and_told_why(nobody: Api, email: str, password: str) -> None:
    answer = register(nobody, email, password)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    (reason,) = answer.json()["errors"]["password"]
    assert "Choose another" in reason


def test_the_email_is_no_password(nobody: Api, email: str) -> None:
    for password in (email, email.upper(), email.partition("@")[0], f"{email}1"):
        assert register(nobody, email, password).status_code == 422, password


@pytest.mark.parametrize("password", STRONG)
def test_others_are_taken(nobody: Api, email: str, password: str) -> None:
    assert register(nobody, email, password).status_code == 201


def test_a_weak_password_is_refused_wherever_one_is_set(
    person: Callable[..., Person], nobody: Api, mail: Callable[..., str]
) -> None:
    ann = person()
    change = {"password": "password", "current_password": PASSWORD}
    assert ann.patch("/v1/users/me", change).status_code == 422
    assert nobody.post("/v1/password-resets", {"email": ann.email}).status_code == 202
    token = mail(ann.email, after=1)
    weak = nobody.post("/v1/password-resets/confirm", {"token": token, "password": "iloveyou1"})
    assert weak.status_code == 422
    strong = {"token": token, "password": "another quiet evening"}
    assert nobody.post("/v1/password-resets/confirm", strong).status_code == 204, "the link is not used up"
