"""The helper that makes goods: it waits where a client should, and hides nothing else."""

import pytest
import requests

from tests import patience
from tests.patience import patient


def answer(status: int, **headers: str) -> requests.Response:
    made = requests.Response()
    made.status_code = status
    made.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return made


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "MAX_PAUSE", 0)


def test_a_busy_shop_is_asked_again() -> None:
    answers = iter([answer(503, Retry_After="1"), answer(503, Retry_After="2"), answer(201)])
    assert patient(lambda: next(answers)).status_code == 201


@pytest.mark.parametrize("status", [400, 409, 429, 500, 502, 504])
def test_any_other_answer_holds(status: int) -> None:
    answers = iter([answer(status, Retry_After="1"), answer(201)])
    assert patient(lambda: next(answers)).status_code == status


def test_a_refusal_that_does_not_say_when_to_come_back_holds() -> None:
    answers = iter([answer(503), answer(201)])
    assert patient(lambda: next(answers)).status_code == 503


def test_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0)
    assert patient(lambda: answer(503, Retry_After="1")).status_code == 503
