"""More than one worker process: limits, sessions and metrics are those of one service."""

import re

import pytest

from tests.services.users.conftest import PASSWORD


@pytest.fixture(scope="module")
def users_settings():
    return {"WEB_WORKERS": "2", "LOGIN_TRIES_PER_ACCOUNT": "5"}


def test_metrics_sum_over_all_workers(nobody):
    for _ in range(40):
        assert nobody.get("/.well-known/jwks.json").status_code == 200
    found = re.findall(
        r'aisle_request_seconds_count\{.*jwks.*status="200"\} (\S+)', nobody.get("/metrics").text
    )
    assert [float(number) for number in found] == [40]


def test_limits_hold_across_workers(nobody, person):
    wrong = {"email": person().email, "password": f"not {PASSWORD}"}
    statuses = [nobody.post("/v1/sessions", wrong).status_code for _ in range(8)]
    assert statuses == [401] * 5 + [429] * 3
