"""Devices that wait for changes, sessions that end meanwhile, and what requests cost."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.services.users.conftest import Api, calls, log_in
from tests.services.users.sync_devices import (
    SYNC,
    changes,
    edited,
    goods,
    line,
    longpoll,
    made,
    products,
    users_url,
)

__all__ = ["goods", "products", "users_url"]


def test_an_ended_session_writes_nothing_more(person, goods):
    ann = person()
    other = log_in(Api(ann.base), ann.email)
    mine = made(f"wish-{goods[4]}", type="wish", productid=goods[4])
    assert other.delete("/v1/sessions").status_code == 204
    answer = other.post(f"{SYNC}/_bulk_docs", {"docs": [mine], "new_edits": False})
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert ann.get("/v1/users/me/wishes").json()["items"] == []


def test_devices_that_wait_hold_no_thread_and_hear_of_what_changes(person, goods):
    """Twenty wait at a service that has eight threads; all of them are answered when a line is changed, and others meanwhile."""
    ann = person()
    since = changes(ann)["last_seq"]
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(longpoll, ann, since) for _ in range(20)]
        assert person().get(f"{SYNC}/").status_code == 200
        assert not any(each.done() for each in waiting)
        assert ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 3}).status_code == 200
        heard = [each.result() for each in waiting]
    assert [[row["id"] for row in each["results"]] for each in heard] == [[f"basket-{goods[0]}"]] * 20


def test_a_device_waits_no_longer_than_it_asks_for_and_nobody_waits_for_what_is_there(person):
    ann = person()
    since = changes(ann)["last_seq"]
    told = longpoll(ann, since, timeout=1)
    assert (told["results"], told["last_seq"]) == ([], since)
    assert len(longpoll(ann, "0")["results"]) == 2


def test_what_each_request_costs(person, goods, one_list):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    since = changes(ann)["last_seq"]
    pulled = ann.get(f"{SYNC}/_changes", params={"since": since})
    assert calls(pulled) == one_list
    known = line(ann, goods[0])
    fetched = ann.post(f"{SYNC}/_bulk_get", {"docs": [{"id": known["_id"], "rev": known["_rev"]}]})
    assert calls(fetched) == one_list
    pushed = ann.post(f"{SYNC}/_bulk_docs", {"docs": [edited(known, quantity=3)], "new_edits": False})
    assert calls(pushed) == one_list | {"read": 2 + one_list["read"], "write": 2}
    assert calls(ann.get(SYNC)) == {"partition": 0, "global": 0, "read": 1, "write": 0}


def refused(person, path="/_changes", **params):
    answer = person.get(f"{SYNC}{path}", params=params)
    return answer.status_code, answer.json().get("code")


@pytest.mark.parametrize("end", ["this", "everywhere", "erased"])
def test_a_device_that_waits_when_its_session_ends_is_told_so(person, goods, end):
    ann = person()
    since = changes(ann)["last_seq"]
    other = log_in(Api(ann.base), ann.email)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(refused, other, since=since, feed="longpoll")
        time.sleep(1)
        assert not waits.done()
        if end == "this":
            assert other.delete("/v1/sessions").status_code == 204
        elif end == "everywhere":
            assert ann.delete("/v1/sessions?everywhere=true").status_code == 204
        else:
            assert ann.delete("/v1/users/me").status_code == 204
        told = waits.result()
    expected = (410, "account_erased") if end == "erased" else (401, "session_ended")
    assert told == expected
    for path in ("", "/profile", "/_all_docs", "/_changes"):
        if path:  # what the database is called says nothing of anybody
            assert refused(other, path) == expected
    pushed = other.post(f"{SYNC}/_bulk_docs", {"docs": [], "new_edits": False})
    assert (pushed.status_code, pushed.json()["code"]) == expected
    renewed = other.post("/v1/sessions/refresh", {"refresh_token": other.refresh_token})
    assert renewed.status_code == expected[0]
    assert renewed.json()["code"] == ("account_erased" if end == "erased" else "bad_refresh_token")


def test_a_token_that_is_over_is_another_matter(users_url):
    answer = Api(users_url, token="nonsense").get(f"{SYNC}/_changes")
    assert (answer.status_code, answer.json()["error"], answer.json().get("code")) == (
        401,
        "unauthorized",
        None,
    )
