"""Guesses at a password stop the guesser and not the owner."""

import json
import secrets
from collections.abc import Callable

import pytest
import requests

from shared.limits import network_of
from tests.services.users.conftest import PASSWORD, Api, Person, log_in

TRIES, ANYWHERE = 5, 12


@pytest.fixture(scope="module")
def users_settings(redis_url: str) -> dict[str, str]:
    """Limits of its own, and counts of its own: other modules guess from this address too."""
    return {
        "REDIS_URL": f"{redis_url.rpartition('/')[0]}/15",
        "LOGIN_TRIES_PER_ACCOUNT": str(TRIES),
        "LOGIN_TRIES_ANYWHERE": str(ANYWHERE),
        "LOGIN_TRIES_PER_ADDRESS": "40",
    }


@pytest.fixture
def at(nobody: Api, environment: dict[str, str]) -> Callable[[str], Api]:
    """at("203.0.113.7") is the service as the storefront asks it for a browser there."""
    secret = environment["SERVICE_SECRET"]
    return lambda address: Api(nobody.base, "", {"X-Client-Address": address, "X-Service-Secret": secret})


def some_address() -> str:
    return "10." + ".".join(str(secrets.randbelow(250) + 1) for _ in range(3))


def tries(api: Api, email: str, number: int, **more: str) -> list[int]:
    body = {"email": email, "password": "a wrong password", **more}
    return [api.post("/v1/sessions", body).status_code for _ in range(number)]


def enter(api: Api, email: str, **more: str) -> requests.Response:
    return api.post("/v1/sessions", {"email": email, "password": PASSWORD, **more})


def test_a_guesser_is_stopped_and_the_owner_elsewhere_is_not(
    person: Callable[..., Person], at: Callable[[str], Api]
) -> None:
    ann, guesser, owner = person(), at(some_address()), at(some_address())
    assert tries(guesser, ann.email, TRIES + 3) == [401] * TRIES + [429] * 3
    assert enter(guesser, ann.email).status_code == 429, "not even with the right one"
    assert enter(owner, ann.email).status_code == 200


def test_guesses_from_everywhere_stop_all_but_known_devices(
    person: Callable[..., Person], at: Callable[[str], Api]
) -> None:
    ann, home = person(), at(some_address())
    device = enter(home, ann.email).json()["device_token"]
    statuses = [tries(at(some_address()), ann.email, 1)[0] for _ in range(ANYWHERE + 3)]
    assert statuses == [401] * ANYWHERE + [429] * 3
    stranger = enter(at(some_address()), ann.email)
    assert (stranger.status_code, stranger.json()["code"]) == (429, "too_many_requests")
    assert enter(home, ann.email, device_token=device).status_code == 200
    assert enter(at(some_address()), ann.email, device_token=device).status_code == 200, "devices travel"


def test_a_known_device_gets_in_though_its_own_network_is_blocked(
    person: Callable[..., Person], at: Callable[[str], Api]
) -> None:
    ann, place = person(), at(some_address())
    device = enter(place, ann.email).json()["device_token"]
    assert tries(place, ann.email, TRIES + 1)[-1] == 429
    assert enter(place, ann.email).status_code == 429
    assert enter(place, ann.email, device_token=device).status_code == 200


def test_a_device_token_is_good_for_its_account_and_some_guesses_only(
    person: Callable[..., Person], at: Callable[[str], Api]
) -> None:
    ann, bob, place = person(), person(), at(some_address())
    own = enter(place, bob.email).json()["device_token"]
    others = tries(place, ann.email, TRIES + 1, device_token=own)
    assert others == [401] * TRIES + [429], "no way round the limit with a device token of one's own account"
    assert tries(place, bob.email, TRIES + 1, device_token=own) == [401] * TRIES + [429]
    assert enter(at(some_address()), bob.email).status_code == 200
    for forged in ("x", own[:-4] + "AAAA", "AAAA" * 30, "é"):
        assert tries(place, ann.email, 1, device_token=forged) == [429]


def test_a_known_device_keeps_its_token_and_refreshing_gives_none(
    person: Callable[..., Person], nobody: Api
) -> None:
    ann = person()
    first = enter(nobody, ann.email).json()["device_token"]
    second = enter(nobody, ann.email, device_token=first).json()
    assert second["device_token"] == first
    renewed = nobody.post("/v1/sessions/refresh", {"refresh_token": second["refresh_token"]})
    assert "device_token" not in renewed.json()
    assert ann.email not in json.dumps(first)


def test_guesses_out_of_a_session_do_not_keep_the_owner_from_logging_in(
    person: Callable[..., Person], nobody: Api
) -> None:
    ann = person()
    change = {"password": "another quiet evening", "current_password": "a wrong password"}
    answers = [ann.patch("/v1/users/me", change).status_code for _ in range(TRIES + 2)]
    assert answers == [403] * TRIES + [429] * 2
    again = log_in(nobody, ann.email)
    assert again.patch("/v1/users/me", {**change, "current_password": PASSWORD}).status_code == 200


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("203.0.113.7", "203.0.113.8", False),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("2001:db8:1:2::1", "2001:db8:1:2ff::9", False),
        ("2001:db8:1:200::1", "2001:db8:1:2ff::9", True),
        ("unknown", "unknown", True),
    ],
)
def test_a_household_is_one_network(one: str, other: str, alike: bool) -> None:
    assert (network_of(one) == network_of(other)) is alike
